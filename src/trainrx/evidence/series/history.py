"""The logged steps of one source, thinned out, with what is remarkable among them."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator

import msgspec

from trainrx.evidence.series.points import MemoryLine, Point, ProgressBar
from trainrx.model.curves import Curve, Quantity
from trainrx.model.facts import Origin

MOST_POINTS = 2048
MOST_LINES = 4096
"""Lines of memory of ranks, and evaluations, of one source that are kept."""
RECENT = 24
"""Logged steps before the first NaN that are kept, however many there were."""
ZERO_STEPS = 3
"""Logged steps in a row with a loss of exactly 0 and a dead gradient that make it a symptom."""


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """A remarkable step, with the line that shows it and the steps before."""

    origin: Origin
    step: int | None
    order: int
    before: tuple[Point, ...] = ()


class Series:
    """The steps of one source. Old points are thinned out; remarkable ones are kept apart.

    Args:
        source: what it is cited by.
        rank: whose steps they are.
        most: points that are kept.
    """

    def __init__(self, source: str, rank: int | None = None, most: int = MOST_POINTS) -> None:
        self.most = most
        self.source = source
        self.rank = rank
        self.points: list[Point] = []
        self.count = 0
        self.total: int | None = None
        self.step: int | None = None
        self.pace: float | None = None
        self.marks: dict[str, Mark] = {}
        self.evaluations: list[tuple[int, int | None]] = []
        self.memory: list[MemoryLine] = []
        self._places: list[int] = []
        self._recent: deque[Point] = deque(maxlen=RECENT)
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
        self._recent.append(point)
        self._last = point
        self.points.append(point)
        self._places.append(self.count)
        if len(self.points) > self.most:
            self.points, self._places = self.points[::2], self._places[::2]
            self._stride *= 2

    def see_evaluation(self) -> None:
        """Take that an evaluation was made behind the last step."""
        if len(self.evaluations) < MOST_LINES:
            self.evaluations.append((self.count, self.step))

    def see_memory(self, found: MemoryLine) -> None:
        """Take what a rank prints of its memory."""
        if len(self.memory) < MOST_LINES:
            self.memory.append(found)

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

    def curve(self, quantity: Quantity, value: Callable[[Point], float | None]) -> Curve | None:
        """Give the readings of one quantity, over steps or else over logged lines."""
        stepped = all(point.step is not None for point in self.points)
        scale = 1.0 if stepped or not self.step else self.step / max(self.count, 1)
        kept = [
            (float(point.step or 0) if stepped else scale * place, found, point.line)
            for place, point in zip(self._places, self.points, strict=True)
            if (found := value(point)) is not None and math.isfinite(found)
        ]
        if not kept:
            return None
        evaluations = (step if stepped else scale * place for place, step in self.evaluations)
        return Curve(
            quantity=quantity,
            source=self.source,
            at=tuple(at for at, _, _ in kept),
            values=tuple(found for _, found, _ in kept),
            lines=tuple(line for _, _, line in kept),
            number=self.rank,
            evaluations=tuple(0.5 + place for place in evaluations if place is not None),
        )

    def memory_curves(self) -> Iterator[Curve]:
        """Give what ranks print of their memory apart from the metrics."""
        ranks: dict[int | None, list[MemoryLine]] = {}
        for found in self.memory:
            ranks.setdefault(self.rank if found.rank is None else found.rank, []).append(found)
        for rank, lines in ranks.items():
            both: tuple[tuple[Quantity, list[float]], ...] = (
                ("memory", [line.memory for line in lines]),
                ("allocated", [line.allocated for line in lines]),
            )
            for quantity, values in both:
                yield Curve(
                    quantity=quantity,
                    source=self.source,
                    at=tuple(float(line.step or i) for i, line in enumerate(lines)),
                    values=tuple(values),
                    lines=tuple(line.line for line in lines),
                    number=rank,
                )

    def _mark(self, point: Point, quote: str) -> None:
        step = self.step if point.step is None else point.step
        origin = Origin(source=self.source, line=point.line, text=quote)
        before = tuple(self._recent)
        mark = Mark(origin=origin, step=step, order=self.count, before=before)
        if point.loss is not None and math.isnan(point.loss):
            self.marks.setdefault("loss-nan", mark)
        # an infinite norm is one overflow that loss scaling skips; NaN does not come back
        if point.grad_norm is not None and math.isnan(point.grad_norm):
            self.marks.setdefault("grad-norm-nan", mark)
        if point.grad_norm == 0:
            self.marks.setdefault("gradient-zero", mark)
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
