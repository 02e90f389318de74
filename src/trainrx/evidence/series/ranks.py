"""How ranks, or cards, differ from one another: in memory, in use, in the time of a step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Literal

import msgspec

from trainrx.evidence.series.trend import median
from trainrx.model.curves import Curve, Quantity
from trainrx.model.facts import Origin

IN_USE = 1.0
"""GiB on a card from which on a job has it."""
APART_SHARE, APART_GIB = 0.1, 2.0
"""Cards differ from a tenth of the fullest and 2 GiB on, whichever is more."""
ALONE = 0.6
"""Share of the whole difference by which one stands out from all others."""
GROUPED = 0.6
"""Share of the whole difference that lies between two groups."""
ORDERED = 0.9
"""Share of the pairs that differ at all which are in order."""
LEAST_STEPS = 8
STEADY = 0.8
"""Share of the steps in which a straggler is behind."""
SLOWER = 1.15
LESS_USED = 20.0
"""Per cent points by which a card is used less than the others."""

Pattern = Literal[
    "first", "last", "one", "one-lower", "falling", "rising", "two-groups", "scattered"
]


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """How far ranks differ; `pattern` is "" where they hardly do."""

    difference: float
    highest: int
    lowest: int
    origins: tuple[Origin, ...]
    pattern: Pattern | Literal[""]


class Straggler(msgspec.Struct, frozen=True, kw_only=True):
    """A rank that steadily takes longer; `factor`: than the median of the others."""

    number: int
    factor: float
    origins: tuple[Origin, ...]


def by_number(curves: Iterable[Curve], quantity: Quantity) -> dict[int, Curve]:
    """Give one curve of each rank, or else of each card."""
    for unit in ("rank", "card"):
        found: dict[int, Curve] = {}
        for curve in curves:
            if curve.quantity == quantity and curve.unit == unit and curve.number is not None:
                found.setdefault(curve.number, curve)
        if len(found) > 1:
            return dict(sorted(found.items()))
    return {}


def memory_spread(curves: Sequence[Curve]) -> Spread | None:
    """Say how far the memory of ranks or cards differs; of cards those in use count."""
    found = by_number(curves, "memory")
    levels = {number: _level(curve) for number, curve in found.items()}
    levels = {number: level for number, level in levels.items() if level >= IN_USE}
    if len(levels) < 2:
        return None
    highest, lowest = (pick(levels, key=levels.__getitem__) for pick in (max, min))
    difference = levels[highest] - levels[lowest]
    apart = difference >= max(APART_SHARE * levels[highest], APART_GIB)
    return Spread(
        difference=difference,
        highest=highest,
        lowest=lowest,
        origins=(*found[highest].origins[-1:], *found[lowest].origins[-1:]),
        pattern=pattern(list(levels.values())) if apart else "",
    )


def _level(curve: Curve) -> float:
    """Give what a curve holds at last: of a rank its peak, of a card what is usual."""
    last = curve.values[len(curve.values) * 2 // 3 :]
    return max(last) if curve.unit == "rank" else median(last)


def pattern(levels: Sequence[float]) -> Pattern:
    """Name the order in which levels that differ stand."""
    ordered = sorted(levels)
    difference = ordered[-1] - ordered[0]
    if ordered[-1] - ordered[-2] >= ALONE * difference:
        at = levels.index(ordered[-1])
        return "first" if at == 0 else "last" if at == len(levels) - 1 else "one"
    if ordered[1] - ordered[0] >= ALONE * difference:
        return "one-lower"
    gap = max(b - a for a, b in pairwise(ordered))
    if gap >= GROUPED * difference:
        return "two-groups"
    pairs = [a - b for a, b in combinations(levels, 2) if abs(a - b) > difference / 10]
    falls = sum(pair > 0 for pair in pairs) / len(pairs)
    return "falling" if falls >= ORDERED else "rising" if falls <= 1 - ORDERED else "scattered"


def straggler(curves: Sequence[Curve]) -> Straggler | None:
    """Find the rank whose steps take longer, in nearly all of them."""
    times = {
        number: dict(zip(curve.at, curve.values, strict=True))
        for number, curve in by_number(curves, "step-time").items()
    }
    if len(times) < 2:
        return None
    shared = sorted(set.intersection(*(set(taken) for taken in times.values())))
    if len(shared) < LEAST_STEPS:
        return None
    found = by_number(curves, "step-time")
    for number in times:
        factors = list(_factors(number, times, shared))
        if sum(factor >= SLOWER for factor in factors) >= STEADY * len(shared):
            origins = found[number].origins
            return Straggler(number=number, factor=median(factors), origins=origins)
    return None


def _factors(
    number: int, times: Mapping[int, Mapping[float, float]], shared: Iterable[float]
) -> Iterator[float]:
    for at in shared:
        others = median([taken[at] for other, taken in times.items() if other != number])
        yield times[number][at] / others if others else 1.0


def least_used(curves: Sequence[Curve]) -> Straggler | None:
    """Find the card that is used much less than the others all along; `factor` in per cent less."""
    found = {
        number: curve
        for number, curve in by_number(curves, "utilisation").items()
        if len(curve.values) >= LEAST_STEPS
    }
    if len(found) < 2:
        return None
    levels = {number: median(curve.values) for number, curve in found.items()}
    lowest = min(levels, key=levels.__getitem__)
    less = median([level for number, level in levels.items() if number != lowest]) - levels[lowest]
    if less < LESS_USED:
        return None
    return Straggler(number=lowest, factor=less, origins=found[lowest].origins)
