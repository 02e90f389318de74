"""Log-odds with a leash: a maximum a posteriori fit around what authors judged.

A pair's log-odds are its judged score plus a shift of its cause's prior plus shifts of its votes.
Shifts are normal around zero. Their spread is chosen by leaving a twentieth of the cases out at a
time: of the spreads whose loss is within one standard error of the least, the tightest, which
stays closest to the judgement (Breiman et al., 1984).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from fit.pair import Pair

Array = NDArray[np.float64]
PRIOR_SPREADS = (0.25, 0.5, 1.0)
WEIGHT_SPREADS = (0.1, 0.25, 0.5)
"""Nats. Most votes count in a case or two: no single case may turn one round."""
PARTS = 20
"""Into how many parts cases are divided, each judged by a fit of the others."""


class Table(NamedTuple):
    """Pairs as a sparse matrix of 0, 1: columns are causes, then votes.

    Only pairs `used` are learnt from; `holds`: what worked stands among the cause's changes.
    """

    matrix: csr_matrix
    offset: Array
    right: Array
    used: NDArray[np.bool_]
    holds: NDArray[np.bool_]
    case: NDArray[np.int64]
    causes: tuple[str, ...]
    votes: tuple[tuple[str, str], ...]


class Fit(NamedTuple):
    """Shifts by column of a table."""

    shifts: Array
    prior_sd: float
    weight_sd: float


def table(pairs: Sequence[Pair]) -> Table:
    """Lay out pairs."""
    causes = tuple(sorted({pair.cause for pair in pairs}))
    votes = tuple(sorted({(pair.cause, vote) for pair in pairs for vote, _ in pair.votes}))
    column = {name: index for index, name in enumerate((*causes, *votes))}
    rows, columns = [], []
    for row, pair in enumerate(pairs):
        names = (pair.cause, *((pair.cause, vote) for vote, _ in pair.votes))
        columns += [column[name] for name in names]
        rows += [row] * len(names)
    shape = (len(pairs), len(column))
    return Table(
        matrix=csr_matrix((np.ones(len(rows)), (rows, columns)), shape=shape),
        offset=np.array([pair.prior + sum(w for _, w in pair.votes) for pair in pairs]),
        right=np.array([float(pair.right is True) for pair in pairs]),
        used=np.array([pair.right is not None for pair in pairs]),
        holds=np.array([pair.holds for pair in pairs]),
        case=np.array([pair.case for pair in pairs]),
        causes=causes,
        votes=votes,
    )


def fit(
    data: Table, prior_sd: float, weight_sd: float, keep: NDArray[np.bool_] | None = None
) -> Fit:
    """Find the shifts that are most probable given the pairs (`keep`: only those rows)."""
    rows = data.used if keep is None else data.used & keep
    matrix, offset, right = data.matrix[rows], data.offset[rows], data.right[rows]
    spread = np.array([prior_sd] * len(data.causes) + [weight_sd] * len(data.votes))
    across = matrix.T.tocsr()

    def loss(shifts: Array) -> tuple[float, Array]:
        odds = offset + matrix @ shifts
        value = np.logaddexp(0.0, odds) - right * odds
        slope = across @ (expit(odds) - right) + shifts / spread**2
        return float(value.sum() + 0.5 * ((shifts / spread) ** 2).sum()), slope

    found = minimize(loss, np.zeros(matrix.shape[1]), jac=True, method="L-BFGS-B")
    return Fit(found.x, prior_sd, weight_sd)


def left_out(data: Table, prior_sd: float, weight_sd: float) -> Array:
    """Give each pair's log-odds by a fit that has not seen its case."""
    out = np.empty(len(data.right))
    part = np.searchsorted(np.unique(data.case), data.case) % PARTS
    for number in np.unique(part):
        mine = part == number
        shifts = fit(data, prior_sd, weight_sd, ~mine).shifts
        out[mine] = data.offset[mine] + data.matrix[mine] @ shifts
    return out


def chosen(data: Table) -> tuple[Fit, Array]:
    """Choose the spreads by left-out cases; give the fit and the log-odds of left-out pairs.

    Losses are compared after calibration: what a line through the log-odds repairs is no reason to
    move single causes.
    """
    tried = {(p, w): left_out(data, p, w) for p in PRIOR_SPREADS for w in WEIGHT_SPREADS}
    losses = {key: _by_case(data, straightened(data, odds)) for key, odds in tried.items()}
    best = min(losses, key=lambda key: float(losses[key].mean()))

    def is_as_good(key: tuple[float, float]) -> bool:
        more = losses[key] - losses[best]
        return bool(more.mean() <= more.std(ddof=1) / np.sqrt(len(more)))

    tightest = min(filter(is_as_good, tried), key=lambda key: (key[0] * key[1], key), default=best)
    return fit(data, *tightest), tried[tightest]


def straightened(data: Table, odds: Array) -> Array:
    """Give calibrated log-odds."""
    intercept, slope = calibrated(odds[data.used], data.right[data.used])
    return np.asarray(intercept + slope * odds)


def _by_case(data: Table, odds: Array) -> Array:
    """Give the log loss of each case, summed over its pairs."""
    pair = (np.logaddexp(0.0, odds) - data.right * odds) * data.used
    return np.array([pair[data.case == case].sum() for case in np.unique(data.case)])


def calibrated(odds: Array, right: Array) -> tuple[float, float]:
    """Fit intercept and slope of log-odds (Platt), the slope near 1 where there is little data."""

    def loss(line: Array) -> float:
        shifted = line[0] + line[1] * odds
        leash = 0.5 * (((line[1] - 1.0) / 0.5) ** 2 + (line[0] / 1.0) ** 2)
        return float((np.logaddexp(0.0, shifted) - right * shifted).sum() + leash)

    found = minimize(loss, np.array([0.0, 1.0]), method="Nelder-Mead")
    return float(found.x[0]), float(found.x[1])


def log_loss(odds: Array, right: Array) -> float:
    """Give the mean negative log-likelihood, nats."""
    return float((np.logaddexp(0.0, odds) - right * odds).mean())


def first_right(data: Table, odds: Array, among: int) -> float:
    """Give the share of cases with what worked in the first few candidates by log-odds."""
    cases = np.unique(data.case)
    found = 0
    for case in cases:
        mine = np.flatnonzero(data.case == case)
        best = mine[np.argsort(-odds[mine], kind="stable")][:among]
        found += bool(data.holds[best].any())
    return found / len(cases)


def expit(odds: Array) -> Array:
    """Give probabilities."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(odds, -700.0, 700.0))))
