"""How memory develops over a run, told by what makes it rise."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate, pairwise

from trainrx.evidence.series.trend import line_through, median
from trainrx.model.curves import Curve, Shape

LEAST_POINTS = 8
WARM_UP = 0.05
"""Share of the points left out at the start: allocator and optimizer states settle there."""
FLAT_SHARE, FLAT_GIB = 0.05, 0.5
"""A rise below both bounds is noise: 5 % of the first value or half a GiB, whichever is more."""
SWINGS = 0.1
"""Share of all movement that goes down, from which on readings swing and blocks are compared."""
BLOCKS, LEAST_BLOCK = 24, 4
STEADY = 0.5
"""Kendall's tau from which on what swings rises at all."""
JUMP_SHARE = 0.6
"""One step holding this share of the whole rise is a jump, if it comes in the second half."""
ALONE = 0.75
"""A step that holds this share is a jump even where other steps are more than noise."""
EVALUATION_SHARE = 0.8
"""Share of a rise that comes where evaluations begin, to be their work."""
CHANCE = 0.05
"""How likely rises may fall on evaluations by chance."""
AROUND = 5
"""Readings on either side of an evaluation."""
FRAGMENTS = 0.6
"""Share of a rise that is memory reserved and not used, to be fragmentation."""
LATE = 1 / 3
"""Share at the start left out when a leak is looked for: longest samples so far come early."""
EVEN = 0.3
"""A leak adds this share of its mean in each part it is looked at in."""
BENT = 0.22
"""Most a leak strays from a straight line, as a share of its rise."""
BIGGEST_STEP = 0.25
"""No single step of a leak makes up more of its rise."""


def settled(values: Sequence[float]) -> Sequence[float]:
    """Leave out the warm-up."""
    return values[max(1, int(len(values) * WARM_UP)) :] if len(values) > LEAST_POINTS else values


def smoothed(at: Sequence[float], values: Sequence[float]) -> tuple[list[float], list[float]]:
    """Give the highest reading so far; of readings that swing first the medians of blocks."""
    places, kept = list(settled(at)), list(settled(values))
    if swings(kept):
        places, kept = _blocks(places), _blocks(kept)
    return places, list(accumulate(kept, max))


def _blocks(values: Sequence[float]) -> list[float]:
    size = max(LEAST_BLOCK, len(values) // BLOCKS)
    return [median(values[i : i + size]) for i in range(0, len(values) - size + 1, size)]


def swings(values: Sequence[float]) -> bool:
    """Tell whether readings go down as well, and do not only rise."""
    steps = [later - earlier for earlier, later in pairwise(values)]
    moved = sum(abs(step) for step in steps)
    return moved > 0 and sum(-step for step in steps if step < 0) > SWINGS * moved


def shape_of(curve: Curve, used: Curve | None = None) -> Shape | None:
    """Name the shape of memory readings; None when they are too few.

    Args:
        curve: what is reserved, or all that is taken.
        used: what of it tensors fill, at the same places.
    """
    if len(curve.values) < LEAST_POINTS:
        return None
    at, kept = smoothed(curve.at, curve.values)
    rise = kept[-1] - kept[0] if kept else 0.0
    if len(kept) < 2 or rise < _noise(kept[0]) or not _stays_up(settled(curve.values)):
        return "flat"
    if _at_evaluations(curve, rise):
        return "evaluation"
    if used is not None and _comes_apart(curve, used, rise):
        return "fragmentation"
    steps = [later - earlier for earlier, later in pairwise(kept)]
    biggest = max(range(len(steps)), key=steps.__getitem__)
    alone = rise - steps[biggest] < _noise(kept[0]) or steps[biggest] >= ALONE * rise
    late = at[biggest + 1] >= (at[0] + at[-1]) / 2
    if alone and late and steps[biggest] >= JUMP_SHARE * rise:
        return "jump"
    return "linear" if _is_even(at, kept) else "staircase"


def _noise(level: float) -> float:
    return max(FLAT_SHARE * abs(level), FLAT_GIB)


def _stays_up(values: Sequence[float]) -> bool:
    """Tell whether readings that rise and fall are higher at the end, and not by chance."""
    if not swings(values):
        return True
    blocks = _blocks(values)
    found = line_through(range(len(blocks)), blocks)
    if found is not None and found.tau >= STEADY:
        return True
    return any(_apart(blocks[:at], blocks[at:]) for at in range(2, len(blocks) - 1))


def _apart(before: Sequence[float], after: Sequence[float]) -> bool:
    """Tell whether a level is left for a higher one, by more than either moves."""
    gap = min(after) - max(before)
    moves = max(max(before) - min(before), min(max(after) - min(after), gap))
    return gap > max(_noise(before[0]), moves)


def _at_evaluations(curve: Curve, rise: float) -> bool:
    """Tell whether memory rises from before to behind evaluations, and hardly elsewhere."""
    at, values = curve.at, curve.values
    places = sorted({bisect_left(at, place) for place in curve.evaluations})
    places = [place for place in places if 0 < place < len(at)]
    rises: list[float] = []
    for number, place in enumerate(places):
        start = max(places[number - 1] if number else 0, place - AROUND)
        end = min(places[number + 1] if number + 1 < len(places) else len(at), place + AROUND)
        rises.append(median(values[place:end]) - median(values[start:place]))
    if not rises or sum(rises) < EVALUATION_SHARE * rise:
        return False
    return bool((len(rises) / len(values)) ** effective(rises) < CHANCE)


def effective(steps: Sequence[float]) -> float:
    """Say how many equal steps would be as uneven as these: 1 for a jump, all for a ramp."""
    squares = sum(step * step for step in steps)
    return sum(steps) ** 2 / squares if squares else 0.0


def _comes_apart(curve: Curve, used: Curve, rise: float) -> bool:
    filled = dict(zip(used.at, used.values, strict=True))
    both = [
        (at, value - filled[at])
        for at, value in zip(curve.at, curve.values, strict=True)
        if at in filled
    ]
    if len(both) < LEAST_POINTS:
        return False
    at, unused = smoothed([place for place, _ in both], [gap for _, gap in both])
    found = line_through(at, unused)
    return found is not None and found.tau > STEADY and unused[-1] - unused[0] >= FRAGMENTS * rise


def _is_even(at: Sequence[float], kept: Sequence[float]) -> bool:
    """Tell whether memory rises by as much all along, behind the first third."""
    first = bisect_left(at, at[0] + LATE * (at[-1] - at[0]))
    places, values = at[first:], kept[first:]
    rise = values[-1] - values[0] if values else 0.0
    span = places[-1] - places[0] if values else 0.0
    if rise <= 0 or span <= 0 or rise < (1 - LATE) * EVEN * (kept[-1] - kept[0]):
        return False
    strays = max(
        abs((value - values[0]) / rise - (place - places[0]) / span)
        for place, value in zip(places, values, strict=True)
    )
    biggest = max(later - earlier for earlier, later in pairwise(values))
    return strays <= BENT and biggest <= BIGGEST_STEP * rise


GROWTH_SHARE, GROWTH_GIB = 0.15, 1.0
LATE_SHARE = 0.03
LEAST_TIME, LEAST_READINGS = 600.0, 60
"""Seconds, or else readings, from which on a rise is no loading of the model."""


def grows(curve: Curve) -> bool:
    """Tell whether a user would say that memory grows.

    It rose by 15 % and 1 GiB after the warm-up, and by 3 % still in the second half of the run.
    Over time instead of steps only a leak counts: a job loads and prepares for long.
    """
    shape = shape_of(curve)
    if shape in (None, "flat"):
        return False
    if curve.by != "step" and (shape != "linear" or not _lasts(curve)):
        return False
    _, kept = smoothed(curve.at, curve.values)
    rise, late = kept[-1] - kept[0], kept[-1] - kept[len(kept) // 2]
    enough = rise >= max(GROWTH_SHARE * abs(kept[0]), GROWTH_GIB)
    return enough and late >= LATE_SHARE * abs(kept[0])


def _lasts(curve: Curve) -> bool:
    if curve.by == "second":
        return curve.at[-1] - curve.at[0] >= LEAST_TIME
    return len(curve.values) >= LEAST_READINGS
