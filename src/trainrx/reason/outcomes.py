"""What the outcomes of an observation do to the score of a cause, all of them at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import reduce
from operator import and_, or_
from typing import NamedTuple

from trainrx.model.parts import Condition
from trainrx.model.result import Reason
from trainrx.reason.conditions import Situation, decide
from trainrx.reason.score import NOT_YET, Scored, logit

RULED_OUT = -6.0
"""What an outcome does to a cause that it rules out (nats)."""


class Truth(NamedTuple):
    """Whether something holds, for each outcome: the bits of those where it does, and does not."""

    holds: int
    fails: int

    def at(self, outcome: int) -> bool | None:
        """Tell of one outcome; None is unknown."""
        if self.holds >> outcome & 1:
            return True
        return False if self.fails >> outcome & 1 else None


CLOSED = {True: Truth(-1, 0), False: Truth(0, -1), None: Truth(0, 0)}
"""What is the same whatever comes out."""


def truth(condition: Condition, test: Callable[[Condition], Truth]) -> Truth:
    """Decide a condition for all outcomes, as `decide` does for one; `test` tells of single tests.

    The logic is the same: `all` fails where one part does, of what is unknown nobody can tell.
    """
    if condition.not_ is not None:
        inner = truth(condition.not_, test)
        return Truth(inner.fails, inner.holds)
    parts = condition.all if condition.all is not None else condition.any
    if parts is None:
        return test(condition)
    found = [truth(part, test) for part in parts]
    holds, fails = (one.holds for one in found), (one.fails for one in found)
    if condition.all is not None:
        return Truth(reduce(and_, holds, -1), reduce(or_, fails, 0))
    return Truth(reduce(or_, holds, 0), reduce(and_, fails, -1))


class Weighing:
    """The votes of a cause, decided once: what one more fact does to its score is little work."""

    def __init__(self, item: Scored, known: Situation) -> None:
        cause, evidence = item.cause, item.cause.evidence
        votes = (*evidence.supports, *evidence.contradicts)
        alone = {vote.id for vote in votes if vote.alone}
        self.conditions = {vote.id: vote.when for vote in votes if not vote.alone}
        self.gate = Condition(all=tuple(_preconditions(item)))
        self.cases = tuple((case.when, case.prior) for case in cause.priors)
        self._cause, self._prior, self._known = cause, item.prior, known
        self._tests: dict[int, Truth] = {}
        self._groups: dict[tuple[str, bool], list[Reason]] = {}
        self._holds: dict[str, bool | None] = {}
        self._group_of: dict[str, tuple[str, bool]] = {}
        for group, vote in item.votes:
            if vote.id == NOT_YET.id:
                continue
            key = self._group_of[vote.id] = (group, vote.weight > 0)
            self._groups.setdefault(key, []).append(vote)
            self._holds[vote.id] = False if vote.id in alone else vote.holds
        self._best = {key: self._strongest(key, {}) for key in self._groups}
        self._before = self._total(self._prior, {})

    def shifts(
        self, votes: Collection[str], open_: Mapping[int, Truth], outcomes: int, *, whole: bool
    ) -> Iterator[float]:
        """Say what each outcome adds to the score, in nats.

        Args:
            votes: those that are open.
            open_: the tests that are decided anew, by their `id`.
            outcomes: how many there are.
            whole: the prior or a precondition is open, too.
        """

        def test(one: Condition) -> Truth:
            return open_.get(id(one)) or self._closed(one)

        gate = truth(self.gate, test) if whole else CLOSED[True]
        cases = [(truth(when, test), prior) for when, prior in self.cases] if whole else []
        now = {one: truth(self.conditions[one], test) for one in votes if one in self._holds}
        otherwise = self._cause.prior if whole else self._prior
        shifts: dict[tuple[float | bool | None, ...], float] = {}
        for at in range(outcomes):
            if gate.at(at) is False:
                yield RULED_OUT
                continue
            prior = next((prior for when, prior in cases if when.at(at)), otherwise)
            found = tuple(holds.at(at) for holds in now.values())
            key = (prior, *found)
            if key not in shifts:
                shifts[key] = round(self._shift(prior, dict(zip(now, found, strict=True))), 3)
            yield shifts[key]

    def _closed(self, test: Condition) -> Truth:
        """Decide a test that is not open, once."""
        found = self._tests.get(id(test))
        if found is None:
            found = self._tests[id(test)] = CLOSED[decide(test, self._known)]
        return found

    def _shift(self, prior: float, found: Mapping[str, bool | None]) -> float:
        turned = {one: holds for one, holds in found.items() if holds is not self._holds[one]}
        if prior == self._prior and not turned:
            return 0.0
        groups = {self._group_of[ident] for ident in turned}
        best = {key: self._strongest(key, turned) for key in groups}
        return self._total(prior, best) - self._before

    def _strongest(self, key: tuple[str, bool], turned: Mapping[str, bool | None]) -> float:
        """Give the weight of the strongest vote of a group that holds, 0 where none does."""
        holding = (
            vote.weight for vote in self._groups[key] if turned.get(vote.id, self._holds[vote.id])
        )
        return max(holding, key=abs, default=0.0)

    def _total(self, prior: float, best: Mapping[tuple[str, bool], float]) -> float:
        """Add the strongest vote of each group, where `best` is what is different now."""
        return math.fsum((logit(prior), *{**self._best, **best}.values()))


def _preconditions(item: Scored) -> Iterator[Condition]:
    """Give what must hold for a cause to be at work at all."""
    if item.cause.requires is not None:
        yield item.cause.requires
    for package, spec in item.cause.applies_to.items():
        yield Condition(package=package, versions=spec)
