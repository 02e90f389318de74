"""Judge the values of a row: their kinds, and answers that are to differ."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from trainrx.model.formats import OwnRewards, SameKinds, ValueKind, ValueNeed
from trainrx.model.pattern import late

Row = Mapping[str, object]
DEEPEST = 4
PAIR = 2
MOST_SHOWN = 40
MOST_ITEMS = 50
"""Items of a list whose kinds are compared."""
UNCOUNTED = -100
"""The label that a loss leaves out."""
_TALKS = ("messages", "conversations", "conversation")
_ANSWERS = ("response", "completion", "output", "answer")


class RefusedValue(NamedTuple):
    """A value that is not what its column needs: its kind, or how it is written."""

    need: ValueNeed
    kind: str


def kind_of(value: object) -> ValueKind | None:
    """Give the kind of a value as JSON has it; None for null."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, Mapping):
        return "object"
    return "list" if isinstance(value, (list, tuple)) else "text"


def refused_values(row: Row, needs: Sequence[ValueNeed], task: str) -> Iterator[RefusedValue]:
    """Give the values that are null, or of a kind their column does not take."""
    for need in needs:
        if need.column not in row or (need.tasks and task not in need.tasks):
            continue
        if any(name in row for name in need.unless):
            continue
        kind = kind_of(row[need.column])
        if kind is None and need.or_null:
            continue
        if kind not in need.kinds:
            yield RefusedValue(need, kind or "null")
        elif found := _misshapen(row[need.column], need.shape):
            yield RefusedValue(need, found)


def _misshapen(value: object, shape: str) -> str:
    """Write what does not belong there: the first such item of a list, the start of a text."""
    if shape == "json" and isinstance(value, str):
        return "" if _is_json(value) else value[:MOST_SHOWN]
    items = value if isinstance(value, (list, tuple)) else ()
    for item in items:
        if shape == "pairs" and (not isinstance(item, (list, tuple)) or len(item) < PAIR):
            return f"[{_written(item)}]"
        if shape == "answers" and isinstance(item, Mapping) and item.get("role") == "user":
            return "[{role: user}]"
    return ""


def _written(item: object) -> str:
    if isinstance(item, Mapping):
        return f"{{{', '.join(str(key)[:20] for key in list(item)[:4])}}}"
    return f"[{len(item)}]" if isinstance(item, (list, tuple)) else kind_of(item) or "null"


def class_fault(label: object, classes: int | None) -> Literal["class-text", "class-beyond", ""]:
    """Say what is wrong with the number of a class: it is a text, or there is no such class."""
    if isinstance(label, str):
        try:
            label = int(label)
        except ValueError:
            return "class-text"
    if classes is None or not isinstance(label, int) or label == UNCOUNTED:
        return ""
    return "" if 0 <= label < classes else "class-beyond"


def is_drifted_pair(row: Row) -> bool:
    """Tell whether the two sides of a pair differ in what is asked: in each first of two turns."""
    chosen = next((row[name] for name in _TALKS if name in row), None)
    rejected = row.get("rejected_messages")
    if not isinstance(chosen, list) or not isinstance(rejected, list):
        return False
    whole = min(len(chosen), len(rejected)) // PAIR * PAIR
    return any(_turn(chosen[at]) != _turn(rejected[at]) for at in range(0, whole, PAIR))


def _turn(message: object) -> tuple[object, object]:
    if not isinstance(message, Mapping):
        return (None, message)
    said = message.get("content", message.get("value"))
    return (message.get("role", message.get("from")), said)


def _is_json(text: str) -> bool:
    """Tell whether a text is JSON as Python reads it; an empty one is none given."""
    try:
        json.loads(text or "null")
    except (ValueError, RecursionError):
        return False
    return True


def differing_parts(row: Row, held: Sequence[SameKinds]) -> str:
    """Name the columns of a row that are joined and of two kinds: text, and lists of messages."""
    for item in held:
        kinds = {name: kind for name in item.columns if (kind := kind_of(row.get(name)))}
        if {"text", "list"} <= set(kinds.values()):
            return ", ".join(f"{name}: {kind}" for name, kind in kinds.items())
    return ""


def is_same_pair(row: Row) -> bool:
    """Tell whether the answer that is preferred and the one that is not are the same."""
    if "chosen" in row and "rejected" in row:
        return row["chosen"] is not None and row["chosen"] == row["rejected"]
    refused = row.get("rejected_response")
    if isinstance(refused, str) and refused:
        return refused == _last_answer(row)
    whole = row.get("rejected_messages")
    return bool(whole) and whole == row.get("messages")


_ASKED = ("prompt", "instruction", "question", "query")
_TOLD = ("chosen", "rejected", "completion", "response", "output", "answer")
_LEAST = 12
"""Characters of a question that no answer begins with by chance."""


def repeats_prompt(row: Row) -> str:
    """Name the column of the question all answers of a row begin with, which so stands twice."""
    for name in _ASKED:
        asked = row.get(name)
        if isinstance(asked, str) and len(asked.strip()) >= _LEAST:
            told = [row[key] for key in _TOLD if isinstance(row.get(key), str)]
            if told and all(str(text).lstrip().startswith(asked.strip()) for text in told):
                return name
    return ""


_SCORED = late(r"(?:score|rating|reward)s?", re.IGNORECASE)


def worse_chosen(row: Row) -> str:
    """Name the scores of a pair by which the answer that is preferred is the worse one, else "".

    Their columns are called alike, but for the side: `score_chosen` and `score_rejected`.
    """
    for name, chosen in row.items():
        if "chosen" not in name or _SCORED.search(name) is None:
            continue
        rejected = row.get(other := name.replace("chosen", "rejected"))
        numbers = [one for one in (chosen, rejected) if isinstance(one, (int, float))]
        if len(numbers) == PAIR and numbers[0] < numbers[1]:
            return f"{name} < {other}"
    return ""


def _last_answer(row: Row) -> object:
    messages = row.get("messages")
    if isinstance(messages, list):
        last = messages[-1] if messages else None
        return last.get("content") if isinstance(last, Mapping) else None
    return next((row[name] for name in _ANSWERS if name in row), None)


def is_unscored(row: Row, rewards: OwnRewards) -> bool:
    """Tell whether a framework has no reward of its own for a row."""
    source = row.get(rewards.column)
    if not isinstance(source, str):
        return False
    return source not in rewards.names and not source.startswith(rewards.prefixes or ("\0",))


class KindChange(NamedTuple):
    """A column, or what is in it, that has another kind than in the rows before."""

    column: str
    before: ValueKind
    now: ValueKind


class KindTally:
    """The kind of each column, as the first row that has a value says it."""

    def __init__(self) -> None:
        self._kinds: dict[str, ValueKind] = {}

    def change(self, row: Row) -> KindChange | None:
        """Give what a row has of another kind; a reader of tables takes one kind a column."""
        return next((found for key, value in row.items() for found in self._of(key, value)), None)

    def _of(self, place: str, value: object, depth: int = 0) -> Iterator[KindChange]:
        kind = kind_of(value)
        if kind is None:
            return
        held = self._kinds.setdefault(place, kind)
        if held != kind:
            yield KindChange(place, held, kind)
        elif depth < DEEPEST and isinstance(value, Mapping):
            for key, inner in value.items():
                yield from self._of(f"{place}.{key}", inner, depth + 1)
        elif depth < DEEPEST and isinstance(value, (list, tuple)):
            for inner in value[:MOST_ITEMS]:
                yield from self._of(f"{place}[]", inner, depth + 1)
