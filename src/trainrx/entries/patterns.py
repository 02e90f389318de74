"""What a signature must be: a sound regex, and a needle on every line it matches.

A line without the needle is never tried; a regex that is slow is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import cast

from trainrx.knowledge.regexes import slowness, sre, unbounded
from trainrx.model.knowledge import LinePattern

MIN_NEEDLE = 4


def regex_problems(pattern: LinePattern, *, short: bool = False) -> list[str]:
    """List what is wrong with one pattern; `short` allows a short needle."""
    try:
        re.compile(pattern.regex)
    except re.error as error:
        return [f"is not a regex: {error}"]
    found: list[str] = []
    for needle in pattern.needles:
        plain = re.sub(r"\W", "", needle)
        if not short and len(plain) < MIN_NEEDLE and plain.isascii():
            found.append(f"the needle {needle!r} is too short to be rare")
    found += unbounded(pattern.regex)
    if not found and (said := slowness(pattern.regex)):
        found.append(said)
    if re.match(pattern.regex, "") is not None:
        found.append("matches the empty line")
    return found


MOST_TURNS = 40
"""Turns of a repeat that are walked; needles are shorter than what more would spell."""
MOST_CHOICES = 8
"""Characters of a set that are tried one by one; a larger one holds something foreign anyway."""
FOREIGN = "\0"

States = frozenset[str]
"""What the ends of texts read so far share with the beginnings of needles."""


def is_needed(pattern: LinePattern) -> bool:
    """Tell whether no text can match a regex without holding one of its needles.

    The regex must be sound (see `regex_problems`). A needle is looked for as in a scan: in any case
    where the regex starts with `(?i)`.
    """
    folded = pattern.regex.startswith("(?i)")
    needles = tuple(needle.lower() if folded else needle for needle in pattern.needles)
    return not _Walk(needles, folded=folded).through(sre.parse(pattern.regex), frozenset({""}))


class _Walk:
    """Follows all ways through a regex that spell no needle."""

    def __init__(self, needles: tuple[str, ...], *, folded: bool) -> None:
        self._needles = needles
        self._folded = folded

    def through(self, tree: object, states: States) -> States:
        """Give the states behind a sequence; none where every way spells a needle."""
        for code, argument in cast("Iterable[tuple[object, object]]", tree):
            states = self._item(str(code), argument, states)
        return states

    def _item(self, name: str, argument: object, states: States) -> States:
        if name == "AT":
            return states
        if name == "SUBPATTERN":
            return self.through(cast("tuple[object, ...]", argument)[3], states)
        if name == "BRANCH":
            _, ways = cast("tuple[None, list[object]]", argument)
            return frozenset[str]().union(*(self.through(way, states) for way in ways))
        if name.endswith("_REPEAT"):
            return self._repeated(*cast("tuple[int, int, object]", argument), states)
        return self._read(states, *_choices(name, argument))

    def _repeated(self, low: int, high: int, tree: object, states: States) -> States:
        for _ in range(min(low, MOST_TURNS)):
            states = self.through(tree, states)
        for _ in range(min(int(high) - low, MOST_TURNS)):
            more = states | self.through(tree, states)
            if more == states:
                break
            states = more
        return states

    def _read(self, states: States, *characters: str) -> States:
        texts = {
            state + (character.lower() if self._folded else character)
            for state in states
            for character in characters
        }
        return frozenset(self._tail(text) for text in texts if not text.endswith(self._needles))

    def _tail(self, text: str) -> str:
        return next(
            text[start:]
            for start in range(len(text) + 1)
            if any(needle.startswith(text[start:]) for needle in self._needles)
        )


def _choices(name: str, argument: object) -> list[str]:
    """Give the characters an item can be, as far as they may belong to a needle."""
    if name == "LITERAL":
        return [chr(cast("int", argument))]
    if name == "IN":
        members = cast("list[tuple[object, int]]", argument)
        plain = [chr(value) for code, value in members if str(code) == "LITERAL"]
        if len(plain) == len(members) <= MOST_CHOICES:
            return plain
    return [FOREIGN]
