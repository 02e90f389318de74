"""What can still be found out about a failure, and what each outcome would do to its causes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial

import msgspec

from trainrx.knowledge.conditions import OPS
from trainrx.knowledge.store import Knowledge
from trainrx.model.facts import SYMPTOM, UNSEEN, Fact, Scalar
from trainrx.model.parts import Condition
from trainrx.reason.conditions import LOG_GIVEN, Situation, fits, of_fact, of_package
from trainrx.reason.formulas import VERSION, DecidedFormulas, Formulas, SingleTest
from trainrx.reason.information import Shifts
from trainrx.reason.outcomes import Truth, Weighing
from trainrx.reason.reasoner import Reasoning
from trainrx.reason.score import Scored
from trainrx.versions.listing import is_whole
from trainrx.versions.ranges import read_range

YES, NO = "yes", "no"
OTHER = ""
"""A text that no condition tests."""
BEFORE, AFTER = "0.0.1", "9999.0.0"
"""A release before all that ranges name, and one after."""
FINE = 0.01
MOST_KEPT = 8192
"""Sets of tests of which is kept what they tell apart; the shipped causes have some 3,000."""

RARE = -1.5
"""How much rarer it is that a symptom somebody looks for was there (nats)."""

FSDP = "parallel.fsdp_"
OF_DEEPSPEED = ("parallel.zero_stage", "parallel.offload_optimizer", "parallel.offload_params")
"""Facts that mean nothing where DeepSpeed is not installed."""
OF_RELEASES = ("packages.", "model.transformers_too_old", "argument.")
"""What begins the names of facts that follow from the installed releases, for what was given."""
OF_MESSAGES = ("advice.", "symbol.")
"""What begins the names of facts that are read from the message of an exception."""

Decided = Callable[[Condition], bool | None]
"""Decides a test."""


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """Something not known: a fact, a symptom (`symptom.ID`), a release (`version.PACKAGE`).

    `outcomes` are what can come out, as what it does to each cause; `told` names them, `bases` says
    how likely they are for a cause that says nothing of it (nats).
    """

    name: str
    told: tuple[str, ...]
    outcomes: tuple[Shifts, ...]
    bases: tuple[float, ...]


class Observables:
    """What the causes of some knowledge ask for, and what can come out of it, whatever the job is.

    Worked out when it is asked for, and kept.
    """

    def __init__(self, knowledge: Knowledge) -> None:
        self.formulas = Formulas(knowledge.causes)
        self.told_apart = lru_cache(maxsize=MOST_KEPT)(_told_apart)


def observations(
    scored: Sequence[Scored], reasoning: Reasoning, observables: Observables
) -> list[Observation]:
    """List what would change the score of some causes, by name.

    Outcomes that do the same to all causes count as one.
    """
    known = reasoning.situation
    decided = DecidedFormulas(known)
    asking: dict[str, list[Weighing]] = {}
    for item in scored:
        weighing = Weighing(item, observables.formulas.of(item.cause.id), decided)
        for name in weighing.formulas.asked:
            asking.setdefault(name, []).append(weighing)
    made = (
        _observation(name, asking[name], observables)
        for name in sorted(asking)
        if not _is_settled(name, known)
    )
    return [item for item in made if len(item.outcomes) > 1]


def _is_settled(name: str, known: Situation) -> bool:
    """Tell whether nothing is left to find out of something."""
    if name.startswith(VERSION):
        return name.removeprefix(VERSION) in known.versions or is_whole(known.versions.keys())
    if not name.startswith(SYMPTOM):
        return name in known.facts or _is_beside(name, known)
    symptom = name.removeprefix(SYMPTOM)
    entry = (known.symptoms or {}).get(symptom)
    if entry is None or UNSEEN + symptom in known.facts or known.facts.sightings(symptom):
        return True
    return entry.shows_in_log and known.facts.value(LOG_GIVEN) is True


def _is_beside(name: str, known: Situation) -> bool:
    """Tell whether a fact is of something that this job has nothing to do with."""
    if name.startswith("vision."):
        return known.facts.value("model.is_vision") is False
    listed = is_whole(known.versions.keys())
    launched = known.facts.value("launch.given") is True or not name.startswith("argument.")
    if listed and launched and name.startswith(OF_RELEASES):
        return True
    if name.startswith("failure.") and "failure.error" in known.facts:
        # the traceback was read: what it leaves open nobody who asks can add
        return True
    if name in OF_DEEPSPEED:
        return listed and "deepspeed" not in known.versions
    if name.startswith(OF_MESSAGES) and known.facts.value(LOG_GIVEN) is True:
        # all that decides it was given: who has no more to give cannot answer
        return listed or not name.startswith("symbol.")
    if not name.startswith(FSDP) or known.facts.value("launch.given") is not True:
        return False
    return not any(fact.kind.startswith((FSDP, "accelerate.")) for fact in known.facts)


def _observation(name: str, asking: Sequence[Weighing], observables: Observables) -> Observation:
    """Try what can come out; the first of outcomes that do the same is named."""
    tests = dict.fromkeys(test for one in asking for test in one.formulas.asked[name].tests)
    told, open_ = observables.told_apart(name, tuple(tests))
    columns = [one.shifts(name, open_, len(told)) for one in asking]
    distinct: dict[tuple[float, ...], str] = {}
    for outcome, shifts in zip(told, zip(*columns, strict=True), strict=True):
        distinct.setdefault(shifts, outcome)
    causes = [one.cause for one in asking]
    return Observation(
        name=name,
        told=tuple(distinct.values()),
        outcomes=tuple(dict(zip(causes, shifts, strict=True)) for shifts in distinct),
        bases=tuple(
            RARE if name.startswith(SYMPTOM) and one != NO else 0.0 for one in distinct.values()
        ),
    )


def _told_apart(
    name: str, tests: tuple[SingleTest, ...]
) -> tuple[tuple[str, ...], dict[SingleTest, Truth]]:
    """Give the outcomes that some test tells apart, and what each test says of them."""
    conditions = [test.condition for test in tests]
    apart: dict[tuple[bool | None, ...], str] = {}
    for outcome, decided in _outcomes(name, conditions):
        apart.setdefault(tuple(map(decided, conditions)), outcome)
    columns = map(_truth, zip(*apart, strict=True))
    return tuple(apart.values()), dict(zip(tests, columns, strict=True))


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
