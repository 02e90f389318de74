"""One line that is replied to a question: yes, no, "I do not know", or a typed value."""

from __future__ import annotations

import math
import re

from trainrx.model.errors import UsageError
from trainrx.model.facts import MAX_QUOTE, Scalar
from trainrx.model.knowledge import FactEntry
from trainrx.model.parts import Param
from trainrx.model.pattern import late

OPTION = "--answer"
NONE = "none"
"""How a parameter says that it is set to nothing."""
YES = frozenset(("yes", "y", "true", "on", "1", "是", "是的", "有", "对", "开", "会"))
NO = frozenset(
    ("no", "n", "false", "off", "0", "否", "不", "不是", "没有", "没", "无", "关", "不会")
)
NOT_KNOWN = frozenset(
    ("unknown", "?", "？", "don't know", "不知道", "未知", "不清楚", "不确定", "不晓得")
)
_NOTHING = frozenset((NONE, "null", "unset", "not set", "没设置", "没有设置", "未设置"))
_NUMBER = late(
    r"([-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d{1,3})?) *([A-Za-z%/]{0,12})", re.IGNORECASE
)
_GROUPED = late(r"(?<=\d)[,_](?=\d{3}(?!\d))")
_UNITS = {"GiB": ("g", "gb", "gib"), "s": ("s", "sec", "seconds"), "%": ("%",)}


class ReplyError(UsageError):
    """No question has this id, or what is replied to it is no answer."""


def is_not_known(text: str) -> bool:
    """Tell whether somebody says that he does not know."""
    return _plain(text) in NOT_KNOWN


def yes_or_no(text: str) -> bool | None:
    """Read yes or no, in English or Chinese; None where it is neither."""
    said = _plain(text)
    return True if said in YES else False if said in NO else None


def value_of(text: str, entry: FactEntry | Param) -> Scalar:
    """Read the value of a fact or a parameter as it is typed.

    Raises:
        ReplyError: it is none of that type.
    """
    said = text.strip()
    found = _typed(said, entry)
    if found is None and isinstance(entry, Param) and _plain(said) in _NOTHING:
        found = NONE
    if found is None:
        raise ReplyError(f"{OPTION} {entry.id}={said[:80]}: expected {expected(entry)}.")
    return found


def expected(entry: FactEntry | Param) -> str:
    """Say what an answer looks like."""
    unit = entry.unit if isinstance(entry, FactEntry) else ""
    values = entry.values if isinstance(entry, FactEntry) else ()
    if values:
        return f'one of {", ".join(values)}, or "unknown"'
    if entry.type == "bool":
        return 'yes or no, or "unknown"'
    if entry.type == "text":
        return 'a text, or "unknown"'
    kind = "a whole number" if entry.type == "int" else "a number"
    return f'{kind} of {unit}, or "unknown"' if unit else f'{kind}, or "unknown"'


def _typed(said: str, entry: FactEntry | Param) -> Scalar | None:
    if entry.type == "bool":
        return yes_or_no(said)
    if entry.type == "text":
        return _one_of(said, entry)
    found = _NUMBER.fullmatch(_GROUPED.sub("", said))
    if found is None or not _is_unit(found[2], entry):
        return None
    number = float(found[1])
    if not math.isfinite(number) or (entry.type == "int" and number != int(number)):
        return None
    return int(number) if entry.type == "int" else number


def _one_of(said: str, entry: FactEntry | Param) -> str | None:
    values = entry.values if isinstance(entry, FactEntry) else ()
    known = {_plain(value): value for value in values}
    return known.get(_plain(said)) if known else said[:MAX_QUOTE] or None


def _is_unit(text: str, entry: FactEntry | Param) -> bool:
    unit = entry.unit if isinstance(entry, FactEntry) else ""
    return not text or text == unit or text.lower() in _UNITS.get(unit, ())


def _plain(text: str) -> str:
    return text.strip().strip(".。!！").lower()
