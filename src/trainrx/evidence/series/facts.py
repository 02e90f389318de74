"""Facts out of the series of a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter

from trainrx.evidence.series.history import Mark, Series
from trainrx.evidence.series.memory import memory_facts
from trainrx.evidence.series.onset import onset
from trainrx.evidence.series.points import Point
from trainrx.evidence.series.trend import median
from trainrx.model.curves import Curve, Quantity
from trainrx.model.facts import Fact, Origin, fact

MOST_RATES = 512


def leading(series: Sequence[Series]) -> Series | None:
    """Pick the source that logged the most steps: the others repeat it."""
    full = [item for item in series if item.count or item.step is not None]
    return max(full, key=lambda item: item.count, default=None)


def series_facts(series: Sequence[Series], skipped: Sequence[int] = ()) -> Iterator[Fact]:
    """Derive `series.*` from the richest source; NaN and zero losses from any.

    `skipped`: the lines on which loss scaling says that it skipped a step.
    """
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
    yield from memory_facts(curves_of(series))
    yield from _marked_facts(series)
    yield from _onset_facts(series, skipped)


def _ends(series: Series, points: Sequence[Point]) -> tuple[Origin, ...]:
    lines = dict.fromkeys((points[0].line, points[-1].line)) if points else {}
    return tuple(Origin(source=series.source, line=line) for line in lines)


def _pace(series: Series, points: Sequence[Point]) -> float | None:
    """Give seconds per step: what is logged, or the slope of the running time over the steps."""
    said = [point.seconds for point in points if point.seconds and math.isfinite(point.seconds)]
    if said:
        return median(said[-MOST_RATES:])
    timed = [p for p in points if p.elapsed is not None and p.step is not None]
    if len(timed) > 1:
        took = (timed[-1].elapsed or 0.0) - (timed[0].elapsed or 0.0)
        steps = (timed[-1].step or 0) - (timed[0].step or 0)
        if steps > 0 and took > 0:
            return took / steps
    return series.pace


QUANTITIES: Mapping[Quantity, Callable[[Point], float | None]] = {
    "memory": attrgetter("memory"),
    "allocated": attrgetter("allocated"),
    "host-memory": attrgetter("host"),
    "step-time": attrgetter("seconds"),
}
"""What a logged step says of a quantity."""


def curves_of(series: Sequence[Series]) -> tuple[Curve, ...]:
    """Give what was logged of each quantity by each source, and what ranks print of memory."""
    logged = (
        item.curve(quantity, value) for item in series for quantity, value in QUANTITIES.items()
    )
    printed = (curve for item in series for curve in item.memory_curves())
    return (*(curve for curve in logged if curve is not None), *printed)


def _marked_facts(series: Sequence[Series]) -> Iterator[Fact]:
    nan = mark_of(series, "loss-nan")
    if nan is not None and nan.step is not None:
        yield fact("series.first_nan_step", nan.step, nan.origin)
    losses = any(p.loss is not None for item in series for p in item.points)
    zero = mark_of(series, "loss-zero")
    if zero is not None or losses:
        yield fact("series.loss_zero", zero is not None, *((zero.origin,) if zero else ()))
    norms = any(p.grad_norm is not None for item in series for p in item.points)
    grad = mark_of(series, "grad-norm-nan")
    if grad is not None or norms:
        yield fact("series.grad_norm_nan", grad is not None, *((grad.origin,) if grad else ()))


def mark_of(series: Sequence[Series], kind: str) -> Mark | None:
    """Give the first mark of a kind."""
    return next((item.marks[kind] for item in series if kind in item.marks), None)


NEAR_LINES = 400
"""Lines before the first NaN on which skipped steps belong to it."""


def _onset_facts(series: Sequence[Series], skipped: Sequence[int]) -> Iterator[Fact]:
    """Say what moved before the first NaN."""
    marks = (mark_of(series, kind) for kind in ("loss-nan", "grad-norm-nan"))
    first = min((mark for mark in marks if mark), key=lambda mark: mark.order, default=None)
    if first is None:
        return
    line = first.origin.line or 0
    near = sum(line - NEAR_LINES <= place < line for place in skipped)
    yield fact("series.nan_after", onset(first, near), first.origin, how="derived")
