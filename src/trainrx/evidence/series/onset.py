"""What moved in the steps before the first NaN."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from trainrx.evidence.series.history import Mark
from trainrx.evidence.series.points import Point
from trainrx.evidence.series.trend import median

Onset = Literal[
    "first-steps",
    "overflow",
    "gradient-rose",
    "loss-rose",
    "rate-at-its-peak",
    "long-sample",
    "nothing",
]
"""What went before, in the order in which it is looked for."""
FIRST = 2
"""Logged steps before it up to which nothing can have gone before."""
NEAR = 3
"""Logged steps before it that are compared with the ones before them."""
TIMES = 5.0
"""How much larger a gradient, which swings, is when it rose."""
LOSS_TIMES, LOSS_MORE = 1.5, 0.5
LONGER = 1.3
"""A completion that much longer than any before is a long sample."""
SCALED_DOWN = 2
"""Steps that loss scaling skipped right before it."""


def onset(mark: Mark, skipped: int = 0) -> Onset:
    """Say what moved before.

    Args:
        mark: the first NaN, with the steps before.
        skipped: steps that loss scaling skipped before it.
    """
    before = mark.before
    if skipped >= SCALED_DOWN:
        return "overflow"
    if len(before) < FIRST:
        return "first-steps"
    if _rose(before, lambda point: point.grad_norm, TIMES, 0.0):
        return "gradient-rose"
    if not any(point.rewarded for point in before) and _rose(
        before, lambda point: point.loss, LOSS_TIMES, LOSS_MORE
    ):
        return "loss-rose"
    if _at_its_peak([point.learning_rate for point in before if point.learning_rate is not None]):
        return "rate-at-its-peak"
    if _rose(before, lambda point: point.length, LONGER, 0.0, near=1):
        return "long-sample"
    return "nothing"


def _rose(
    before: Sequence[Point],
    value: Callable[[Point], float | None],
    times: float,
    more: float,
    near: int = NEAR,
) -> bool:
    """Tell whether the last readings left the level of those before for a higher one."""
    found = list(_readings(before, value))
    near = min(near, len(found) // 2)
    if near < 1:
        return False
    if any(math.isinf(one) for one in found[-near:]):
        return True
    finite = [one for one in found[:-near] if math.isfinite(one)]
    if not finite:
        return False
    level = median(finite)
    return max(found[-near:]) > max(times * level, level + more)


def _readings(before: Sequence[Point], value: Callable[[Point], float | None]) -> Iterator[float]:
    for point in before:
        found = value(point)
        if found is not None and not math.isnan(found):
            yield found


def _at_its_peak(rates: Sequence[float]) -> bool:
    """Tell whether the rate rose until just now: the warm-up ends, steps are the largest."""
    return (
        len(rates) > FIRST
        and max(rates) > min(rates)
        and max(rates[-NEAR:]) == max(rates) > rates[0]
    )
