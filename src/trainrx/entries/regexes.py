"""What a signature's regex may not be: slow, unanchored in text, or beyond the linear engine."""

from __future__ import annotations

import re
import sys
from importlib import import_module

from trainrx.model.knowledge import LinePattern

# The parser of `re` moved in 3.11 and has no public name; its tree is stable across 3.10-3.14.
sre = import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")

UNBOUNDED = 1000
FORBIDDEN = {"GROUPREF", "GROUPREF_EXISTS", "ASSERT", "ASSERT_NOT"}
MIN_NEEDLE = 4


def regex_problems(pattern: LinePattern, *, short: bool = False) -> list[str]:
    """List what is wrong with one pattern; `short` allows a short needle."""
    try:
        tree = sre.parse(pattern.regex)
    except re.error as error:
        return [f"is not a regex: {error}"]
    found: list[str] = []
    for needle in pattern.needles:
        plain = re.sub(r"\W", "", needle)
        if not short and len(plain) < MIN_NEEDLE and plain.isascii():
            found.append(f"the needle {needle!r} is too short to be rare")
    items = list(tree)
    if items and _is_unbounded(items[0]):
        found.append("starts with an unbounded repeat: quadratic on long lines")
    found += _walk(tree, inside=False)
    if re.match(pattern.regex, "") is not None:
        found.append("matches the empty line")
    return found


def _is_unbounded(item: tuple[object, object]) -> bool:
    return str(item[0]).endswith("_REPEAT") and _high(item[1]) >= UNBOUNDED


def _high(argument: object) -> int:
    return int(argument[1]) if isinstance(argument, tuple) else 0


def _walk(tree: object, *, inside: bool) -> list[str]:
    found: list[str] = []
    for code, argument in tree:  # type: ignore[attr-defined]
        name = str(code)
        if name in FORBIDDEN:
            found.append(f"{name.lower()} (lookaround, back reference) is not linear")
        repeats = name.endswith("_REPEAT") and _high(argument) >= UNBOUNDED
        if repeats and inside:
            found.append("nested unbounded repeats: exponential")
        for part in _parts(name, argument):
            found += _walk(part, inside=inside or repeats)
    return found


def _parts(name: str, argument: object) -> list[object]:
    if not isinstance(argument, tuple):
        return []
    if name.endswith("_REPEAT"):
        return [argument[2]]
    if name == "SUBPATTERN":
        return [argument[3]]
    return list(argument[1]) if name == "BRANCH" else []
