"""The meaning of patterns and joins, in plain Python: what every engine must agree with."""

from __future__ import annotations

from collections.abc import Mapping

from trainrx.model.facts import Fact, Scalar
from trainrx.reason.base import COMPARE, Check, Join, Pattern, Sort, comparable, sort_of

Sorts = Mapping[tuple[str, str], Sort]
"""The sort of a field of a kind, as the rules use it."""


def field_value(fact: Fact, field: str, sorts: Sorts) -> Scalar | None:
    """Give a field as rules see it: None when missing, not comparable or of another sort."""
    value = comparable(fact.get(field))
    if value is None:
        return None
    return value if sorts.get((fact.kind, field), sort_of(value)) == sort_of(value) else None


def matches(pattern: Pattern, fact: Fact, sorts: Sorts) -> bool:
    """Tell whether a fact passes all checks of a pattern (whether or not it is an absent one)."""
    return fact.kind == pattern.kind and all(
        _passes(check, field_value(fact, check.field, sorts), pattern.lenient)
        for check in pattern.checks
    )


def joined(join: Join, by_alias: Mapping[str, Fact]) -> bool:
    """Tell whether a join holds; it never does when a field is missing or the sorts differ."""
    one, two = by_alias[join.left], by_alias[join.right]
    left, right = comparable(one.get(join.left_field)), comparable(two.get(join.right_field))
    if left is None or right is None or sort_of(left) != sort_of(right):
        return False
    if any(comparable(one.get(name)) != comparable(two.get(name)) for name in join.same):
        return False
    return COMPARE[join.op](left, right)


def _passes(check: Check, value: Scalar | None, lenient: bool) -> bool:
    if check.op == "missing":
        return value is None
    if value is None:
        return lenient
    return check.op == "known" or COMPARE[check.op](value, check.value)
