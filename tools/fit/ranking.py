"""From pairs to what is written into kb/ranking.yaml."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from fit.logistic import Array, Fit, Table, calibrated, chosen, table
from fit.pair import Pair
from trainrx.model.fitted import Fitted, FittedCause

KEPT = 0.005
"""A shift smaller than this is left out (nats)."""
FEWEST = 3
"""Cases a vote must have counted in for its shift to be kept: what one or two cases say of it does
not hold on cases left out (it changes their loss by 0.001 nats, standard error 0.0015)."""


class Fitting(NamedTuple):
    """A fit, the log-odds of pairs by fits that had not seen them, and the line they lie on."""

    data: Table
    best: Fit
    unseen: Array
    intercept: float
    slope: float


def fitting(found: Sequence[Pair]) -> Fitting:
    """Fit weights and priors on pairs, and calibrate them on pairs left out."""
    data = table(found)
    best, unseen = chosen(data)
    intercept, slope = calibrated(unseen[data.used], data.right[data.used])
    return Fitting(data, best, unseen, intercept, slope)


def fitted(found: Sequence[Pair], made: Fitting, cases: int) -> Fitted:
    """Write a fit as the record that knowledge is weighed with."""
    learnt = [pair for pair in found if pair.right is not None]
    seen = Counter(pair.cause for pair in learnt)
    right = Counter(pair.cause for pair in learnt if pair.right)
    counted = Counter((pair.cause, vote) for pair in learnt for vote, _ in pair.votes)
    names = (*made.data.causes, *made.data.votes)
    shifts = dict(zip(names, made.best.shifts.tolist(), strict=True))
    votes: dict[str, dict[str, tuple[float, int]]] = {}
    for cause, vote in made.data.votes:
        if abs(shifts[cause, vote]) >= KEPT and counted[cause, vote] >= FEWEST:
            kept = (round(shifts[cause, vote], 2), counted[cause, vote])
            votes.setdefault(cause, {})[vote] = kept
    return Fitted(
        schema=1,
        cases=cases,
        pairs=len(learnt),
        prior_sd=made.best.prior_sd,
        weight_sd=made.best.weight_sd,
        slope=round(made.slope, 3),
        intercept=round(made.intercept, 3),
        causes={
            cause: FittedCause(
                cases=seen[cause],
                right=right[cause],
                shift=round(shifts[cause], 2),
                votes=votes.get(cause, {}),
            )
            for cause in made.data.causes
        },
    )
