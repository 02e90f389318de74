"""Conditions of causes, taken apart once for any number of jobs: tests by what decides them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from trainrx.model.facts import SYMPTOM
from trainrx.model.knowledge import Cause
from trainrx.model.parts import Condition
from trainrx.reason.conditions import Situation, decide

VERSION = "version."
"""What the name of an observation begins with that is the release of a package."""
BEFORE_VOTES = ""
"""In place of a vote: the prior or a precondition of a cause."""


class SingleTest:
    """A single test, and the name of the observation that decides it; equal ones are one object."""

    __slots__ = ("condition", "name", "names")

    def __init__(self, name: str, condition: Condition) -> None:
        self.name = name
        self.condition = condition
        self.names: frozenset[str] = frozenset((name,))


class JoinedTests:
    """Parts that are joined: all of them, any, or (one part) its opposite."""

    __slots__ = ("names", "parts", "word")

    def __init__(self, word: str, parts: tuple[Formula, ...]) -> None:
        self.word = word
        self.parts = parts
        self.names: frozenset[str] = frozenset().union(*(part.names for part in parts))

    def join(self, found: list[bool | None]) -> bool | None:
        """Decide it by its parts, in Kleene's logic."""
        if self.word == "not":
            return None if found[0] is None else not found[0]
        decisive = self.word == "any"
        if decisive in found:
            return decisive
        return None if None in found else not decisive


Formula = SingleTest | JoinedTests


class AskedName(NamedTuple):
    """The tests of a cause that one observation decides, and in which votes they stand."""

    tests: tuple[SingleTest, ...]
    votes: tuple[str, ...]


class CauseFormulas(NamedTuple):
    """The conditions of a cause: of its votes that count beside others, of its priors, its gate.

    `asked` are their tests, by the name of the observation that decides them.
    """

    votes: Mapping[str, Formula]
    cases: tuple[Formula, ...]
    gate: Formula
    asked: Mapping[str, AskedName]


class Formulas:
    """The conditions of all causes of some knowledge, each taken apart when it is asked for."""

    def __init__(self, causes: Mapping[str, Cause]) -> None:
        self._causes = causes
        self._tests: dict[str, SingleTest] = {}
        self._apart: dict[str, CauseFormulas] = {}

    def of(self, cause: str) -> CauseFormulas:
        """Give the conditions of a cause; whatever its weights come to, these stay."""
        if cause not in self._apart:
            self._apart[cause] = self._taken_apart(self._causes[cause])
        return self._apart[cause]

    def _taken_apart(self, cause: Cause) -> CauseFormulas:
        evidence = cause.evidence
        votes = {
            vote.id: self._formula(vote.when)
            for vote in (*evidence.supports, *evidence.contradicts)
            if not vote.alone
        }
        cases = tuple(self._formula(case.when) for case in cause.priors)
        gate = self._formula(Condition(all=tuple(_preconditions(cause))))
        asked: dict[str, tuple[dict[SingleTest, None], dict[str, None]]] = {}
        before = ((BEFORE_VOTES, formula) for formula in (*cases, gate))
        for vote, formula in (*votes.items(), *before):
            for test in _tests(formula):
                tests, named = asked.setdefault(test.name, ({}, {}))
                tests[test] = None
                named[vote] = None
        return CauseFormulas(
            votes,
            cases,
            gate,
            {name: AskedName(tuple(tests), tuple(named)) for name, (tests, named) in asked.items()},
        )

    def _formula(self, condition: Condition) -> Formula:
        if condition.not_ is not None:
            return JoinedTests("not", (self._formula(condition.not_),))
        parts = condition.all if condition.all is not None else condition.any
        if parts is not None:
            word = "all" if condition.all is not None else "any"
            return JoinedTests(word, tuple(map(self._formula, parts)))
        return self._tests.setdefault(repr(condition), SingleTest(_name(condition), condition))


def _tests(formula: Formula) -> Iterator[SingleTest]:
    if isinstance(formula, SingleTest):
        yield formula
    else:
        for part in formula.parts:
            yield from _tests(part)


def _name(test: Condition) -> str:
    if test.fact is not None:
        return test.fact
    return SYMPTOM + test.symptom if test.symptom is not None else f"{VERSION}{test.package}"


def _preconditions(cause: Cause) -> Iterator[Condition]:
    """Give what must hold for a cause to be at work at all."""
    if cause.requires is not None:
        yield cause.requires
    for package, spec in cause.applies_to.items():
        yield Condition(package=package, versions=spec)


class DecidedFormulas:
    """What is known to hold of a job, each part decided once."""

    def __init__(self, known: Situation) -> None:
        self._known = known
        self._found: dict[Formula, bool | None] = {}

    def of(self, formula: Formula) -> bool | None:
        """Decide a formula."""
        if formula not in self._found:
            if isinstance(formula, SingleTest):
                found = decide(formula.condition, self._known)
            else:
                found = formula.join([self.of(part) for part in formula.parts])
            self._found[formula] = found
        return self._found[formula]
