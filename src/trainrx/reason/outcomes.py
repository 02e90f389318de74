"""What the outcomes of an observation do to the score of a cause, all of them at once."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from operator import and_, or_
from typing import NamedTuple

from trainrx.model.result import Reason
from trainrx.reason.formulas import (
    BEFORE_VOTES,
    CauseFormulas,
    DecidedFormulas,
    Formula,
    SingleTest,
)
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


def truth(
    formula: Formula, name: str, open_: Mapping[SingleTest, Truth], decided: DecidedFormulas
) -> Truth:
    """Decide a formula for all outcomes of an observation, in the logic of `decide`.

    `all` fails where one part does, of what is unknown nobody can tell.

    Args:
        formula: what is decided.
        name: the observation.
        open_: what each test that it decides says of its outcomes.
        decided: what holds of all else.
    """
    if name not in formula.names:
        return CLOSED[decided.of(formula)]
    if isinstance(formula, SingleTest):
        return open_[formula]
    found = [truth(part, name, open_, decided) for part in formula.parts]
    if formula.word == "not":
        return Truth(found[0].fails, found[0].holds)
    holds, fails = (one.holds for one in found), (one.fails for one in found)
    if formula.word == "all":
        return Truth(reduce(and_, holds, -1), reduce(or_, fails, 0))
    return Truth(reduce(or_, holds, 0), reduce(and_, fails, -1))


class Weighing:
    """The votes of a cause, decided once: what one more fact does to its score is little work."""

    def __init__(self, item: Scored, formulas: CauseFormulas, decided: DecidedFormulas) -> None:
        cause, evidence = item.cause, item.cause.evidence
        votes = (*evidence.supports, *evidence.contradicts)
        alone = {vote.id for vote in votes if vote.alone}
        self.formulas = formulas
        self._decided = decided
        self.cause = cause.id
        self._cause, self._prior = cause, item.prior
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
        self, name: str, open_: Mapping[SingleTest, Truth], outcomes: int
    ) -> tuple[float, ...]:
        """Say what each outcome of an observation adds to the score, in nats.

        Args:
            name: the observation.
            open_: what each test that it decides says of its outcomes.
            outcomes: how many there are.
        """
        votes = self.formulas.asked[name].votes
        now = {one: self._truth(self.formulas.votes[one], name, open_) for one in votes if one}
        every = (1 << outcomes) - 1
        now = {one: found for one, found in now.items() if self._differs(one, found, every)}
        if BEFORE_VOTES in votes:
            gate = self._truth(self.formulas.gate, name, open_)
            whens = (self._truth(when, name, open_) for when in self.formulas.cases)
            cases = list(zip(whens, (case.prior for case in self._cause.priors), strict=True))
            otherwise = self._cause.prior
        elif now:
            gate, cases, otherwise = CLOSED[True], [], self._prior
        else:
            return (0.0,) * outcomes
        return tuple(self._shifts(gate, cases, otherwise, now, outcomes))

    def _truth(self, formula: Formula, name: str, open_: Mapping[SingleTest, Truth]) -> Truth:
        return truth(formula, name, open_, self._decided)

    def _differs(self, vote: str, found: Truth, every: int) -> bool:
        """Tell whether a vote may hold otherwise than now."""
        if vote not in self._holds:
            return False
        now = CLOSED[self._holds[vote]]
        return (found.holds ^ now.holds | found.fails ^ now.fails) & every != 0

    def _shifts(
        self,
        gate: Truth,
        cases: Sequence[tuple[Truth, float]],
        otherwise: float,
        now: Mapping[str, Truth],
        outcomes: int,
    ) -> Iterator[float]:
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
