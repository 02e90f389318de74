"""Turn a Python regex into a cheaper one for the linear engine, matching at least the same lines.

The engine works on bytes and reports every end offset, so captures go, the greedy tail is cut to
the least that must match (`error: (.+)` becomes `error: .`), and what it lacks or reads differently
(look around, word boundaries, classes beyond ASCII) is widened. Each reported line is then
confirmed with `re`: the gate may report too much, never too little.

What need not match at either end is left out, and so is where a line begins: the less an expression
says, the faster the engine is made and runs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any

import msgspec

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
END = r"(?:$| \[repeated )"
"""It ends before what Ray adds where several workers printed it."""
ENDS = ("AT_END", "AT_END_STRING")
REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
SETS = ("ANY", "NOT_LITERAL", "IN")
NOTHING = ("ASSERT", "ASSERT_NOT")
IGNORE_CASE = 2
WIDEST = 4
"""Bytes of the longest UTF-8 character."""
MAX_COUNT = 64
"""Counted repeats above this become unbounded: far cheaper for the engine."""


def gate(regex: str) -> bytes:
    """Give a regex for the linear engine that matches on every line `regex` matches on.

    Raises:
        re.error: `regex` is not a regex.
    """
    tree = PARSER.parse(regex)
    place = Place(first=True, last=True, folded=bool(tree.state.flags & IGNORE_CASE))
    return _sequence(tree, place).encode("ascii")


class Place(msgspec.Struct, frozen=True):
    """Where a node stands: nothing comes before it, or behind; and whether case counts."""

    first: bool
    last: bool
    folded: bool


def _sequence(items: Iterable[Node], place: Place) -> str:
    """Write nodes one behind the other, without those at either end that need not match."""
    nodes = list(items)
    while (
        place.last and nodes and not _node(nodes[-1], msgspec.structs.replace(place, first=False))
    ):
        nodes.pop()
    written: list[str] = []
    for index, node in enumerate(nodes):
        at = Place(
            first=place.first and not written,
            last=place.last and index == len(nodes) - 1,
            folded=place.folded,
        )
        text = _node(node, at)
        written += [text] if text else []
    return "".join(written)


def _node(node: Node, place: Place) -> str:
    name, value = str(node[0]), node[1]
    if name == "LITERAL":
        return _literal(value, folded=place.folded)
    if name in SETS:
        wide = not (place.first or place.last or _is_narrow(node))
        return _class(node, folded=place.folded) + (f"{{1,{WIDEST}}}" if wide else "")
    if name in REPEATS:
        return _repeat(value, place)
    if name == "AT":
        # a line begins behind the labels of its host, rank or worker: that is left to `re`
        return END if str(value) in ENDS else ""
    if name in NOTHING:
        return ""
    return _group(name, value, place)


def _group(name: str, value: Any, place: Place) -> str:  # noqa: ANN401 (re's tree)
    if name == "SUBPATTERN":
        _, added, removed, inner = value
        folded = (place.folded or bool(added & IGNORE_CASE)) and not removed & IGNORE_CASE
        return _grouped([_sequence(inner, msgspec.structs.replace(place, folded=folded))])
    if name == "ATOMIC_GROUP":
        return _grouped([_sequence(value, place)])
    if name == "BRANCH":
        branches = [_sequence(branch, place) for branch in value[1]]
        # one that may be empty lets the others be so too
        is_needed = all(branches) or not (place.first or place.last)
        return _grouped(branches) if is_needed else ""
    return ".*"


def _grouped(branches: Sequence[str]) -> str:
    return f"(?:{'|'.join(branches)})" if any(branches) else ""


def _literal(code: int, *, folded: bool) -> str:
    char = chr(code)
    if not folded or char.lower() == char.upper():
        return _hex(char)
    forms = sorted({char.lower(), char.upper(), char})
    if all(form.isascii() for form in forms):
        return f"[{''.join(map(_hex, forms))}]"
    return f"(?:{'|'.join(_hex(form) for form in forms)})"


def _hex(text: str) -> str:
    found = "".join(f"\\x{byte:02x}" for byte in text.encode("utf-8", "replace"))
    return found if len(found) == 4 else f"(?:{found})"


def _repeat(value: Any, place: Place) -> str:  # noqa: ANN401 (re's tree)
    low, high, inner = int(value[0]), int(value[1]), list(value[2])
    at_edge = place.first or place.last
    high = low if at_edge else high
    if len(inner) == 1 and str(inner[0][0]) in SETS:
        body = _class(inner[0], folded=place.folded)
        high *= 1 if at_edge or _is_narrow(inner[0]) else WIDEST
    else:
        body = _grouped([_sequence(inner, Place(first=False, last=False, folded=place.folded))])
    if not body or not high:
        return ""
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


def _is_narrow(node: Node) -> bool:
    """Tell a class of which each character is one byte."""
    if str(node[0]) != "IN":
        return False
    named = [(str(name), value) for name, value in node[1]]
    return all(
        (name == "LITERAL" and value < 128) or (name == "RANGE" and value[1] < 128)
        for name, value in named
    )


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
