"""What can still be found out about a failure, and what each outcome would do to its causes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import msgspec
from packaging.specifiers import SpecifierSet

from trainrx.knowledge.conditions import OPS, parts_of
from trainrx.model.facts import SYMPTOM, UNSEEN, Fact, Facts, Scalar, fact
from trainrx.model.knowledge import Cause
from trainrx.model.parts import Condition
from trainrx.reason.conditions import LOG_GIVEN, Situation
from trainrx.reason.information import Shifts
from trainrx.reason.reasoner import Reasoning
from trainrx.reason.score import Scored, Weighing, ruled_out

VERSION = "version."
"""What the name of an observation begins with that is the release of a package."""
RULED_OUT = -6.0
"""What an outcome does to a cause that it rules out (nats)."""
YES, NO = "yes", "no"
OTHER = ""
"""A text that no condition tests."""
BEFORE, AFTER = "0.0.1", "9999.0.0"
"""A release before all that ranges name, and one after."""
FINE = 0.01

RARE = -1.5
"""How much rarer it is that a symptom somebody looks for was there (nats)."""

Tests = dict[str, list[Condition]]
"""The tests of conditions, by the observation that decides them."""


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """Something not known: a fact, a symptom (`symptom.ID`), a release (`version.PACKAGE`).

    `outcomes` are what can come out, as what it does to each cause; `told` names them, `bases` says
    how likely they are for a cause that says nothing of it (nats).
    """

    name: str
    told: tuple[str, ...]
    outcomes: tuple[Shifts, ...]
    bases: tuple[float, ...]


def observations(scored: Sequence[Scored], reasoning: Reasoning) -> list[Observation]:
    """List what would change the score of some causes, by name.

    Outcomes that do the same to all causes count as one.
    """
    asking: dict[str, list[_Asker]] = {}
    for item in scored:
        for name, asker in _askers(item, reasoning):
            asking.setdefault(name, []).append(asker)
    known = reasoning.situation
    made = (_observation(name, asking[name], known) for name in sorted(asking))
    return [item for item in made if len(item.outcomes) > 1]


class _Asker(NamedTuple):
    """A cause that asks for something, by these tests.

    `votes` is what is left to decide of the votes that ask; `whole`: its prior or its preconditions
    do as well.
    """

    cause: Cause
    weighing: Weighing
    tests: list[Condition]
    votes: dict[str, Condition]
    whole: bool
    is_out: bool

    def shift(self, then: Situation) -> float:
        if ruled_out(self.cause, then) if self.whole else self.is_out:
            return RULED_OUT
        return round(self.weighing.shift(then, self.votes, prior=self.whole), 3)


def _askers(item: Scored, reasoning: Reasoning) -> Iterator[tuple[str, _Asker]]:
    """Give what a cause asks for."""
    cause, known = item.cause, reasoning.situation
    weighing = Weighing(cause, reasoning)
    is_out = ruled_out(cause, known)
    for name, (tests, votes) in _asked(cause, known).items():
        left = weighing.open_votes(votes, partial(_is_of, name))
        yield name, _Asker(cause, weighing, tests, left, whole="" in votes, is_out=is_out)


def _is_of(name: str, test: Condition) -> bool:
    """Tell whether an observation decides a test."""
    if test.fact is not None:
        return test.fact == name
    subject = SYMPTOM + test.symptom if test.symptom is not None else f"{VERSION}{test.package}"
    return subject == name


def _asked(cause: Cause, known: Situation) -> dict[str, tuple[list[Condition], set[str]]]:
    """Give what a cause asks for, with the tests and the votes that do."""
    out: dict[str, tuple[list[Condition], set[str]]] = {}
    for vote, condition in _conditions(cause):
        found: Tests = {}
        _collect(condition, known, found)
        for name, nodes in found.items():
            tests, votes = out.setdefault(name, ([], set()))
            tests += nodes
            votes.add(vote)
    return out


def _conditions(cause: Cause) -> Iterator[tuple[str, Condition]]:
    """Give the conditions of a cause, each with the id of its vote, "" where it is none."""
    votes = (*cause.evidence.supports, *cause.evidence.contradicts)
    yield from ((vote.id, vote.when) for vote in votes if not vote.alone)
    yield from (("", case.when) for case in cause.priors)
    if cause.requires is not None:
        yield "", cause.requires
    for package, spec in cause.applies_to.items():
        yield "", Condition(package=package, versions=spec)


def _collect(condition: Condition, known: Situation, into: Tests) -> None:
    """Add the tests of a condition that nobody can decide yet."""
    for node in parts_of(condition):
        if node.fact is not None:
            name = "" if node.fact in known.facts else node.fact
        elif node.symptom is not None:
            name = "" if _is_settled(node.symptom, known) else SYMPTOM + node.symptom
        elif node.package is not None:
            name = "" if node.package in known.versions else VERSION + node.package
        else:
            continue
        if name:
            into.setdefault(name, []).append(node)


def _is_settled(symptom: str, known: Situation) -> bool:
    """Tell whether a symptom was seen, or looked for in vain."""
    entry = (known.symptoms or {}).get(symptom)
    if entry is None or UNSEEN + symptom in known.facts or known.facts.sightings(symptom):
        return True
    return entry.shows_in_log and known.facts.value(LOG_GIVEN) is True


def _observation(name: str, asking: Sequence[_Asker], known: Situation) -> Observation:
    """Try what can come out; the first of outcomes that do the same is named."""
    distinct: dict[tuple[float, ...], tuple[str, Shifts]] = {}
    tests = [test for item in asking for test in item.tests]
    for outcome, then in _outcomes(name, tests, known):
        shifts = {item.cause.id: item.shift(then) for item in asking}
        distinct.setdefault(tuple(shifts.values()), (outcome, shifts))
    told = tuple(outcome for outcome, _ in distinct.values())
    return Observation(
        name=name,
        told=told,
        outcomes=tuple(shifts for _, shifts in distinct.values()),
        bases=tuple(RARE if name.startswith(SYMPTOM) and one != NO else 0.0 for one in told),
    )


def _outcomes(
    name: str, tests: Sequence[Condition], known: Situation
) -> Iterator[tuple[str, Situation]]:
    """Give what can come out of an observation, with what is known then."""
    if name.startswith(VERSION):
        package = name.removeprefix(VERSION)
        for version in _versions(test.versions or "" for test in tests):
            yield version, known._replace(versions={**known.versions, package: version})
        return
    found = _sightings(name, tests) if name.startswith(SYMPTOM) else _facts(name, tests)
    for told, made in found:
        yield told, known._replace(facts=_with(known, made))


def _with(known: Situation, made: Fact) -> Facts:
    facts = Facts(known.facts)
    facts.add(made)
    return facts


def _facts(name: str, tests: Sequence[Condition]) -> Iterator[tuple[str, Fact]]:
    for value in dict.fromkeys(_values(tests)):
        yield _named_value(value), fact(name, value)


def _named_value(value: Scalar) -> str:
    return (YES if value else NO) if isinstance(value, bool) else str(value)


def _values(tests: Iterable[Condition]) -> Iterator[Scalar]:
    """Give the values that tests tell apart, and one beside all of them."""
    for test in tests:
        named = [*(test.one_of or ()), *(v for op in OPS if (v := getattr(test, op)) is not None)]
        if test.known is not None:
            yield OTHER
        for value in named:
            if isinstance(value, bool):
                yield from (True, False)
            elif isinstance(value, str):
                yield from (value, OTHER)
            else:
                step = 1 if isinstance(value, int) or value.is_integer() else FINE
                yield from (value, value - step, value + step)


def _sightings(name: str, tests: Iterable[Condition]) -> Iterator[tuple[str, Fact]]:
    yield NO, fact(UNSEEN + name.removeprefix(SYMPTOM), True)
    for test in tests:
        fields = tuple((field, _named(wanted)) for field, wanted in (test.if_ or {}).items())
        told = ", ".join(f"{field} {value}" for field, value in fields)
        yield told or YES, Fact(kind=name, fields=fields)


def _named(wanted: Scalar | Mapping[str, Scalar]) -> Scalar:
    """Give the value a test of a captured field names."""
    return next(iter(wanted.values())) if isinstance(wanted, Mapping) else wanted


def _versions(specs: Iterable[str]) -> Iterator[str]:
    """Give releases that lie in different ranges."""
    bounds = (bound.version for spec in specs for bound in SpecifierSet(spec))
    yield from dict.fromkeys((BEFORE, AFTER, *map(_in_full, bounds)))


def _in_full(version: str) -> str:
    """Name one release: a shorter text stands for all that begin so."""
    text = version.removesuffix(".*")
    return text + ".0" * max(0, 2 - text.count(".")) if text.replace(".", "").isdigit() else text
