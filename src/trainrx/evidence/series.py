"""What a run logged step after step, held in bounded memory."""

from __future__ import annotations

import math

import msgspec

from trainrx.evidence.metrics import Point, ProgressBar
from trainrx.model.facts import Origin

MOST_POINTS = 2048
ZERO_STEPS = 3
"""Logged steps in a row with a loss of exactly 0 and a dead gradient that make it a symptom."""


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """A remarkable step, with the line that shows it."""

    origin: Origin
    step: int | None
    order: int


class Series:
    """The steps of one source. Old points are thinned out; remarkable ones are kept apart."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.points: list[Point] = []
        self.count = 0
        self.total: int | None = None
        self.step: int | None = None
        self.pace: float | None = None
        self.marks: dict[str, Mark] = {}
        self._stride = 1
        self._zeros: list[Mark] = []
        self._last: Point | None = None

    def wants(self) -> bool:
        """Tell whether the next line is to be parsed, or only counted.

        After the first points a line in 2, 4, 8 ... is enough for a trend.
        """
        return self.count % self._stride == 0

    def skip(self) -> None:
        """Count a line that was not parsed."""
        self.count += 1
        self._zeros = []

    def add(self, point: Point, quote: str) -> None:
        """Take one logged step; `quote` is the line it stands on."""
        self.total = point.total or self.total
        self.step = self.step if point.step is None else point.step
        self._mark(point, quote)
        self._last = point
        self.points.append(point)
        if len(self.points) > MOST_POINTS:
            self.points = self.points[::2]
            self._stride *= 2

    def see_bar(self, bar: ProgressBar) -> bool:
        """Take a progress bar; tells whether it counts the steps of the training."""
        if not bar.training or (self.total is not None and bar.total != self.total):
            return False
        self.total = bar.total
        self.step = bar.done
        self.pace = bar.seconds or self.pace
        return True

    def all_points(self) -> list[Point]:
        """Give the kept points in order, the last one always among them."""
        last = self._last
        if last is None or (self.points and self.points[-1] is last):
            return self.points
        return [*self.points, last]

    def _mark(self, point: Point, quote: str) -> None:
        step = self.step if point.step is None else point.step
        origin = Origin(source=self.source, line=point.line, text=quote)
        mark = Mark(origin=origin, step=step, order=self.count)
        if point.loss is not None and math.isnan(point.loss):
            self.marks.setdefault("loss-nan", mark)
        # an infinite norm is one overflow that loss scaling skips; NaN does not come back
        if point.grad_norm is not None and math.isnan(point.grad_norm):
            self.marks.setdefault("grad-norm-nan", mark)
        self._zeros = [*self._zeros, mark][:ZERO_STEPS] if _dead(point) else []
        if len(self._zeros) == ZERO_STEPS:
            self.marks.setdefault("loss-zero", self._zeros[0])


def _dead(point: Point) -> bool:
    """Tell whether a step learned nothing: loss exactly 0 and a gradient that is NaN or 0.

    With rewards a loss of 0 is normal (the advantages cancel out), and so is a gradient of 0 when
    all answers earn the same; only NaN counts there.
    """
    if point.loss != 0 or point.grad_norm is None:
        return False
    return math.isnan(point.grad_norm) or (point.grad_norm == 0 and not point.rewarded)
