"""Turn a Python regex into a cheaper one for the linear engine, matching at least the same lines.

The engine works on bytes and reports every end offset, so captures go, the greedy tail is cut to
the least that must match (`error: (.+)` becomes `error: .`), and what it lacks or reads differently
(look around, word boundaries, classes beyond ASCII) is widened. Each reported line is then
confirmed with `re`: the gate may report too much, never too little.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Any

# The parser of `re` moved in 3.11 and has no public name; its tree is stable across 3.10-3.14.
PARSER = import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")

Node = tuple[object, Any]

HIGH = r"\x80-\xff"
CLASSES = {
    "CATEGORY_DIGIT": r"\d" + HIGH,
    "CATEGORY_NOT_DIGIT": r"\D",
    "CATEGORY_SPACE": r"\s\x0b\x1c-\x1f" + HIGH,
    "CATEGORY_NOT_SPACE": r"\S",
    "CATEGORY_WORD": r"\w" + HIGH,
    "CATEGORY_NOT_WORD": r"\W",
}
BEGINNING = r"^(?:[\[(][^\])\n]*[\])]:? ?)*"
"""A line begins behind the labels of its host, rank or worker."""
END = r"(?:$| \[repeated )"
"""It ends before what Ray adds where several workers printed it."""
ANCHORS = {
    "AT_BEGINNING": BEGINNING,
    "AT_BEGINNING_STRING": BEGINNING,
    "AT_END": END,
    "AT_END_STRING": END,
}
REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
NOTHING = ("ASSERT", "ASSERT_NOT")
IGNORE_CASE = 2
WIDEST = 4
"""Bytes of the longest UTF-8 character."""
MAX_COUNT = 64
"""Counted repeats above this become unbounded: far cheaper for the engine."""


def gate(regex: str) -> bytes:
    """Give a regex for the linear engine that matches every line `regex` matches.

    Raises:
        re.error: `regex` is not a regex.
    """
    tree = PARSER.parse(regex)
    return _sequence(tree, tail=True, folded=bool(tree.state.flags & IGNORE_CASE)).encode("ascii")


def _sequence(items: Iterable[Node], *, tail: bool, folded: bool) -> str:
    kept = list(items)
    while tail and kept and _may_be_dropped(kept[-1]):
        kept.pop()
    last = len(kept) - 1
    return "".join(
        _node(node, tail=tail and index == last, folded=folded) for index, node in enumerate(kept)
    )


def _may_be_dropped(node: Node) -> bool:
    name = str(node[0])
    if name in REPEATS:
        return bool(node[1][0] == 0)
    return name in NOTHING or (name == "AT" and str(node[1]) not in ANCHORS)


def _node(node: Node, *, tail: bool, folded: bool) -> str:
    name, value = str(node[0]), node[1]
    if name == "LITERAL":
        return _literal(value, folded=folded)
    if name in ("ANY", "NOT_LITERAL", "IN"):
        return _class(node, folded=folded) + f"{{1,{WIDEST}}}"
    if name in REPEATS:
        return _repeat(value, tail=tail, folded=folded)
    if name == "AT":
        return ANCHORS.get(str(value), "")
    if name in NOTHING:
        return ""
    return _group(name, value, tail=tail, folded=folded)


def _group(name: str, value: Any, *, tail: bool, folded: bool) -> str:  # noqa: ANN401 (re's tree)
    if name == "SUBPATTERN":
        _, added, removed, inner = value
        folded = (folded or bool(added & IGNORE_CASE)) and not removed & IGNORE_CASE
        return f"(?:{_sequence(inner, tail=tail, folded=folded)})"
    if name == "ATOMIC_GROUP":
        return f"(?:{_sequence(value, tail=tail, folded=folded)})"
    if name == "BRANCH":
        branches = (_sequence(branch, tail=tail, folded=folded) for branch in value[1])
        return f"(?:{'|'.join(branches)})"
    return ".*"


def _literal(code: int, *, folded: bool) -> str:
    char = chr(code)
    if not folded or char.lower() == char.upper():
        return _hex(char)
    forms = sorted({char.lower(), char.upper(), char})
    return f"(?:{'|'.join(_hex(form) for form in forms)})"


def _hex(text: str) -> str:
    found = "".join(f"\\x{byte:02x}" for byte in text.encode("utf-8", "replace"))
    return found if len(found) == 4 else f"(?:{found})"


def _repeat(value: Any, *, tail: bool, folded: bool) -> str:  # noqa: ANN401 (re's tree)
    low, high, inner = int(value[0]), int(value[1]), list(value[2])
    if tail:
        high = low
    if len(inner) == 1 and str(inner[0][0]) in ("ANY", "NOT_LITERAL", "IN"):
        body = _class(inner[0], folded=folded)
        high *= 1 if tail else WIDEST
    else:
        body = f"(?:{_sequence(inner, tail=False, folded=folded)})"
    if high > MAX_COUNT and high != low:
        return f"{body}{{{low},}}"
    return f"{body}{{{low},{high}}}"


def _class(node: Node, *, folded: bool) -> str:
    """Write a class over bytes that holds every byte of every character it takes."""
    name, value = str(node[0]), node[1]
    if name == "ANY":
        return r"[^\n]"
    if name == "NOT_LITERAL":
        return f"[^\\x{value:02x}]" if value < 128 else r"[\x00-\xff]"
    negated = str(value[0][0]) == "NEGATE"
    parts = [_member(item, folded=folded) for item in (value[1:] if negated else value)]
    if not negated:
        return f"[{''.join(parts)}]"
    # what a negated class leaves out beyond ASCII cannot be said in bytes: let those bytes pass
    plain = [part.replace(HIGH, "") for part in parts]
    if any(part in (r"\D", r"\S", r"\W") for part in plain):
        return r"[\x00-\xff]"
    return f"[^{''.join(plain)}]" if any(plain) else r"[\x00-\xff]"


def _member(item: Node, *, folded: bool) -> str:
    name, value = str(item[0]), item[1]
    if name == "CATEGORY":
        return CLASSES[str(value)]
    low, high = (value, value) if name == "LITERAL" else value
    if low > 127:
        return HIGH
    text = f"\\x{low:02x}-\\x{min(high, 127):02x}" + (HIGH if high > 127 else "")
    if folded:
        text += _swapped(low, min(high, 127))
    return text


def _swapped(low: int, high: int) -> str:
    both = {chr(code).swapcase() for code in range(low, high + 1) if chr(code).isalpha()}
    return "".join(f"\\x{ord(char):02x}" for char in sorted(both))
