"""When memory that leaks runs out: a step, or a time, with an interval; nothing where it is open.

Only a leak is carried on. A staircase ends with the longest sample, which readings do not show.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from trainrx.evidence.series.shapes import LATE, shape_of, smoothed
from trainrx.evidence.series.trend import line_through
from trainrx.model.curves import Curve

LEAST = 12
"""Readings from which on a leak is carried on."""
AHEAD = 4.0
"""How many times the span of the readings a forecast looks ahead."""
WIDE = 1.0
"""Width of the interval, as a share of the way to its middle, from which on it says nothing."""
LEAST_WAY = 0.02
"""Half the interval is never taken for less than this share of the step."""


class Forecast(msgspec.Struct, frozen=True, kw_only=True):
    """Where readings come to a limit: `at` as the curve counts, between `low` and `high`."""

    at: float
    low: float
    high: float
    slope: float
    limit: float


def slope_of(curve: Curve) -> float | None:
    """Give how much a leak adds for each step or second, in GiB; None of other shapes."""
    if shape_of(curve) != "linear":
        return None
    at, kept = _late(curve)
    found = line_through(at, kept)
    return None if found is None else found.slope


def forecast(curve: Curve, limit: float, end: float | None = None) -> Forecast | None:
    """Say where a leak comes to the limit.

    Args:
        curve: readings of memory.
        limit: GiB there are.
        end: where the training ends; None where it is not known.
    """
    if len(curve.values) < LEAST or shape_of(curve) != "linear":
        return None
    at, kept = _late(curve)
    whole = line_through(at, kept)
    if whole is None or whole.slope <= 0:
        return None
    left = limit - whole.value(at[-1])
    if left <= 0:
        return None
    slopes = [whole.slope, whole.low, whole.high, *_halves(at, kept)]
    if min(slopes) <= 0:
        return None
    now = at[-1]
    middle, soon, late = (now + left / slope for slope in (whole.slope, max(slopes), min(slopes)))
    room = LEAST_WAY * middle
    low, high = max(now, min(soon, middle - room)), max(late, middle + room)
    span = now - curve.at[0]
    if middle - now > AHEAD * span or high - low > WIDE * (middle - curve.at[0]):
        return None
    if end is not None and middle > end:
        return None
    return Forecast(at=middle, low=low, high=high, slope=whole.slope, limit=limit)


def _late(curve: Curve) -> tuple[list[float], list[float]]:
    """Leave out the start, where the longest samples so far come one after another."""
    at, kept = smoothed(curve.at, curve.values)
    from_ = at[0] + LATE * (at[-1] - at[0])
    first = next(i for i, place in enumerate(at) if place >= from_)
    return at[first:], kept[first:]


def _halves(at: Sequence[float], kept: Sequence[float]) -> list[float]:
    """Fit both halves apart: readings that hang together make an interval look too narrow."""
    half = len(at) // 2
    both = (line_through(at[:half], kept[:half]), line_through(at[half:], kept[half:]))
    return [line.slope for line in both if line is not None]
