"""How much the C engine bears in one rule base, and rule lists cut to that size.

The numbers are those at which durable_rules 2.0.28 was measured to fail, minus a margin.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from trainrx.reason.base import EngineRule, Pattern

MAX_PATTERNS = 8  # more than 16 facts in a rule: error 304 or 307 while running
MAX_FAN = 60  # a fact matching more than 64 patterns: error 303
MAX_KINDS = 400  # 512 or more first tests under one node: endless loop
MAX_SHARED = 200  # 256 rules with one pattern: crash
MAX_FIELDS = 100  # more than 252 fields in a fact: error 302
MAX_RULES = 2000
MAX_NAME = 200  # names of megabytes overflow its stack


class Usage:
    """Counts what a growing list of rules asks of the C engine."""

    def __init__(self) -> None:
        self.problem: tuple[str, str] | None = None
        """The first rule that went over a limit, and how."""
        self._rules = 0
        self._fans: Counter[str] = Counter()
        self._fields: dict[str, set[str]] = {}
        self._shared: Counter[Pattern] = Counter()
        self._absent = 0

    def add(self, rule: EngineRule) -> None:
        """Count a rule in."""
        self._rules += 1
        for pattern in rule.when:
            self._count(rule, anonymous(pattern))
        self._judge(rule, self._rules > MAX_RULES, f"more than {MAX_RULES} rules")

    def _count(self, rule: EngineRule, pattern: Pattern) -> None:
        shared = self._shared[pattern] + 1
        self._shared[pattern] = shared
        if shared > 1:  # all else was counted with the first
            if shared > MAX_SHARED:
                what = f"{pattern.kind}: {shared} rules share one pattern (limit {MAX_SHARED})"
                self._judge(rule, bad=True, message=what)
            return
        if pattern.absent:
            self._absent += 1
            over = self._absent > MAX_KINDS
            self._judge(rule, over, f"more than {MAX_KINDS} absent patterns")
            return
        fan = self._fans[pattern.kind] + 1
        self._fans[pattern.kind] = fan
        fields = self._fields.setdefault(pattern.kind, set())
        fields.update(check.field for check in pattern.checks)
        if fan > MAX_FAN:
            what = f"{pattern.kind}: {fan} patterns on one kind (limit {MAX_FAN}); split it"
            self._judge(rule, bad=True, message=what)
        self._judge(rule, len(fields) > MAX_FIELDS, f"{pattern.kind}: too many fields")
        self._judge(rule, len(self._fans) > MAX_KINDS, f"more than {MAX_KINDS} fact kinds")

    def _judge(self, rule: EngineRule, bad: bool, message: str) -> None:
        if bad and self.problem is None:
            self.problem = (rule.id, message)


def anonymous(pattern: Pattern) -> Pattern:
    """Give a pattern without its alias: what is shared between rules."""
    if not pattern.alias:
        return pattern
    return Pattern(
        kind=pattern.kind, checks=pattern.checks, absent=pattern.absent, lenient=pattern.lenient
    )


def chunks(rules: Iterable[EngineRule]) -> list[tuple[EngineRule, ...]]:
    """Cut rules into lists that keep the limits.

    A rule too large by itself makes a list of its own, which a rule base then refuses.
    """
    out: list[tuple[EngineRule, ...]] = []
    usage, current = Usage(), list[EngineRule]()
    for rule in rules:
        usage.add(rule)
        if usage.problem is not None and current:
            out.append(tuple(current))
            usage, current = Usage(), []
            usage.add(rule)
        current.append(rule)
    return [*out, tuple(current)] if current else out
