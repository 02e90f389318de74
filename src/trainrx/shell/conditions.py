"""Tests of a script, three-valued: true, false, or undecided."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable

import msgspec

from trainrx.model.pattern import late
from trainrx.shell import glob
from trainrx.shell.context import Verdict, both, either
from trainrx.shell.expand import Expander
from trainrx.shell.limits import MAX_DEPTH, TooMuch
from trainrx.shell.state import State
from trainrx.shell.syntax import Raw
from trainrx.shell.values import known, literal

_NUMBERS: dict[str, Callable[[int, int], bool]] = {
    "-eq": operator.eq,
    "-ne": operator.ne,
    "-lt": operator.lt,
    "-le": operator.le,
    "-gt": operator.gt,
    "-ge": operator.ge,
}
_BINARY = frozenset({"=", "==", "!=", "=~", "<", ">", "-nt", "-ot", "-ef", *_NUMBERS})
_VARIABLE = late(r"\$\{?#?([A-Za-z_]\w*)", re.ASCII)
_LENT = late(r"\$\{(!?)([A-Za-z_]\w*|\d+):?-(?:\"\"|'')?\}", re.ASCII)
"""`${X:-}`: what is nothing where nothing was given, for `set -u`."""
_BRACKETS = frozenset({"(", ")", "\\(", "\\)"})
_UNARY = late(r"-[a-hknoprstuvwxzGLNOS]")


class Conditions:
    """Decides `[ ... ]` and `[[ ... ]]`."""

    def __init__(self, state: State, expander: Expander) -> None:
        self._state = state
        self._expander = expander

    def decide(self, words: tuple[Raw, ...]) -> Verdict:
        """Decide a test from its words, the brackets taken off."""
        reader = _ConditionReader(words, self)
        if any(word.text in _BRACKETS for word in words):
            return Verdict(None)
        verdict = reader.any_of(0)
        if not reader.at_end:
            return Verdict(None)
        return msgspec.structs.replace(
            verdict, assumed=verdict.assumed or self._rests_on_defaults(words)
        )

    def _rests_on_defaults(self, words: tuple[Raw, ...]) -> bool:
        """Tell whether a test reads a variable that arguments or the environment may change."""
        variables = self._state.variables
        names = {name for word in words for name in _VARIABLE.findall(word.text)}
        changed = {name for name in names if name in variables and variables[name].default}
        self._state.lent |= {name for name in changed if variables[name].text == ""}
        lent = (found for word in words for found in _LENT.findall(word.text))
        return bool(changed) or any(
            indirect or (name not in variables and not (name.isdigit() and "@" in variables))
            for indirect, name in lent
        )

    def decide_command(self, words: tuple[Raw, ...]) -> Verdict:
        """Decide `[ ... ]`, which is a command: its words are split, and empty ones vanish."""
        if not any("$" in w.text and (w.text[0] != '"' or "@" in w.text) for w in words):
            return self.decide(words)
        fields = [(word, self._expander.fields(word.text)) for word in words]
        if all(len(found) == 1 for _, found in fields):
            verdict = self.decide(words)
            bare = any(w.text[0] == "$" and not known(found[0].text) for w, found in fields)
            # Without quotes nothing is left of an empty word, and the comparison is a mistake.
            compared = bare and any(w.text in ("=", "==", "!=") for w in words)
            return Verdict(None) if compared and verdict.assumed else verdict
        return Verdict(None)

    def unary(self, sign: str, raw: str) -> Verdict:
        """Decide `-z x`, `-n x`; files are not looked at."""
        if sign not in ("-z", "-n"):
            return Verdict(None)
        text = self._expander.text(raw)
        empty = Verdict(text == "")
        if not known(text):
            empty = Verdict(False if literal(text) else None)
            if self._state.alone(text) == "":
                empty = Verdict(value=True, assumed=True)
        return empty if sign == "-z" else empty.negate()

    def binary(self, left: str, sign: str, right: str) -> Verdict:
        """Decide a comparison."""
        one = self._expander.text(left)
        if sign == "=~":
            self._state.set("BASH_REMATCH", self._state.opaque("BASH_REMATCH", 0))
            return Verdict(None)
        two = self._expander.text(right)
        if sign in _NUMBERS:
            # A script whose arguments are not known is taken as called without any.
            counts = [self._is_count(text) for text in (one, two)]
            pairs = zip(counts, (one, two), strict=True)
            numbers = ["0" if count else text.strip() for count, text in pairs]
            if all(re.fullmatch(r"[-+]?\d{1,18}", text) for text in numbers):
                value = _NUMBERS[sign](int(numbers[0]), int(numbers[1]))
                return Verdict(value, assumed=any(counts))
            return Verdict(None)
        if not known(one + two):
            # `[ "$X" = "" ]` is `[ -z "$X" ]`.
            plain = sign in ("=", "==", "!=") and not re.search(r"[*?\[\\]", two)
            if plain and known(two) and self._state.alone(one) == two:
                return Verdict(sign != "!=", assumed=True)
            return Verdict(None)
        if sign in ("=", "==", "!="):
            same = self._same(one, right)
            return Verdict(None) if same is None else Verdict(same == (sign != "!="))
        return Verdict(None)

    def _is_count(self, text: str) -> bool:
        only = self._state.unknowns.only(text)
        return only is not None and (only.kind, only.name) == ("arg", "#")

    def _same(self, text: str, raw: str) -> bool | None:
        pattern = self._expander.pattern(raw)
        if len(pattern) > 256 or re.search(r"[@+?!*]\(", raw):
            return None
        self._state.budget.spend(1 + len(text) * len(pattern) // 4)
        return glob.matches(pattern, text)

    def single(self, raw: str) -> Verdict:
        """Decide `[ x ]`: true when the text is not empty."""
        return self.unary("-n", raw)


class _ConditionReader:
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
        if _UNARY.fullmatch(first) and self._at + 1 < len(self._words):
            self._at += 2
            return self._conditions.unary(first, self._words[self._at - 1])
        self._at += 1
        return self._conditions.single(first) if first else Verdict(None)
