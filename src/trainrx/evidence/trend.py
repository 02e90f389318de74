"""The shape of memory and loss over the steps of a run; plain statistics with stated bounds.

What frameworks log is the highest value so far, so it never falls. A leak climbs to the end; longer
and longer samples raise it in ever rarer jumps and then leave it; something new (an evaluation, a
save) lifts it once.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Literal

Trend = Literal["flat", "staircase", "linear", "jump"]

LEAST_POINTS = 8
WARM_UP = 0.05
"""Share of the points left out at the start: allocator and optimizer states settle there."""
FLAT_SHARE, FLAT_GIB = 0.05, 0.5
"""A rise below both bounds is noise: 5 % of the first value or half a GiB, whichever is more."""
JUMP_SHARE = 0.6
"""One step holding this share of the whole rise is a jump, if it comes in the second half."""
EVEN_SHARE = 0.10
"""A leak adds at least this share of the whole rise in each quarter (an even one adds 0.25)."""
BIGGEST_STEP = 0.35
"""and no single step of it makes up more than this."""


def settled(values: Sequence[float]) -> Sequence[float]:
    """Leave out the warm-up."""
    return values[max(1, int(len(values) * WARM_UP)) :] if len(values) > LEAST_POINTS else values


def highest(values: Sequence[float]) -> Sequence[float]:
    """Give the highest value so far: some frameworks log the present one, which swings."""
    return list(accumulate(values, max))


def memory_trend(values: Sequence[float]) -> Trend | None:
    """Name the shape of memory readings in GiB, in order of steps; None when they are too few."""
    if len(values) < LEAST_POINTS:
        return None
    kept = settled(highest(values))
    rise = max(kept) - kept[0]
    if rise < max(FLAT_SHARE * abs(kept[0]), FLAT_GIB):
        return "flat"
    steps = [later - earlier for earlier, later in pairwise(kept)]
    biggest = max(range(len(steps)), key=steps.__getitem__)
    if steps[biggest] >= JUMP_SHARE * rise and biggest >= len(steps) // 2:
        return "jump"
    marks = [kept[round(part * (len(kept) - 1) / 4)] for part in range(5)]
    quarters = [later - earlier for earlier, later in pairwise(marks)]
    even = all(quarter >= EVEN_SHARE * rise for quarter in quarters)
    return "linear" if even and steps[biggest] <= BIGGEST_STEP * rise else "staircase"


GROWTH_SHARE, GROWTH_GIB = 0.15, 1.0
LATE_SHARE = 0.03


def grows(values: Sequence[float]) -> bool:
    """Tell whether a user would say that memory grows.

    It rose by 15 % and 1 GiB after the warm-up, and by 3 % still in the second half of the run.
    """
    trend = memory_trend(values)
    if trend in (None, "flat"):
        return False
    kept = settled(highest(values))
    rise = max(kept) - kept[0]
    late = max(kept) - kept[len(kept) // 2]
    enough = rise >= max(GROWTH_SHARE * abs(kept[0]), GROWTH_GIB)
    return enough and late >= LATE_SHARE * abs(kept[0])


LEAST_LOSSES = 20
START = 5
"""Logged steps whose middle value is the loss at the start, or at the lowest place."""
TAIL = 0.2
"""Share of the run, at its end, over which the loss must stay up."""


def diverges(losses: Sequence[float]) -> bool:
    """Tell whether the loss (nats per token) left its course for good.

    Over the last fifth of the logged steps it stays above three times and 2 over its start, or
    above four times and 4 over the lowest place it had: a spike that passes does not count.
    """
    if len(losses) < LEAST_LOSSES:
        return False
    middles = [sorted(losses[i : i + START])[START // 2] for i in range(len(losses) - START + 1)]
    start, lowest = max(middles[0], 0.0), max(min(middles), 0.0)
    least = min(losses[-max(START, int(len(losses) * TAIL)) :])
    return least > max(3 * start, start + 2) or least > max(4 * lowest, lowest + 4)
