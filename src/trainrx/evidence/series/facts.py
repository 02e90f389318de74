"""Facts and symptoms out of the series of a run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Literal

from trainrx.evidence.series.points import Mark, Point, Series
from trainrx.model.facts import Fact, Origin, fact
from trainrx.model.job import Hit, SymptomHits

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


MOST_RATES = 512


def leading(series: Sequence[Series]) -> Series | None:
    """Pick the source that logged the most steps: the others repeat it."""
    full = [item for item in series if item.count or item.step is not None]
    return max(full, key=lambda item: item.count, default=None)


def series_facts(series: Sequence[Series]) -> Iterator[Fact]:
    """Derive `series.*` from the richest source; NaN and zero losses from any."""
    lead = leading(series)
    if lead is None:
        return
    points = lead.all_points()
    origins = _ends(lead, points)
    if lead.count:
        yield fact("series.steps", lead.count, *origins)
    step = max((item.step for item in series if item.step is not None), default=None)
    if step is not None:
        yield fact("series.last_step", step, *origins)
    total = lead.total or next((item.total for item in series if item.total), None)
    if total is not None:
        yield fact("series.total_steps", total, *origins)
    pace = _pace(lead, points) or next((item.pace for item in series if item.pace), None)
    if pace is not None:
        yield fact("series.seconds_per_step", round(pace, 4), *origins)
    yield from _memory_facts(lead, points)
    yield from _marked_facts(series)


def _ends(series: Series, points: Sequence[Point]) -> tuple[Origin, ...]:
    lines = dict.fromkeys((points[0].line, points[-1].line)) if points else {}
    return tuple(Origin(source=series.source, line=line) for line in lines)


def _pace(series: Series, points: Sequence[Point]) -> float | None:
    """Give seconds per step: what is logged, or the slope of the running time over the steps."""
    said = [point.seconds for point in points if point.seconds and math.isfinite(point.seconds)]
    if said:
        return _middle(sorted(said[-MOST_RATES:]))
    timed = [p for p in points if p.elapsed is not None and p.step is not None]
    if len(timed) > 1:
        took = (timed[-1].elapsed or 0.0) - (timed[0].elapsed or 0.0)
        steps = (timed[-1].step or 0) - (timed[0].step or 0)
        if steps > 0 and took > 0:
            return took / steps
    return series.pace


def memory_of(points: Sequence[Point]) -> list[float]:
    """Give the memory readings in order, GiB."""
    return [p.memory for p in points if p.memory is not None and math.isfinite(p.memory)]


def _memory_facts(series: Series, points: Sequence[Point]) -> Iterator[Fact]:
    values = memory_of(points)
    if not values:
        return
    origins = _ends(series, points)
    trend = memory_trend(values)
    if trend is not None:
        yield fact("series.memory_trend", trend, *origins, how="derived")
    yield fact("series.memory_first_gib", values[0], *origins)
    yield fact("series.memory_last_gib", values[-1], *origins)
    yield fact("series.memory_peak_gib", max(values), *origins)


def _marked_facts(series: Sequence[Series]) -> Iterator[Fact]:
    nan = _mark(series, "loss-nan")
    if nan is not None and nan.step is not None:
        yield fact("series.first_nan_step", nan.step, nan.origin)
    losses = any(p.loss is not None for item in series for p in item.points)
    zero = _mark(series, "loss-zero")
    if zero is not None or losses:
        yield fact("series.loss_zero", zero is not None, *((zero.origin,) if zero else ()))
    norms = any(p.grad_norm is not None for item in series for p in item.points)
    grad = _mark(series, "grad-norm-nan")
    if grad is not None or norms:
        yield fact("series.grad_norm_nan", grad is not None, *((grad.origin,) if grad else ()))


def _mark(series: Sequence[Series], kind: str) -> Mark | None:
    return next((item.marks[kind] for item in series if kind in item.marks), None)


def _middle(ordered: Sequence[float]) -> float:
    """Give the median of numbers in order; `statistics` takes 5 ms to import."""
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def series_symptoms(series: Sequence[Series], seen: set[str]) -> Iterator[SymptomHits]:
    """Give the symptoms only the series shows, unless a signature has shown them already."""
    for kind in ("loss-nan", "loss-zero", "grad-norm-nan"):
        mark = _mark(series, kind)
        if mark is not None and kind not in seen:
            yield _symptom(kind, mark.origin, mark.step)
    lead = leading(series)
    if lead is None:
        return
    points = lead.all_points()
    if not seen & {"loss-nan", "loss-diverges"} and _mark(series, "loss-nan") is None:
        yield from _divergence(lead.source, points)
    if "memory-grows" in seen:
        return
    if grows(memory_of(points)):
        last = [point for point in points if point.memory is not None][-1]
        text = f"memory {memory_of(points)[0]:g} -> {last.memory:g} GiB"
        origin = Origin(source=lead.source, line=last.line, text=text)
        yield _symptom("memory-grows", origin, last.step)


def _divergence(source: str, points: Sequence[Point]) -> Iterator[SymptomHits]:
    logged = [p for p in points if p.loss is not None and math.isfinite(p.loss)]
    losses = [p.loss for p in logged if p.loss is not None]
    # with rewards the loss is a difference around 0, its size says nothing
    if any(p.rewarded for p in logged) or not diverges(losses):
        return
    text = f"loss {losses[0]:g}, lowest {min(losses):g} -> {losses[-1]:g}"
    origin = Origin(source=source, line=logged[-1].line, text=text)
    yield _symptom("loss-diverges", origin, logged[-1].step)


def _symptom(kind: str, origin: Origin, step: int | None) -> SymptomHits:
    hit = Hit(
        symptom=kind,
        source=origin.source,
        line=origin.line or 0,
        text=origin.text,
        phase="train",
        step=step,
    )
    return SymptomHits(symptom=kind, count=1, hits=(hit,))
