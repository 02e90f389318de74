"""What can still be found out about a failure, and what each outcome would do to its causes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from trainrx.knowledge.conditions import OPS, parts_of
from trainrx.model.facts import SYMPTOM, UNSEEN, Fact, Scalar
from trainrx.model.parts import Condition
from trainrx.reason.conditions import LOG_GIVEN, Situation, fits, of_fact, of_package
from trainrx.reason.information import Shifts
from trainrx.reason.outcomes import Truth, Weighing
from trainrx.reason.reasoner import Reasoning
from trainrx.reason.score import Scored
from trainrx.versions.ranges import read_range

VERSION = "version."
"""What the name of an observation begins with that is the release of a package."""
YES, NO = "yes", "no"
OTHER = ""
"""A text that no condition tests."""
BEFORE, AFTER = "0.0.1", "9999.0.0"
"""A release before all that ranges name, and one after."""
FINE = 0.01

RARE = -1.5
"""How much rarer it is that a symptom somebody looks for was there (nats)."""

Decided = Callable[[Condition], bool | None]
"""Decides a test."""
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
    known = reasoning.situation
    asking: dict[str, list[_Asker]] = {}
    for item in scored:
        weighing = Weighing(item, known)
        for name, (tests, votes) in _asked(weighing, known).items():
            asker = _Asker(item.cause.id, weighing, tests, votes)
            asking.setdefault(name, []).append(asker)
    made = (_observation(name, asking[name]) for name in sorted(asking))
    return [item for item in made if len(item.outcomes) > 1]


class _Asker(NamedTuple):
    """A cause that asks for something by these tests, in these votes ("": before any vote)."""

    cause: str
    weighing: Weighing
    tests: list[Condition]
    votes: set[str]


def _asked(weighing: Weighing, known: Situation) -> dict[str, tuple[list[Condition], set[str]]]:
    """Give what a cause asks for, with the tests and the votes that do."""
    out: dict[str, tuple[list[Condition], set[str]]] = {}
    whole = (("", when) for when in (*(when for when, _ in weighing.cases), weighing.gate))
    for vote, condition in (*weighing.conditions.items(), *whole):
        found: Tests = {}
        _collect(condition, known, found)
        for name, nodes in found.items():
            tests, votes = out.setdefault(name, ([], set()))
            tests += nodes
            votes.add(vote)
    return out


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


def _observation(name: str, asking: Sequence[_Asker]) -> Observation:
    """Try what can come out; the first of outcomes that do the same is named."""
    told, open_ = _told_apart(name, [test for item in asking for test in item.tests])
    columns = [
        item.weighing.shifts(item.votes, open_, len(told), whole="" in item.votes)
        for item in asking
    ]
    distinct: dict[tuple[float, ...], str] = {}
    for outcome, shifts in zip(told, zip(*columns, strict=True), strict=True):
        distinct.setdefault(shifts, outcome)
    causes = [item.cause for item in asking]
    return Observation(
        name=name,
        told=tuple(distinct.values()),
        outcomes=tuple(dict(zip(causes, shifts, strict=True)) for shifts in distinct),
        bases=tuple(
            RARE if name.startswith(SYMPTOM) and one != NO else 0.0 for one in distinct.values()
        ),
    )


def _told_apart(name: str, tests: Sequence[Condition]) -> tuple[list[str], dict[int, Truth]]:
    """Give the outcomes that some test tells apart, and by its `id` what each test says of them."""
    texts = [repr(test) for test in tests]
    alike = dict(zip(texts, tests, strict=True))
    apart: dict[tuple[bool | None, ...], str] = {}
    for outcome, decided in _outcomes(name, alike.values()):
        apart.setdefault(tuple(map(decided, alike.values())), outcome)
    found = dict(zip(alike, map(_truth, zip(*apart, strict=True)), strict=True))
    return list(apart.values()), {id(t): found[text] for t, text in zip(tests, texts, strict=True)}


def _truth(column: Sequence[bool | None]) -> Truth:
    """Write as bits what a test says of each outcome."""
    return Truth(
        sum(1 << at for at, holds in enumerate(column) if holds),
        sum(1 << at for at, holds in enumerate(column) if holds is False),
    )


def _outcomes(name: str, tests: Collection[Condition]) -> Iterator[tuple[str, Decided]]:
    """Give what can come out of an observation, each with how it decides the tests."""
    if name.startswith(VERSION):
        for version in _versions(test.versions or "" for test in tests):
            yield version, partial(of_package, present=version)
    elif name.startswith(SYMPTOM):
        yield NO, partial(_of_sighting, sighting=None)
        for told, sighting in _sightings(name, tests):
            yield told, partial(_of_sighting, sighting=sighting)
    else:
        for value in dict.fromkeys(_values(tests)):
            yield _named_value(value), partial(of_fact, value=value)


def _of_sighting(test: Condition, sighting: Fact | None) -> bool | None:
    """Decide the test of a symptom that was seen so; None: that was looked for in vain."""
    found = False if sighting is None else fits(test.if_ or {}, sighting) or None
    return found if test.seen or found is None else not found


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
    for test in tests:
        fields = tuple((field, _named(wanted)) for field, wanted in (test.if_ or {}).items())
        told = ", ".join(f"{field} {value}" for field, value in fields)
        yield told or YES, Fact(kind=name, fields=fields)


def _named(wanted: Scalar | Mapping[str, Scalar]) -> Scalar:
    """Give the value a test of a captured field names."""
    return next(iter(wanted.values())) if isinstance(wanted, Mapping) else wanted


def _versions(specs: Iterable[str]) -> Iterator[str]:
    """Give releases that lie in different ranges."""
    bounds = (bound.version for spec in specs for bound in read_range(spec) or ())
    yield from dict.fromkeys((BEFORE, AFTER, *map(_in_full, bounds)))


def _in_full(version: str) -> str:
    """Name one release: a shorter text stands for all that begin so."""
    text = version.removesuffix(".*")
    return text + ".0" * max(0, 2 - text.count(".")) if text.replace(".", "").isdigit() else text
