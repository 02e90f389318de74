"""The entry of `dataset_info.json` that describes rows as they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from trainrx.frameworks.llamafactory.data import ON_PAIRS

Row = Mapping[str, object]
_ASKED = ("prompt", "instruction", "question")
_MORE = ("query", "input")
_ANSWERED = ("response", "output", "answer", "completion")
_PAIRED = ("chosen", "rejected")
_BESIDE = ("system", "tools", "images", "videos", "audios")
"""Columns that are named as the key of `columns` is."""
_KEYS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("role_tag", ("from", "role")),
    ("content_tag", ("value", "content")),
)
_ROLES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("user_tag", ("human", "user")),
    ("assistant_tag", ("gpt", "assistant")),
    ("observation_tag", ("observation", "tool")),
    ("function_tag", ("function_call",)),
    ("system_tag", ("system",)),
)
_USUAL = {
    "role_tag": "from",
    "content_tag": "value",
    "user_tag": "human",
    "assistant_tag": "gpt",
    "observation_tag": "observation",
    "function_tag": "function_call",
    "system_tag": "system",
}
"""What each tag is without `tags` (DatasetAttr)."""


def described(rows: Sequence[Row], stage: str, *, tagged: bool = False) -> dict[str, object] | None:
    """Give `formatting`, `columns`, `tags` and `ranking` under which a stage takes all these rows.

    `tagged`: the entry has `tags`, so those that are usual have to be said too.

    None where the rows do not say it: no column, or more than one, may be what is needed.
    Source: data/parser.py and data/converter.py of v0.9.3: with `columns` or `tags` a name that is
    left out is none.
    """
    if not rows:
        return None
    held = [name for name in rows[0] if all(row.get(name) is not None for row in rows)]
    others = (name for name in held if name not in _PAIRED)
    talks = [name for name in others if all(_is_talk(row[name]) for row in rows)]
    if len(talks) == 1:
        found = _conversation(talks[0], rows, tagged=tagged)
    else:
        found = None if talks else _instruction(held, paired=stage in ON_PAIRS)
    if found is None:
        return None
    columns = {**found["columns"], **{name: name for name in _BESIDE if name in held}}
    more = _for_stage(stage, held, rows, answer=dict if talks else str)
    if more is None:
        return None
    whole: dict[str, object] = {**found, "columns": {**columns, **more}}
    return {**whole, "ranking": True} if stage in ON_PAIRS else whole


def _for_stage(
    stage: str, held: Sequence[str], rows: Sequence[Row], answer: type
) -> dict[str, str] | None:
    """Name the columns that only this stage needs; None where they are not known."""
    if stage in ON_PAIRS:
        pairs = [row.get(name) for row in rows for name in _PAIRED]
        fit = all(isinstance(item, answer) for item in pairs)
        return {name: name for name in _PAIRED} if fit else None
    if stage != "kto":
        return {}
    told = [name for name in held if all(isinstance(row[name], bool) for row in rows)]
    return {"kto_tag": told[0]} if len(told) == 1 else None


def _instruction(held: Iterable[str], *, paired: bool) -> dict[str, Any] | None:
    """Name the columns of an instruction and its answer."""
    there = set(held)
    named = {"prompt": _ASKED, "query": _MORE, "response": _ANSWERED}
    found = {key: [name for name in names if name in there] for key, names in named.items()}
    if not found["prompt"]:  # a question without more beside it
        found["prompt"], found["query"] = found["query"], []
    if paired:
        found["response"] = []
    elif not found["response"]:
        return None
    if not found["prompt"] or any(len(names) > 1 for names in found.values()):
        return None
    return {"columns": {key: names[0] for key, names in found.items() if names}}


def _conversation(column: str, rows: Sequence[Row], *, tagged: bool) -> dict[str, Any] | None:
    """Name the column of messages, their keys and their roles."""
    spoken_in = (column, *_PAIRED)
    messages = [item for row in rows for name in spoken_in for item in _messages(row.get(name))]
    tags: dict[str, str] = {}
    for tag, names in _KEYS:
        every = [name for name in names if all(name in item for item in messages)]
        if len(every) != 1:
            return None
        tags[tag] = every[0]
    spoken = {str(item[tags["role_tag"]]) for item in messages}
    for tag, names in _ROLES:
        some = [name for name in names if name in spoken]
        if len(some) > 1 or (not some and tag in ("user_tag", "assistant_tag")):
            return None
        spoken -= set(some)
        tags |= {tag: some[0]} if some else {}
    if spoken:
        return None
    usual = not tagged and all(_USUAL[tag] == name for tag, name in tags.items())
    found: dict[str, Any] = {"formatting": "sharegpt", "columns": {"messages": column}}
    return found if usual else {**found, "tags": tags}


def _messages(held: object) -> list[Row]:
    """Give the messages of a column; an answer of a pair is one by itself."""
    several = held if isinstance(held, list) else [held]
    return [item for item in several if isinstance(item, dict)]


def _is_talk(held: object) -> bool:
    return isinstance(held, list) and bool(held) and len(_messages(held)) == len(held)
