"""What curves of memory say: their shape, when they run out, how far ranks differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainrx.evidence.series.forecast import Forecast, forecast, slope_of
from trainrx.evidence.series.ranks import least_used, memory_spread, straggler
from trainrx.evidence.series.shapes import grows, shape_of
from trainrx.model.curves import Curve, Quantity
from trainrx.model.facts import Fact, Facts, fact

OUTSIDE_TORCH = 1.0
"""GiB of a card that its context and NCCL take, which torch does not count as its own."""
MOST_FORECASTS = 16
HOUR = 3600.0


def leading_memory(curves: Sequence[Curve], quantity: Quantity = "memory") -> Curve | None:
    """Pick the curve with the most readings, of several that which ends highest."""
    found = [curve for curve in curves if curve.quantity == quantity]
    return max(found, key=lambda curve: (len(curve.values), curve.values[-1]), default=None)


def used_of(memory: Curve, curves: Sequence[Curve]) -> Curve | None:
    """Give what of reserved memory tensors use, as the same source logs it."""
    own = (memory.source, memory.number)
    return next(
        (c for c in curves if c.quantity == "allocated" and (c.source, c.number) == own), None
    )


def memory_facts(curves: Sequence[Curve]) -> Iterator[Fact]:
    """Say how memory of the card and of the machine develops, and how ranks differ."""
    memory = leading_memory(curves)
    if memory is not None:
        yield from _developing(memory, used_of(memory, curves), "series.memory")
        peak = max(memory.values)
        yield fact("series.memory_peak_gib", peak, *memory.origins)
    host = leading_memory(curves, "host-memory")
    if host is not None:
        yield from _developing(host, None, "series.host_memory")
    yield from _rank_facts(curves)


def _developing(curve: Curve, used: Curve | None, name: str) -> Iterator[Fact]:
    shape = shape_of(curve, used)
    if shape is not None:
        yield fact(f"{name}_trend", shape, *curve.origins, how="derived")
    slope = slope_of(curve) if shape == "linear" else None
    if slope is not None and curve.by == "step":
        yield fact(f"{name}_gib_per_step", round(slope, 6), *curve.origins, how="derived")
    elif slope is not None and curve.by == "second":
        yield fact(f"{name}_gib_per_hour", round(slope * HOUR, 3), *curve.origins, how="derived")
    yield fact(f"{name}_first_gib", curve.values[0], *curve.origins)
    yield fact(f"{name}_last_gib", curve.values[-1], *curve.origins)


def _rank_facts(curves: Sequence[Curve]) -> Iterator[Fact]:
    spread = memory_spread(curves)
    if spread is not None:
        at = spread.origins
        yield fact("series.rank_spread_gib", round(spread.difference, 2), *at, how="derived")
        if spread.pattern:
            yield fact("series.rank_pattern", spread.pattern, *at, how="derived")
            yield fact("series.rank_highest", spread.highest, *at, how="derived")
            yield fact("series.rank_lowest", spread.lowest, *at, how="derived")
    slow = straggler(curves)
    if slow is not None:
        yield fact("series.slowest_rank", slow.number, *slow.origins, how="derived")
        yield fact("series.slow_factor", round(slow.factor, 2), *slow.origins, how="derived")
    idle = least_used(curves)
    if idle is not None:
        yield fact("series.least_used_card", idle.number, *idle.origins, how="derived")


def forecast_facts(curves: Sequence[Curve], facts: Facts) -> Iterator[Fact]:
    """Say when memory runs out, given how much there is and how long the training goes on."""
    card = facts.number("hardware.gpu_gib")
    machine = facts.number("hardware.host_ram_gib")
    total = facts.number("series.total_steps")
    soonest = _soonest(curves, "memory", None if card is None else card - OUTSIDE_TORCH, total)
    yield from _running_out(soonest, "series.memory_forecast")
    yield from _running_out(
        _soonest(curves, "host-memory", machine, total), "series.host_memory_forecast"
    )


def _soonest(
    curves: Sequence[Curve], quantity: Quantity, limit: float | None, total: float | None
) -> tuple[Curve, Forecast] | None:
    found = [curve for curve in curves if curve.quantity == quantity]
    found.sort(key=lambda curve: -curve.values[-1])
    coming: list[tuple[Curve, Forecast]] = []
    for curve in found[:MOST_FORECASTS]:
        most = curve.limit or limit
        if most is None or not _leaks(curve, curves):
            continue
        made = forecast(curve, most, total if curve.by == "step" else None)
        if made is not None:
            coming.append((curve, made))
    return min(coming, key=lambda one: one[1].at - one[0].at[-1], default=None)


def _leaks(curve: Curve, curves: Sequence[Curve]) -> bool:
    """Tell whether a curve is carried on: over time only what lasts longer than loading."""
    if curve.by == "reading" or (curve.by == "second" and not grows(curve)):
        return False
    return shape_of(curve, used_of(curve, curves)) == "linear"


def _running_out(found: tuple[Curve, Forecast] | None, name: str) -> Iterator[Fact]:
    if found is None:
        return
    curve, made = found
    if curve.by == "step":
        places = {"step": made.at, "low": made.low, "high": made.high}
        for which, place in places.items():
            yield fact(f"{name}_{which}", round(place), *curve.origins, how="derived")
    else:
        hours = (made.at - curve.at[-1]) / HOUR
        yield fact(f"{name}_hours", round(hours, 2), *curve.origins, how="derived")
