"""The engine in plain Python: the meaning of a rule base, and the fallback where C is missing."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from trainrx.model.facts import Fact
from trainrx.reason.base import EngineRule, Inference, Pattern
from trainrx.reason.collect import Collector
from trainrx.reason.matching import matches
from trainrx.reason.rulebase import RuleBase, positive


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
