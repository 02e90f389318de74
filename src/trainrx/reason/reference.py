"""The engine in plain Python: the meaning of a rule base, and the fallback where C is missing.

What an inference gathers while it runs is the same for every engine.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from trainrx.model.facts import Fact, Scalar, identity
from trainrx.reason.base import (
    Copy,
    EngineError,
    EngineRule,
    Firing,
    Inference,
    Pattern,
    Template,
    comparable,
    joined,
    matches,
)
from trainrx.reason.rulebase import RuleBase, positive

MAX_FIRINGS = 20_000


class Collector:
    """Facts, each once, and firings, each once, with what they derived."""

    def __init__(self, base: RuleBase, given: Iterable[Fact]) -> None:
        self.base = base
        self.facts: list[Fact] = []
        self._index: dict[tuple[object, ...], int] = {}
        self._fired: dict[tuple[str, tuple[int, ...]], Firing] = {}
        self._support: dict[int, list[Firing]] = {}
        self._by_kind: dict[str, list[int]] = {}
        self._sizes: Counter[object] = Counter()
        for fact in given:
            self._add(fact)
        base.check_combinations(self._sizes)
        self._given = len(self.facts)
        self._fixed = {fact.kind for fact in self.facts if fact.value is not None}

    def of_kind(self, kind: str) -> Sequence[int]:
        """List the indexes of the facts of one kind."""
        return self._by_kind.get(kind, ())

    def fire(self, rule: EngineRule, indexes: tuple[int, ...]) -> tuple[int, ...]:
        """Note that facts fill a rule's positive patterns; give the indexes of new facts.

        Nothing happens when a join fails or the rule fired on these facts before. A plain fact
        that was given is not derived with another value: what was read outranks what was inferred.

        Raises:
            EngineError: there is no end to it, or to the combinations of what it derives.
        """
        patterns = positive(rule)
        matched = [self.facts[index] for index in indexes]
        by_alias = {p.alias: fact for p, fact in zip(patterns, matched, strict=True) if p.alias}
        if (rule.id, indexes) in self._fired:
            return ()
        if not all(matches(p, f, self.base.sorts) for p, f in zip(patterns, matched, strict=True)):
            return ()
        if not all(joined(join, by_alias) for join in rule.joins):
            return ()
        firing = Firing(rule=rule.id, facts=indexes, stratum=self.base.stratum[rule.id])
        self._fired[rule.id, indexes] = firing
        if len(self._fired) > MAX_FIRINGS:
            raise EngineError(f"more than {MAX_FIRINGS} firings; {rule.id} was the last")
        before = len(self.facts)
        for template in rule.derive:
            fact = _derived(template, by_alias)
            if fact is not None and not (fact.kind in self._fixed and fact.value is not None):
                self._support.setdefault(self._add(fact), []).append(firing)
        fresh = range(before, len(self.facts))
        if fresh:
            self.base.check_combinations(self._sizes, {self.facts[i].kind for i in fresh})
        return tuple(fresh)

    def finish(self) -> Inference:
        """Give everything in canonical order: given facts, derived facts, firings by rule."""
        order = sorted(
            range(len(self.facts)), key=lambda i: (i >= self._given, identity(self.facts[i]))
        )
        new = {old: at for at, old in enumerate(order)}
        firings = self._sorted(self._fired.values(), new)
        support = {new[i]: self._sorted(why, new) for i, why in self._support.items()}
        facts = tuple(self.facts[i] for i in order)
        return Inference(
            facts=facts, firings=firings, support={i: support[i] for i in sorted(support)}
        )

    def _add(self, fact: Fact) -> int:
        key = identity(fact)
        if key not in self._index:
            self._index[key] = len(self.facts)
            self._by_kind.setdefault(fact.kind, []).append(len(self.facts))
            self._sizes.update(self.base.size_keys(fact))
            self.facts.append(fact)
        return self._index[key]

    def _sorted(self, firings: Iterable[Firing], new: Mapping[int, int]) -> tuple[Firing, ...]:
        moved: Sequence[Firing] = [
            Firing(rule=f.rule, facts=tuple(new[i] for i in f.facts), stratum=f.stratum)
            for f in firings
        ]
        order = self.base.order
        return tuple(sorted(moved, key=lambda f: (f.stratum, order[f.rule], f.facts)))


def _derived(template: Template, by_alias: Mapping[str, Fact]) -> Fact | None:
    fields: list[tuple[str, Scalar]] = []
    for name, value in template.fields:
        known = by_alias[value.alias].get(value.field) if isinstance(value, Copy) else value
        if known is None or comparable(known) is None:
            return None
        fields.append((name, known))
    return Fact(kind=template.kind, fields=tuple(fields), how="derived")


class PyEngine:
    """Tries every rule on every combination of facts, stratum by stratum, until nothing is new."""

    name = "reference"

    def __init__(self, base: RuleBase) -> None:
        self.base = base

    def infer(self, facts: Iterable[Fact]) -> Inference:
        """Apply the rules until nothing new follows.

        Raises:
            EngineError: the facts make more combinations or firings than allowed.
        """
        found = Collector(self.base, facts)
        for stratum in range(self.base.strata):
            rules = [r for r in self.base.rules.values() if self.base.stratum[r.id] == stratum]
            seen = -1
            while seen != len(found.facts):
                seen = len(found.facts)
                for rule in rules:
                    self._try(rule, found)
        return found.finish()

    def close(self) -> None:
        """Release nothing: this engine holds nothing."""

    def _try(self, rule: EngineRule, found: Collector) -> None:
        if any(pattern.absent and self._matching(pattern, found) for pattern in rule.when):
            return
        candidates = [self._matching(pattern, found) for pattern in positive(rule)]
        for indexes in itertools.product(*candidates):
            if len(set(indexes)) == len(indexes):
                found.fire(rule, indexes)

    def _matching(self, pattern: Pattern, found: Collector) -> Sequence[int]:
        sorts = self.base.sorts
        of_kind = found.of_kind(pattern.kind)
        return [index for index in of_kind if matches(pattern, found.facts[index], sorts)]
