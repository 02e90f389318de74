"""The exact test behind a suspicion: more failures than chance puts there, within like jobs.

Jobs are compared within strata (those of one user), since who breaks every job of theirs on one
node says nothing of the node. Given how many jobs of a stratum fail and how many are on the
subject, the failures on it follow the hypergeometric law if it has no part in them (Fisher); the
sum over strata follows the convolution. The standard library computes it: SciPy is not needed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from math import erfc, exp, lgamma, sqrt
from typing import NamedTuple

MOST_WORK = 300_000
"""Multiplications up to which the exact law is computed, a tenth of a second."""


class Stratum(NamedTuple):
    """Jobs that are alike: how many, how many failed, and how many of each are on the subject."""

    jobs: int
    failed: int
    on: int
    failed_on: int

    @property
    def expected(self) -> float:
        """Give the failures chance puts on the subject."""
        return self.on * self.failed / self.jobs

    @property
    def variance(self) -> float:
        """Give the variance of that number."""
        if self.jobs < 2:
            return 0.0
        off, well = self.jobs - self.on, self.jobs - self.failed
        return self.expected * well * off / (self.jobs * (self.jobs - 1))

    @property
    def most(self) -> int:
        """Give the most failures there can be on the subject."""
        return min(self.on, self.failed)


def stands_out(strata: Sequence[Stratum], deviations: float) -> bool:
    """Tell whether failures exceed what is expected by so many standard deviations."""
    excess = sum(one.failed_on - one.expected for one in strata)
    return excess > deviations * sqrt(sum(one.variance for one in strata))


def tail(strata: Sequence[Stratum]) -> float:
    """Give the probability of so many failures on the subject, or more, by chance alone.

    Where that takes too much, the normal law stands for the sum: it has hundreds of parts then.
    """
    if _work(strata) > MOST_WORK:
        excess = sum(one.failed_on - one.expected for one in strata) - 0.5
        deviation = sqrt(sum(one.variance for one in strata))
        return erfc(excess / (deviation * sqrt(2))) / 2 if deviation else 1.0
    law = [1.0]
    for one in strata:
        law = _sum_of(law, _hypergeometric(one))
    seen = sum(one.failed_on - _least(one) for one in strata)
    return min(1.0, sum(law[seen:]))


def _work(strata: Iterable[Stratum]) -> int:
    """Count the multiplications of the convolution."""
    length, work = 1, 0
    for one in strata:
        its = one.most - _least(one)
        length += its
        work += length * (its + 1)
    return work


def least_tail(strata: Iterable[Stratum]) -> float:
    """Give the least probability there can be with these margins: all failures on the subject."""
    return exp(sum(_log_mass(one, one.most) for one in strata))


def hypotheses_that_count(least: Iterable[float], level: float) -> int:
    """Give the number of hypotheses to correct for: those that could be significant (Tarone 1990).

    Margins alone decide which could, so that it does not depend on what came out.
    """
    ordered = sorted(least)
    return next(
        (n for n in range(1, len(ordered)) if bisect_right(ordered, level / n) <= n),
        max(1, len(ordered)),
    )


def _hypergeometric(one: Stratum) -> list[float]:
    return [exp(_log_mass(one, count)) for count in range(_least(one), one.most + 1)]


def _least(one: Stratum) -> int:
    return max(0, one.on + one.failed - one.jobs)


def _log_mass(one: Stratum, count: int) -> float:
    return (
        _log_choose(one.failed, count)
        + _log_choose(one.jobs - one.failed, one.on - count)
        - _log_choose(one.jobs, one.on)
    )


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def _sum_of(left: Sequence[float], right: Sequence[float]) -> list[float]:
    out = [0.0] * (len(left) + len(right) - 1)
    for at, mass in enumerate(left):
        for further, other in enumerate(right):
            out[at + further] += mass * other
    return out
