"""Decide a condition on the facts of one job, without an inference engine.

Levers and a framework's own checks are asked of thousands of candidate jobs; their conditions test
facts and versions only, no symptoms. Kleene's three values, as in `trainrx.reason.conditions`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from trainrx.model.facts import Facts, Scalar
from trainrx.model.parts import Condition
from trainrx.versions.ranges import in_range


def holds(condition: Condition, facts: Facts, versions: Mapping[str, str]) -> bool | None:
    """Tell whether a condition is true, false or (None) cannot be decided."""
    if condition.all is not None:
        return _all(holds(part, facts, versions) for part in condition.all)
    if condition.any is not None:
        return _not(_all(_not(holds(part, facts, versions)) for part in condition.any))
    if condition.not_ is not None:
        return _not(holds(condition.not_, facts, versions))
    if condition.package is not None:
        present = versions.get(condition.package)
        return in_range(present, condition.versions or "") if present else None
    return _fact(condition, facts) if condition.fact is not None else None


def _all(parts: Iterable[bool | None]) -> bool | None:
    found = list(parts)
    if False in found:
        return False
    return None if None in found else True


def _not(value: bool | None) -> bool | None:
    return None if value is None else not value


def _fact(test: Condition, facts: Facts) -> bool | None:
    value = facts.value(test.fact or "")
    if test.known is not None:
        return (value is not None) is test.known
    if value is None:
        return None
    wanted = test.one_of if test.one_of is not None else (test.eq, test.ne)
    told = [other for other in wanted if other is not None]
    if not told:
        return _compared(test, value)
    if not any(_sort(value) is _sort(other) for other in told):
        return None  # a text says nothing of a number
    return (value in told) is (test.ne is None)


def _compared(test: Condition, value: Scalar) -> bool | None:
    if isinstance(value, (bool, str)):
        return None
    if test.lt is not None:
        return value < test.lt
    if test.le is not None:
        return value <= test.le
    if test.gt is not None:
        return value > test.gt
    return None if test.ge is None else value >= test.ge


def _sort(value: Scalar) -> type:
    if isinstance(value, (bool, str)):
        return type(value)
    return float
