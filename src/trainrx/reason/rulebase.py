"""A set of rules that every engine can run: validated, typed and put in strata."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from trainrx.model.facts import Fact
from trainrx.reason.base import (
    COMPARE,
    Check,
    EngineError,
    EngineRule,
    Pattern,
    RuleError,
    Sort,
    comparable,
    sort_of,
)
from trainrx.reason.limits import MAX_KINDS, MAX_NAME, MAX_PATTERNS, Usage, anonymous

MAX_COMBINATIONS = 100_000
"""Matches the C engine builds at once for one rule; 3 patterns on 150 facts took 1.1 GB."""


class RuleBase:
    """Rules checked against what engines handle safely.

    A rule that needs a fact to be absent runs in a later stratum than every rule that may derive
    it, so absence is final when it is used.

    Raises:
        RuleError: a rule is outside the safe subset; names it.
    """

    def __init__(self, rules: Sequence[EngineRule]) -> None:
        self.rules: Mapping[str, EngineRule] = {rule.id: rule for rule in rules}
        self.order: Mapping[str, int] = {rule.id: at for at, rule in enumerate(rules)}
        _check_ids(rules)
        for rule in rules:
            _check_shape(rule)
        usage = Usage()
        for rule in rules:
            usage.add(rule)
        if usage.problem is not None:
            raise RuleError(*usage.problem)
        self.sorts: Mapping[tuple[str, str], Sort] = sorts_used(rules)
        self.stratum: Mapping[str, int] = _strata(rules)
        self.strata = max(self.stratum.values(), default=0) + 1
        self.absents: Mapping[tuple[int, Pattern], int] = self._absents()
        self.fields: Mapping[str, tuple[str, ...]] = _fields(rules)
        self._readers = _readers(rules)
        self._equal_fields = _equal_fields(rules)

    def _absents(self) -> dict[tuple[int, Pattern], int]:
        """Number what must be absent, per stratum that asks for it."""
        needed = (
            (self.stratum[rule.id], anonymous(pattern))
            for rule in self.rules.values()
            for pattern in rule.when
            if pattern.absent
        )
        out = {key: number for number, key in enumerate(dict.fromkeys(needed))}
        if len(out) > MAX_KINDS:
            raise RuleError("", f"more than {MAX_KINDS} absent patterns over all strata")
        return out

    def size_keys(self, fact: Fact) -> Iterator[object]:
        """Name what a fact counts for: its kind, and each value rules compare it with by `eq`."""
        yield fact.kind
        for field in self._equal_fields.get(fact.kind, ()):
            yield fact.kind, field, comparable(fact.get(field))

    def check_combinations(
        self, sizes: Mapping[object, int], kinds: Collection[str] | None = None
    ) -> None:
        """Refuse facts (`sizes`: number by each of `size_keys`) whose cross product is too large.

        With `kinds`, only rules that read one of these are looked at.

        Raises:
            EngineError: a rule would see too many combinations; names it.
        """
        names = self._readers if kinds is None else [k for k in kinds if k in self._readers]
        for rule, keys in (reader for kind in names for reader in self._readers[kind]):
            product = math.prod(max(1, min(sizes.get(k, 0) for k in some)) for some in keys)
            if product > MAX_COMBINATIONS:
                raise EngineError(f"{rule}: {product} combinations of facts; summarise them first")


def positive(rule: EngineRule) -> tuple[Pattern, ...]:
    """Give the patterns that facts must fill."""
    return tuple(pattern for pattern in rule.when if not pattern.absent)


def sorts_used(rules: Iterable[EngineRule]) -> dict[tuple[str, str], Sort]:
    """Infer the sort of every tested field from the constants it is compared with.

    Raises:
        RuleError: a field is used with two sorts, or a constant or operator is not usable.
    """
    out: dict[tuple[str, str], Sort] = {}
    for rule in rules:
        for pattern in rule.when:
            for check in pattern.checks:
                if check.op in COMPARE:
                    sort = _constant_sort(rule, pattern, check)
                    known = out.setdefault((pattern.kind, check.field), sort)
                    if known != sort:
                        where = f"{pattern.kind}.{check.field}"
                        raise RuleError(rule.id, f"{where} used with two types: {known} and {sort}")
    return out


def _constant_sort(rule: EngineRule, pattern: Pattern, check: Check) -> Sort:
    value = comparable(check.value)
    where = f"{pattern.kind}.{check.field}"
    if value is None:
        raise RuleError(rule.id, f"{where}: {check.value!r} cannot be compared")
    sort = sort_of(value)
    if sort != "num" and check.op not in ("eq", "ne"):
        raise RuleError(rule.id, f"{where}: operator {check.op} needs a number, not {value!r}")
    return sort


def _check_ids(rules: Sequence[EngineRule]) -> None:
    twice = [ident for ident, n in Counter(rule.id for rule in rules).items() if n > 1]
    if twice:
        raise RuleError(twice[0], "stands twice")


def _check_shape(rule: EngineRule) -> None:
    names = [rule.id]
    for pattern in rule.when:
        names += [pattern.kind, *(check.field for check in pattern.checks)]
        for check in pattern.checks:
            if check.op not in (*COMPARE, "known", "missing"):
                raise RuleError(rule.id, f"{pattern.kind}.{check.field}: no operator {check.op!r}")
    for name in names:
        if not name or len(name) > MAX_NAME or name.startswith("~"):
            what = f"the name {name[:40]!r} is empty, longer than {MAX_NAME} or begins with ~"
            raise RuleError(rule.id[:40], what)
    if not positive(rule) or len(rule.when) > MAX_PATTERNS:
        raise RuleError(rule.id, f"needs 1 to {MAX_PATTERNS} patterns, at least one not absent")
    aliases = {pattern.alias for pattern in positive(rule) if pattern.alias}
    for join in rule.joins:
        if not {join.left, join.right} <= aliases or join.op not in COMPARE:
            raise RuleError(rule.id, f"{join.left} {join.op} {join.right} joins no matched facts")


def _strata(rules: Sequence[EngineRule]) -> dict[str, int]:
    makers: dict[str, list[str]] = {}
    for rule in rules:
        for template in rule.derive:
            makers.setdefault(template.kind, []).append(rule.id)
    level = {rule.id: 0 for rule in rules}
    for _ in range(len(rules) + 1):
        changed = False
        for rule in rules:
            needed = _stratum(rule, makers, level)
            changed = changed or needed != level[rule.id]
            level[rule.id] = needed
        if not changed:
            return level
    rule_id = max(level, key=lambda ident: level[ident])
    raise RuleError(rule_id, "negation cycle: needs absent what follows from it")


def _stratum(
    rule: EngineRule, makers: Mapping[str, Sequence[str]], level: Mapping[str, int]
) -> int:
    after = [
        level[maker] + int(pattern.absent)
        for pattern in rule.when
        for maker in makers.get(pattern.kind, ())
    ]
    return max([level[rule.id], int(any(p.absent for p in rule.when)), *after])


def _fields(rules: Iterable[EngineRule]) -> dict[str, tuple[str, ...]]:
    """List per kind the fields that positive patterns test."""
    out: dict[str, dict[str, None]] = {}
    for pattern in (pattern for rule in rules for pattern in positive(rule)):
        names = (check.field for check in pattern.checks)
        out.setdefault(pattern.kind, {}).update(dict.fromkeys(names))
    return {kind: tuple(names) for kind, names in out.items()}


def _readers(rules: Iterable[EngineRule]) -> dict[str, list[tuple[str, list[list[object]]]]]:
    """List per kind the rules that join it with others, with each pattern's size keys."""
    out: dict[str, list[tuple[str, list[list[object]]]]] = {}
    for rule in rules:
        patterns = positive(rule)
        if len(patterns) > 1:
            keys = [_pattern_keys(pattern) for pattern in patterns]
            for kind in {pattern.kind for pattern in patterns}:
                out.setdefault(kind, []).append((rule.id, keys))
    return out


def _pattern_keys(pattern: Pattern) -> list[object]:
    equal = [(pattern.kind, c.field, c.value) for c in pattern.checks if c.op == "eq"]
    return [pattern.kind, *equal]


def _equal_fields(rules: Iterable[EngineRule]) -> dict[str, set[str]]:
    out: dict[str, set[str]] = {}
    for rule in rules:
        for pattern in rule.when:
            fields = {check.field for check in pattern.checks if check.op == "eq"}
            if fields:
                out.setdefault(pattern.kind, set()).update(fields)
    return out
