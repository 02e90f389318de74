"""Straight lines through readings that outliers do not bend (Theil 1950, Sen 1968)."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

MOST = 120
"""Readings that are compared with one another; more are thinned out evenly."""
SURE = 1.96
"""Standard errors of Kendall's score on either side, for 95 of 100 intervals."""


class TrendLine(NamedTuple):
    """A straight line, with the interval of its slope; `tau`: how steadily readings rise, to 1."""

    slope: float
    low: float
    high: float
    level: float
    tau: float

    def value(self, at: float) -> float:
        """Give what the line says of a place."""
        return self.level + self.slope * at


def middle(ordered: Sequence[float]) -> float:
    """Give the median of numbers in order; `statistics` takes 5 ms to import."""
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def median(values: Sequence[float]) -> float:
    """Give the median of numbers in any order."""
    return middle(sorted(values))


def thinned(count: int, most: int = MOST) -> list[int]:
    """Give the numbers of evenly spaced readings, the first and the last among them."""
    if count <= most:
        return list(range(count))
    return [round(i * (count - 1) / (most - 1)) for i in range(most)]


def line_through(at: Sequence[float], values: Sequence[float]) -> TrendLine | None:
    """Fit the median of the slopes between all pairs; None where all stand at one place."""
    kept = thinned(len(values))
    slopes: list[float] = []
    score = 0
    for i, first in enumerate(kept):
        for second in kept[i + 1 :]:
            if at[second] > at[first]:
                rise = values[second] - values[first]
                slopes.append(rise / (at[second] - at[first]))
                score += (rise > 0) - (rise < 0)
    if not slopes:
        return None
    slopes.sort()
    n, pairs = len(kept), len(slopes)
    spread = SURE * sqrt(n * (n - 1) * (2 * n + 5) / 18)
    slope = middle(slopes)
    low = slopes[max(0, int((pairs - spread) / 2))]
    high = slopes[min(pairs - 1, int((pairs + spread) / 2))]
    level = median([values[i] - slope * at[i] for i in kept])
    return TrendLine(slope=slope, low=low, high=high, level=level, tau=score / pairs)
