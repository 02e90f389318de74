"""What every inference engine takes and gives: patterns and their meaning, rules, firings."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, Protocol

import msgspec

from trainrx.model.facts import Fact, Scalar

Op = Literal["eq", "ne", "lt", "le", "gt", "ge", "known", "missing"]
Sort = Literal["bool", "num", "str"]
Sorts = Mapping[tuple[str, str], Sort]
"""The sort of a field of a kind, as the rules use it."""

COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
MAX_TEXT = 4000
"""Longest text an engine compares, in characters (the C engine compares lengths mod 65,536)."""
MAX_INTEGER = 2**53
"""Integers beyond this are not exact in the C engine's doubles, so no engine compares them."""
MAX_FLOAT = 1e300


class EngineError(Exception):
    """An engine is not usable here, refused its input or misbehaved; another one may do."""


class RuleError(Exception):
    """A rule base lies outside what the engines handle safely; `rule` names the culprit."""

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(f"{rule}: {message}" if rule else message)
        self.rule = rule
        self.message = message


class Check(msgspec.Struct, frozen=True):
    """A test of one field; `known` and `missing` take no value.

    A field that is missing, cannot be compared, or has another sort than the rules use matches
    nothing but `missing`.
    """

    field: str
    op: Op
    value: Scalar | None = None


class Pattern(msgspec.Struct, frozen=True, kw_only=True, cache_hash=True):
    """Facts of one kind that pass all checks, or (`absent`) the certainty that there is none.

    `lenient` (only with `absent`) counts a missing field as passed, so that absence means "none
    that could match", not "none that is known to match".
    """

    kind: str
    checks: tuple[Check, ...] = ()
    alias: str = ""
    absent: bool = False
    lenient: bool = False


class Join(msgspec.Struct, frozen=True, kw_only=True):
    """A comparison of fields of two matched facts.

    `same` lists fields that must agree besides; there, missing agrees with missing.
    """

    left: str
    left_field: str
    op: Op
    right: str
    right_field: str
    same: tuple[str, ...] = ()


class Copy(msgspec.Struct, frozen=True):
    """The value of a field of a matched fact."""

    alias: str
    field: str


class Template(msgspec.Struct, frozen=True, kw_only=True):
    """A fact to conclude; it is not made when a field it copies is missing."""

    kind: str
    fields: tuple[tuple[str, Scalar | Copy], ...] = ()


class EngineRule(msgspec.Struct, frozen=True, kw_only=True):
    """A rule as engines run it: all patterns match distinct facts and all joins hold."""

    id: str
    when: tuple[Pattern, ...]
    joins: tuple[Join, ...] = ()
    derive: tuple[Template, ...] = ()


class Firing(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that held, with the index of the fact that filled each of its positive patterns."""

    rule: str
    facts: tuple[int, ...]
    stratum: int = 0


class Inference(msgspec.Struct, frozen=True, kw_only=True):
    """What followed: all facts (given first), the firings, and what each derived fact rests on.

    Everything is in canonical order, so that it does not depend on the order of the input.
    """

    facts: tuple[Fact, ...]
    firings: tuple[Firing, ...]
    support: Mapping[int, tuple[Firing, ...]]


class Engine(Protocol):
    """Runs one rule base over facts."""

    @property
    def name(self) -> str:
        """Say what runs, with its version."""
        ...

    def infer(self, facts: Iterable[Fact]) -> Inference:
        """Apply the rules until nothing new follows.

        Raises:
            EngineError: the engine failed or the facts exceed a limit.
        """
        ...

    def close(self) -> None:
        """Release what the engine holds; it cannot be used afterwards."""
        ...


def comparable(value: object) -> Scalar | None:
    """Give a value as engines compare it, or None when they cannot."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) <= MAX_INTEGER else None
    if isinstance(value, float):
        return value if math.isfinite(value) and abs(value) < MAX_FLOAT else None
    if isinstance(value, str) and len(value) <= MAX_TEXT:
        # lone surrogates (broken input bytes) have no UTF-8 form
        return value.encode("utf-8", "replace").decode()
    return None


def sort_of(value: Scalar) -> Sort:
    """Say which values a value can be compared with."""
    if isinstance(value, bool):
        return "bool"
    return "str" if isinstance(value, str) else "num"


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
