"""Tests of a script, three-valued: true, false, or undecided."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import NamedTuple

from trainrx.parse.shell import glob
from trainrx.parse.shell.expand import Expander
from trainrx.parse.shell.limits import MAX_DEPTH, TooMuch
from trainrx.parse.shell.state import State
from trainrx.parse.shell.syntax import Raw
from trainrx.parse.shell.unknown import known, literal

_NUMBERS: dict[str, Callable[[int, int], bool]] = {
    "-eq": operator.eq,
    "-ne": operator.ne,
    "-lt": operator.lt,
    "-le": operator.le,
    "-gt": operator.gt,
    "-ge": operator.ge,
}
_BINARY = frozenset({"=", "==", "!=", "=~", "<", ">", "-nt", "-ot", "-ef", *_NUMBERS})
_UNARY = re.compile(r"-[a-hknoprstuvwxzGLNOS]")


class Verdict(NamedTuple):
    """The outcome of a test; `assumed`: it rests on a variable not being set from outside."""

    value: bool | None
    assumed: bool = False

    def negate(self) -> Verdict:
        """Give the opposite."""
        return self if self.value is None else Verdict(not self.value, self.assumed)


def both(left: Verdict, right: Verdict) -> Verdict:
    """Join two verdicts with `&&`."""
    for one in (left, right):
        if one.value is False:
            return one
    if left.value is None or right.value is None:
        return Verdict(None)
    return Verdict(value=True, assumed=left.assumed or right.assumed)


def either(left: Verdict, right: Verdict) -> Verdict:
    """Join two verdicts with `||`."""
    return both(left.negate(), right.negate()).negate()


class Conditions:
    """Decides `[ ... ]` and `[[ ... ]]`."""

    def __init__(self, state: State, expander: Expander) -> None:
        self._state = state
        self._expander = expander

    def decide(self, words: tuple[Raw, ...]) -> Verdict:
        """Decide a test from its words, the brackets taken off."""
        reader = _Reader(words, self)
        verdict = reader.any_of(0)
        return verdict if reader.at_end else Verdict(None)

    def unary(self, sign: str, raw: str) -> Verdict:
        """Decide `-z x`, `-n x`; files are not looked at."""
        if sign not in ("-z", "-n"):
            return Verdict(None)
        text = self._expander.text(raw)
        empty = Verdict(text == "")
        if not known(text):
            only = self._state.unknowns.only(text)
            empty = Verdict(False if literal(text) else None)
            outside = only is not None and only.kind in ("env", "scheduler")
            if only is not None and outside and self._state.takes_default(only.name):
                empty = Verdict(value=True, assumed=True)
        return empty if sign == "-z" else empty.negate()

    def binary(self, left: str, sign: str, right: str) -> Verdict:
        """Decide a comparison."""
        one, two = self._expander.text(left), self._expander.text(right)
        if not known(one + two):
            return Verdict(None)
        if sign in _NUMBERS:
            numbers = [text.strip() for text in (one, two)]
            if all(re.fullmatch(r"[-+]?\d{1,18}", text) for text in numbers):
                return Verdict(_NUMBERS[sign](int(numbers[0]), int(numbers[1])))
            return Verdict(None)
        if sign in ("=", "==", "!="):
            return Verdict(self._same(one, two, right) == (sign != "!="))
        return Verdict(None)

    def _same(self, text: str, pattern: str, raw: str) -> bool:
        if raw[:1] in "\"'" or len(pattern) > 256 or not re.search(r"[*?\[]", pattern):
            return text == pattern
        self._state.budget.spend(1 + len(text) * len(pattern) // 4)
        return glob.matches(pattern, text)

    def single(self, raw: str) -> Verdict:
        """Decide `[ x ]`: true when the text is not empty."""
        return self.unary("-n", raw)


class _Reader:
    """Recursive descent over the words of one test."""

    def __init__(self, words: tuple[Raw, ...], conditions: Conditions) -> None:
        self._words = [word.text for word in words]
        self._conditions = conditions
        self._at = 0

    @property
    def at_end(self) -> bool:
        return self._at >= len(self._words)

    def _peek(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._words[at] if at < len(self._words) else ""

    def any_of(self, depth: int) -> Verdict:
        verdict = self._all_of(depth)
        while self._peek() in ("||", "-o"):
            self._at += 1
            verdict = either(verdict, self._all_of(depth))
        return verdict

    def _all_of(self, depth: int) -> Verdict:
        verdict = self._one(depth)
        while self._peek() in ("&&", "-a"):
            self._at += 1
            verdict = both(verdict, self._one(depth))
        return verdict

    def _one(self, depth: int) -> Verdict:
        if depth > MAX_DEPTH:
            raise TooMuch("a test is nested too deeply")
        first = self._peek()
        if self._peek(1) in _BINARY and self._at + 2 < len(self._words):
            self._at += 3
            return self._conditions.binary(first, *self._words[self._at - 2 : self._at])
        if first == "!":
            self._at += 1
            return self._one(depth + 1).negate()
        if first in ("(", "\\("):
            self._at += 1
            verdict = self.any_of(depth + 1)
            self._at += 1
            return verdict
        if _UNARY.fullmatch(first) and self._at + 1 < len(self._words):
            self._at += 2
            return self._conditions.unary(first, self._words[self._at - 1])
        self._at += 1
        return self._conditions.single(first) if first else Verdict(None)
