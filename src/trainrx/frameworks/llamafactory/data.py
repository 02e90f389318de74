"""What an entry of `dataset_info.json` says of its rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from trainrx.model.formats import Columns, ConversationForm, DataLayout, ValueNeed

_COLUMNS = {
    "alpaca": (("prompt", "instruction"), ("query", "input"), ("response", "output")),
    "sharegpt": (("messages", "conversations"),),
}
"""The names of columns that count without `columns` (DatasetAttr)."""
_RANKED = ("chosen", "rejected")
_SHARED = ("system", "tools", "images", "videos", "audios", "kto_tag")


def layout_of(entry: Mapping[str, object], layouts: Mapping[str, DataLayout]) -> DataLayout | None:
    """Give the layout: with `columns` or `tags`, a name that is left out is none."""
    form = str(entry.get("formatting", "alpaca"))
    known = layouts.get(form)
    if known is None:
        return None
    columns, ranked = _texts(entry, "columns"), entry.get("ranking") is True
    own = {kind: columns.get(kind, "" if columns else usual) for kind, usual in _COLUMNS[form]}
    if ranked or not own.get("response"):
        own.pop("response", None)
    named = [*own.values(), *(columns.get(kind, "") for kind in _SHARED)]
    named += [columns.get(kind, "") for kind in _RANKED] if ranked else []
    talk = known.conversation
    return msgspec.structs.replace(
        known,
        needs=tuple((name,) for name in named if name),
        answers=tuple(name for name in (own.get("response"),) if name),
        images=tuple(name for name in (columns.get("images"),) if name),
        values=tuple(_placed(known.values, columns)),
        conversation=None
        if talk is None
        else _tagged(talk, _texts(entry, "tags"), own["messages"], odd=ranked),
    )


ON_PAIRS = ("rm", "dpo")
"""Stages that train on pairs of answers."""
_ON_ANSWERS = ("pt", "sft", "ppo", "kto")
_RANKING = '"ranking": true'
_JUDGED = '"kto_tag"'


def pairs_refused(entry: Mapping[str, object], stage: str) -> tuple[str, str]:
    """Say what an entry lacks for a stage, and what it has too much.

    Source: data/loader.py; data/processor/feedback.py drops a row that no kto_tag judges.
    """
    ranked = entry.get("ranking") is True
    has = stage in _ON_ANSWERS and ranked
    if stage == "kto" and not has and "kto_tag" not in _texts(entry, "columns"):
        return _JUDGED, ""
    lacks = stage in ON_PAIRS and not ranked
    return (_RANKING if lacks else "", _RANKING if has else "")


def roles_untold(entry: Mapping[str, object]) -> tuple[str, ...]:
    """Name the tags of the two sides that `tags` leaves out."""
    tags = _texts(entry, "tags")
    if not tags or entry.get("formatting") != "sharegpt":
        return ()
    return tuple(tag for tag in ("user_tag", "assistant_tag") if not tags.get(tag))


def _placed(needs: Iterable[ValueNeed], columns: Mapping[str, str]) -> Iterator[ValueNeed]:
    """Give what is needed of the columns an entry names, by the names they have there."""
    for need in needs:
        if columns.get(need.column):
            yield msgspec.structs.replace(need, column=columns[need.column])


def _tagged(
    talk: ConversationForm, tags: Mapping[str, str], column: str, *, odd: bool
) -> ConversationForm:
    """Put the tags of an entry in the place of the usual ones."""
    talk = msgspec.structs.replace(talk, columns=(column,) if column else (), odd=odd)
    if not tags:
        return talk
    return msgspec.structs.replace(
        talk,
        role=_named(tags, "role_tag"),
        content=_named(tags, "content_tag"),
        asking=_named(tags, "user_tag", "observation_tag"),
        answering=_named(tags, "assistant_tag", "function_tag"),
        opening=_named(tags, "system_tag"),
    )


def _named(tags: Mapping[str, str], *kinds: str) -> Columns:
    return tuple(tags[kind] for kind in kinds if kind in tags)


def _texts(entry: Mapping[str, object], key: str) -> dict[str, str]:
    held = entry.get(key)
    if not isinstance(held, dict):
        return {}
    return {str(name): text for name, text in held.items() if isinstance(text, str)}
