"""Whether a condition of `kb/` or `rules/` holds: true, false or (None) unknown.

Kleene's logic: a test of what is not known is unknown, `all` is false as soon as one part is. All
conditions are decided here, whoever asks: causes, fixes, guards, levers, lint, the planner.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from trainrx.knowledge.conditions import OPS, parts_of
from trainrx.model.facts import UNSEEN, Fact, Facts, Origin, Scalar, fact, identity
from trainrx.model.parts import Condition
from trainrx.versions.ranges import in_range

if TYPE_CHECKING:
    from trainrx.model.knowledge import Symptom  # lint does without symptoms

LOG_GIVEN = "log.given"
LAUNCH_GIVEN = "launch.given"
OF_THE_WHOLE = (LAUNCH_GIVEN, "launch.env_complete", "launch.framework", LOG_GIVEN)
"""What holds of the whole job: the line it was read from shows nothing of a single setting."""
UNSET = "none"
"""The value of an argument that is set to nothing: no number and no switch."""
MOST_ALIKE = 4
"""How many sightings are evidence that a test cannot tell apart."""
MOST_EVIDENCE = 12
_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {op: getattr(operator, op) for op in OPS}


class Situation(NamedTuple):
    """What conditions are decided on.

    A symptom is false where somebody looked for it in vain (`unseen.ID`), or where a log is at hand
    and holds no line that could be it, unless the log is not where it shows (`symptoms` tells).
    Without `symptoms` nothing is said of any: the facts are those of a launch, of which no log
    speaks.
    """

    facts: Facts
    versions: Mapping[str, str]
    symptoms: Mapping[str, Symptom] | None = None


def holds(condition: Condition, facts: Facts, versions: Mapping[str, str]) -> bool | None:
    """Decide a condition on a launch alone."""
    return decide(condition, Situation(facts, versions))


def decide(condition: Condition, situation: Situation) -> bool | None:
    """Decide a condition."""
    if condition.fact is not None:
        if condition.known is False and situation.facts.is_open(condition.fact):
            return None
        return of_fact(condition, situation.facts.value(condition.fact))
    if condition.all is not None:
        return _all(decide(part, situation) for part in condition.all)
    if condition.any is not None:
        return _any(decide(part, situation) for part in condition.any)
    if condition.not_ is not None:
        return _not(decide(condition.not_, situation))
    if condition.package is not None:
        return of_package(condition, situation.versions.get(condition.package))
    found = _of_symptom(condition, situation)
    return found if condition.seen else _not(found)


def evidence(condition: Condition, situation: Situation) -> tuple[Fact, ...]:
    """Give the facts that decide a condition, in their order; none where it is unknown.

    No line shows that something is absent: then the launch stands for it, where one was read.
    """
    found = decide(condition, situation)
    decided = [] if found is None else list(dict.fromkeys(_deciding(condition, situation, found)))
    telling = [item for item in decided if item.kind not in OF_THE_WHOLE]
    if telling or any(map(_is_absence, parts_of(condition))):
        decided = telling or [item for item in decided if item.kind == LAUNCH_GIVEN]
    if len(decided) > 1:
        order = {id(item): at for at, item in enumerate(situation.facts)}
        decided.sort(key=lambda item: (order.get(id(item), len(order)), item.kind))
    return tuple(decided[:MOST_EVIDENCE])


def _is_absence(part: Condition) -> bool:
    return part.known is False or (part.symptom is not None and not part.seen)


def _deciding(condition: Condition, situation: Situation, found: bool) -> Iterator[Fact]:
    """Give the facts that make a condition true, or false: those of each part that decides."""
    if condition.not_ is not None:
        yield from _deciding(condition.not_, situation, not found)
    elif condition.all is not None or condition.any is not None:
        for part in condition.all or condition.any or ():
            if decide(part, situation) is found:
                yield from _deciding(part, situation, found)
    elif condition.package is not None:
        yield from _release(condition, situation)
    elif condition.symptom is not None and condition.seen is found:
        yield from _sighted(condition, situation)
    else:
        facts = situation.facts
        looked = facts.get(f"{UNSEEN}{condition.symptom}")
        known = looked or facts.get(condition.fact or LOG_GIVEN)
        yield from () if known is None else (known,)


def _all(parts: Iterable[bool | None]) -> bool | None:
    found: bool | None = True
    for part in parts:
        if part is False:
            return False
        if part is None:
            found = None
    return found


def _any(parts: Iterable[bool | None]) -> bool | None:
    return _not(_all(_not(part) for part in parts))


def _not(value: bool | None) -> bool | None:
    return None if value is None else not value


def of_fact(test: Condition, value: Scalar | None) -> bool | None:
    """Decide the test of a fact on its value; None is unknown."""
    if test.known is not None:
        return (value is not None) is test.known
    if value is None:
        return None
    if test.one_of is not None:
        return _any(compare(value, "eq", wanted) for wanted in test.one_of)
    for op in OPS:
        wanted = getattr(test, op)
        if wanted is not None:
            return compare(value, op, wanted)
    return None


def of_package(test: Condition, present: str | None) -> bool | None:
    """Decide the test of a package on its version; None or "" is unknown."""
    found = in_range(present, test.versions or "") if present else None
    return found if test.known is None else (found is not None) is test.known


def _of_symptom(test: Condition, situation: Situation) -> bool | None:
    name, symptoms = test.symptom or "", situation.symptoms
    if symptoms is None:
        return None
    could_be = [fits(test.if_ or {}, one) for one in situation.facts.sightings(name)]
    if True in could_be:
        return True
    if situation.facts.value(UNSEEN + name) is True:
        return False
    shown = name not in symptoms or symptoms[name].shows_in_log
    read = situation.facts.value(LOG_GIVEN) is True
    return False if shown and read and None not in could_be else None


def fits(tests: Mapping[str, Scalar | Mapping[str, Scalar]], sighting: Fact) -> bool | None:
    """Tell whether a sighting is the one in question; one whose field is not known may be it."""
    return _all(
        compare(sighting.get(field), op, wanted)
        for field, asked in tests.items()
        for op, wanted in (asked if isinstance(asked, Mapping) else {"eq": asked}).items()
    )


def compare(value: Scalar | None, op: str, wanted: Scalar | None) -> bool | None:
    """Compare two values; of one that is not known, or of another type, nobody can tell."""
    if op == "known":
        return (value is not None) is wanted
    if value is None or wanted is None:
        return None
    if _sort(value) is _sort(wanted):
        return _COMPARE[op](value, wanted)
    # of a number no text tells but the one that says there is none
    return op == "ne" if value == UNSET and op in ("eq", "ne") else None


def _sort(value: Scalar) -> type:
    return type(value) if isinstance(value, (bool, str)) else float


def _release(test: Condition, situation: Situation) -> Iterator[Fact]:
    package, spec = test.package or "", test.versions or ""
    present = situation.versions.get(package)
    if present and (found := in_range(present, spec)) is not None:
        origin = Origin(source=f"{package} {present}")
        yield fact(f"version.{package} {spec}", found, origin, how="derived")


def _sighted(test: Condition, situation: Situation) -> Iterator[Fact]:
    """Give the sightings that fit; of those alike in what is tested the first few."""
    number: dict[tuple[Scalar | None, ...], int] = {}
    tests = test.if_ or {}
    fitting = (s for s in situation.facts.sightings(test.symptom or "") if fits(tests, s))
    for sighting in sorted(fitting, key=_time):
        key = tuple(sighting.get(field) for field in tests)
        number[key] = number.get(key, 0) + 1
        if number[key] <= MOST_ALIKE:
            yield sighting


def _time(sighting: Fact) -> tuple[object, ...]:
    at = sighting.get("at")
    known = isinstance(at, (int, float)) and not isinstance(at, bool)
    return (at if known else math.inf, *identity(sighting))
