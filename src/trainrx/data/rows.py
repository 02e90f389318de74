"""Judge one row by the layout it must have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from trainrx.data.job import LABELLED
from trainrx.model.formats import Columns, ConversationForm, DataFormat, DataLayout

Fault = Literal["empty", "turns", "unanswered", "keys"]
"""empty: nothing in the columns that count; turns: roles not in the order asked for; unanswered:
nothing to learn from; keys: messages are written with other keys."""
PROMPTED = frozenset({"grpo", "ppo", "rloo", "gkd"})
"""Tasks whose answers the model gives itself."""
WHOLE = frozenset({"pt"})
UNANSWERED = PROMPTED | WHOLE | LABELLED
"""Tasks whose rows need no answer of an assistant."""
Row = Mapping[str, object]


class RowFault(NamedTuple):
    """What is wrong with a row, and the roles or keys that show it."""

    kind: Fault
    shown: str = ""


class Missing(NamedTuple):
    """Columns of which one is needed; `clash`: several mean the same, so none is taken.

    `kept`: rows are trained on without it.
    """

    group: Columns
    clash: Columns = ()
    kept: bool = False


def layout_for(columns: Sequence[str], layouts: Sequence[DataLayout]) -> DataLayout | None:
    """Choose the layout rows with these columns have: the first that fits, else the last resort."""
    held = set(columns)
    for layout in layouts:
        if any(held.issuperset(wanted) for wanted in layout.chosen_by):
            return layout
    return next((layout for layout in layouts if not layout.chosen_by), None)


def missing_columns(
    columns: Sequence[str], layout: DataLayout, form: DataFormat, task: str
) -> Iterator[Missing]:
    """Give what the layout and the task need and rows with these columns do not have."""
    held = set(columns)
    for group in (*layout.needs, *form.needs_if.get(task, ())):
        there = tuple(name for name in group if name in held)
        if not there:
            yield Missing(group)
        elif layout.one_name and len(there) > 1 and group[0] not in held:
            yield Missing(group, there)
    for group in layout.one_of:
        there = tuple(name for name in group if name in held)
        if len(there) > 1 and group[0] not in held:
            yield Missing(group, there, kept=True)


def lowered(columns: Sequence[str], layout: DataLayout) -> dict[str, str]:
    """Give the columns that a layout knows in small letters, with the name it has for them."""
    if not layout.any_case:
        return {}
    known = {name for group in (*layout.needs, *layout.one_of) for name in group}
    known -= set(columns)
    return {name: name.lower() for name in columns if name.lower() in known}


def row_faults(row: Row, layout: DataLayout, task: str) -> Iterator[RowFault]:
    """Give what is wrong with a row."""
    if layout.conversation is not None:
        yield from _of_conversation(row, layout.conversation, task)
    elif task not in PROMPTED | LABELLED:
        named = [name for name in layout.answers if name in row]
        if named and not any(_is_said(row[name]) for name in named):
            yield RowFault("empty", ", ".join(named))


def _of_conversation(row: Row, talk: ConversationForm, task: str) -> Iterator[RowFault]:
    column = next((name for name in talk.columns if name in row), "")
    held = row.get(column)
    if not column or isinstance(held, str):  # a text is read, or taken, as it is
        if held == "":
            yield RowFault("empty", column)
        return
    messages = [item for item in held if isinstance(item, dict)] if isinstance(held, list) else []
    if not messages:
        yield RowFault("empty", column)
        return
    if not all(_key(item, talk.role) and _key(item, talk.content) for item in messages):
        if talk.keys_needed:
            yield RowFault("keys", _written(messages[0]))
        return
    yield from _of_turns(messages, talk, task)


def _of_turns(messages: Sequence[Row], talk: ConversationForm, task: str) -> Iterator[RowFault]:
    roles = [str(item[_key(item, talk.role)]) for item in messages]
    said = [_is_said(item[_key(item, talk.content)]) for item in messages]
    if not _in_order(roles, [True] * len(said), talk):
        yield RowFault("turns", " ".join(roles[:6]))
    elif not _in_order(roles, said, talk):
        yield RowFault("unanswered", " ".join(roles[:6]))
    elif task not in UNANSWERED and talk.answering and not talk.odd:
        answers = zip(roles, said, strict=True)
        if not any(role in talk.answering and spoken for role, spoken in answers):
            yield RowFault("unanswered", " ".join(roles[:6]))


def _in_order(roles: list[str], said: list[bool], talk: ConversationForm) -> bool:
    if talk.order == "free":
        return True
    if talk.order == "listed":
        spoken = {*talk.asking, *talk.answering}
        return set(roles[1:]) <= spoken and roles[0] in {*spoken, *talk.opening}
    start = int(roles[0] in talk.opening)
    turns = list(zip(roles[start:], said[start:], strict=True))
    if talk.order == "pairs":
        if turns and turns[0][0] in talk.answering:  # a text to train on, without a question
            turns.insert(0, (talk.asking[0], True))
        pairs = zip(turns[::2], turns[1::2], strict=False)
        return all(
            asked[0] in talk.asking and answer[0] in talk.answering and answer[1]
            for asked, answer in pairs
        )
    sides = (talk.asking, talk.answering)
    placed = all(role in sides[at % 2] for at, (role, _) in enumerate(turns))
    return placed and len(turns) % 2 == int(talk.odd)


def _key(message: Row, names: Columns) -> str:
    return next((name for name in names if name in message), "")


def _written(message: Row) -> str:
    return ", ".join(sorted(str(key)[:40] for key in message)[:8])


def _is_said(value: object) -> bool:
    return value.strip() != "" if isinstance(value, str) else value not in (None, [], {})
