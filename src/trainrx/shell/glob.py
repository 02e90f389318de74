"""Shell patterns (`*`, `?`, `[a-z]`) matched in time linear in text x pattern, whatever they are.

`re` would backtrack on `*a*a*a*b`; here all positions a pattern can be in move along together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trainrx.model.pattern import late

_ITEM = late(
    r"\\(?P<escaped>.)|(?P<many>\*+)|(?P<any>\?)|\[(?P<set>[!^]?\]?(?:\[:\w+:\]|[^\]])*)\]|(?P<c>.)",
    re.DOTALL,
)
_MANY = ""

Item = str | re.Pattern[str]
"""One element of a pattern: a literal character, `_MANY` for `*`, a compiled set for the rest."""


def compile_glob(pattern: str) -> tuple[Item, ...]:
    """Split a pattern into its elements."""
    return tuple(_items(pattern))


def _items(pattern: str) -> Iterator[Item]:
    for match in _ITEM.finditer(pattern):
        if match["many"]:
            yield _MANY
        elif match["any"]:
            yield re.compile(".", re.DOTALL)
        elif match["set"] is not None:
            yield _set(match["set"])
        else:
            yield match["escaped"] or match["c"]


def _set(body: str) -> re.Pattern[str]:
    negated = "^" if body[:1] in ("!", "^") and len(body) > 1 else ""
    inner = body[1:] if negated else body
    named = {"digit": "0-9", "alpha": "a-zA-Z", "alnum": "a-zA-Z0-9", "space": r"\s"}
    inner = named.get(inner.strip("[:]")) or re.sub(r"[\\\[\]^&~|]", r"\\\g<0>", inner)
    try:
        return re.compile(f"[{negated}{inner}]")
    except re.error:
        return re.compile(re.escape(body))


def prefix_lengths(items: Sequence[Item], text: str) -> list[int]:
    """Give the lengths of all prefixes of the text that the pattern matches, ascending."""
    lengths: list[int] = []
    states = _closure({0}, items)
    for length in range(len(text) + 1):
        if len(items) in states:
            lengths.append(length)
        if length == len(text) or not states:
            break
        states = _closure(_step(states, items, text[length]), items)
    return lengths


def _step(states: set[int], items: Sequence[Item], char: str) -> set[int]:
    after = set()
    for state in states:
        if state == len(items):
            continue
        item = items[state]
        if item == _MANY:
            after.add(state)
        elif item == char or (isinstance(item, re.Pattern) and item.fullmatch(char)):
            after.add(state + 1)
    return after


def _closure(states: set[int], items: Sequence[Item]) -> set[int]:
    closed = set(states)
    for start in states:
        state = start
        while state < len(items) and items[state] == _MANY:
            state += 1
            closed.add(state)
    return closed


def matches(pattern: str, text: str) -> bool:
    """Tell whether a pattern matches a whole text."""
    return prefix_lengths(compile_glob(pattern), text)[-1:] == [len(text)]


def strip(text: str, pattern: str, *, end: bool, longest: bool) -> str:
    """Remove the shortest or longest match of a pattern from one end of a text."""
    items = compile_glob(pattern)
    if end:
        lengths = prefix_lengths(items[::-1], text[::-1])
        return text[: len(text) - (lengths[-1] if longest else lengths[0])] if lengths else text
    lengths = prefix_lengths(items, text)
    return text[lengths[-1] if longest else lengths[0] :] if lengths else text


def escape(text: str) -> str:
    """Write a text as a pattern that matches only it."""
    return re.sub(r"[*?\[\\]", r"\\\g<0>", text)
