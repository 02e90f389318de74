"""Whether a condition holds for a launch: true, false, or nobody can tell.

The same three-valued logic the inference engines decide (Kleene): a test of a fact that is not
known is unknown, `all` is false as soon as one part is. Here a condition is a function, because a
lint run decides some hundred of them on one small set of facts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from trainrx.model.facts import Facts, Scalar
from trainrx.model.parts import Condition
from trainrx.versions.ranges import in_range

_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def holds(condition: Condition, facts: Facts, versions: Mapping[str, str]) -> bool | None:
    """Decide a condition; what is said of symptoms is unknown, as there is no log.

    Args:
        condition: the condition.
        facts: what is known of the launch.
        versions: package name to version text, which may be a prefix or a range.
    """
    if condition.fact is not None:
        return _test(condition, facts)
    if condition.all is not None:
        return _all(condition.all, facts, versions)
    if condition.any is not None:
        return _any(condition.any, facts, versions)
    if condition.not_ is not None:
        inner = holds(condition.not_, facts, versions)
        return None if inner is None else not inner
    if condition.package is not None:
        present = versions.get(condition.package)
        return in_range(present, condition.versions or "") if present else None
    return None


def _all(parts: tuple[Condition, ...], facts: Facts, versions: Mapping[str, str]) -> bool | None:
    answer: bool | None = True
    for part in parts:
        truth = holds(part, facts, versions)
        if truth is False:
            return False
        if truth is None:
            answer = None
    return answer


def _any(parts: tuple[Condition, ...], facts: Facts, versions: Mapping[str, str]) -> bool | None:
    answer: bool | None = False
    for part in parts:
        truth = holds(part, facts, versions)
        if truth is True:
            return True
        if truth is None:
            answer = None
    return answer


def _test(node: Condition, facts: Facts) -> bool | None:
    value = facts.value(node.fact or "")
    if node.known is not None:
        return node.known is (value is not None)
    if value is None:
        return None
    if node.one_of is not None:
        return any(_same(value, wanted) for wanted in node.one_of)
    if node.eq is not None:
        return _same(value, node.eq)
    if node.ne is not None:
        return not _same(value, node.ne)
    for name, compare in _COMPARE.items():
        limit = getattr(node, name)
        if limit is not None:
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            return compare(float(value), limit) if number else None
    return None


def _same(value: Scalar, wanted: Scalar) -> bool:
    """Compare two scalars; true is not 1."""
    if isinstance(value, bool) or isinstance(wanted, bool):
        return value is wanted
    if isinstance(value, str) or isinstance(wanted, str):
        return isinstance(value, str) and isinstance(wanted, str) and value == wanted
    return float(value) == float(wanted)
