"""Metric lines and progress bars in the spellings of the frameworks.

Transformers and ms-swift print a dict per logged step (`{'loss': 1.2, ...}`; newer releases quote
the numbers), LLaMA-Factory and ms-swift write JSON lines, verl prints
`step:12 - actor/pg_loss:...`, Megatron `iteration 12/ 100 | ... | lm loss: ...`, and tqdm draws
`12/100 [00:10<01:20, 1.2s/it]`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import msgspec

from trainrx.evidence.lines import bare
from trainrx.model.facts import Origin
from trainrx.model.pattern import late

PAIR = late(
    r"['\"](loss|grad_norm|memory\(GiB\)|train_speed\((?:iter/s|s/it)\)|global_step/max_steps"
    r"|global_step|step|max_steps|current_steps|total_steps|elapsed_time|reward)['\"]"
    r": ?['\"]?([^'\",}\s]{1,40}(?: \d{1,2}[ms]){0,2})"
)
VERL = late(
    r"\b(step|actor/pg_loss|actor/loss|train/loss|actor/grad_norm|train/grad_norm"
    r"|perf/max_memory_(?:allocated|reserved)_gb|timing_s/step|perf/time_per_step)"
    r":(?:np\.\w{1,20}\()?(-?[\d.]{1,30}(?:e[-+]?\d{1,4})?|-?inf|nan)"
)
MEGATRON = late(
    r"(iteration|elapsed time per iteration \(ms\)|lm loss|grad norm)[: ] {0,12}"
    r"(-?[\d.]{1,30}(?:E[-+]?\d{1,4})?|nan|inf)(?:/ {0,12}(\d{1,12}))?"
)
BAR = late(
    r"(?P<name>[^|\r\n%]{0,80}?)\d{1,3}%\|[^|]{0,200}\| {0,4}(?P<done>\d{1,12})/(?P<total>\d{1,12})"
    r" \[[\d:]{1,12}<[\d:?]{1,12}, {0,12}(?P<rate>[\d.]{1,20})?\??(?P<unit>it/s|s/it)"
)
TRAINING_BAR = late(r"\s*(?:(?:Train|Epoch|Steps)[^|:]{0,30}:?)?\s*$")
"""Trainers of transformers draw theirs without a name, ms-swift and verl with `Train...`."""
CLOCK = late(r"(?:(\d{1,4})d ?)?(?:(\d{1,4})h ?)?(?:(\d{1,4})m ?)?(?:(\d{1,6})s)?$")


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """One logged step. `memory` in GiB, `seconds` per step, `elapsed` seconds since the start."""

    line: int
    step: int | None = None
    total: int | None = None
    loss: float | None = None
    grad_norm: float | None = None
    memory: float | None = None
    seconds: float | None = None
    elapsed: float | None = None
    rewarded: bool = False


class ProgressBar(msgspec.Struct, frozen=True, kw_only=True):
    """A progress bar: `seconds` per step; `training`: nothing says it counts other things."""

    done: int
    total: int
    seconds: float | None
    training: bool


def point_of_line(text: str, line: int) -> Point | None:
    """Read the metrics a log line prints, or give None when it prints none."""
    pairs = PAIR.findall(text)
    if pairs:
        return point(dict(pairs), line)
    if "iteration" in text and "elapsed time per iteration" in text:
        return _megatron(text, line)
    verl = dict(VERL.findall(text))
    return _verl(verl, line) if len(verl) > 1 else None


def point(pairs: Mapping[str, object], line: int) -> Point | None:
    """Read the metrics of one logged step; None without a loss: an evaluation, or the end."""
    both = str(pairs.get("global_step/max_steps", "")).split("/")
    step = _first(pairs, ("global_step", "step", "current_steps"))
    total = _first(pairs, ("max_steps", "total_steps"))
    found = Point(
        line=line,
        step=_whole(_float(both[0]) if len(both) == 2 else step),
        total=_whole(_float(both[1]) if len(both) == 2 else total),
        loss=_float(pairs.get("loss")),
        grad_norm=_float(pairs.get("grad_norm")),
        memory=_float(pairs.get("memory(GiB)")),
        seconds=_pace(pairs),
        elapsed=elapsed(str(pairs.get("elapsed_time", ""))),
        rewarded="reward" in pairs,
    )
    return None if found.loss is None else found


def _pace(pairs: Mapping[str, object]) -> float | None:
    slow = _float(pairs.get("train_speed(s/it)"))
    fast = _float(pairs.get("train_speed(iter/s)"))
    return slow if slow is not None else (1 / fast if fast else None)


def _verl(pairs: Mapping[str, str], line: int) -> Point:
    memory = _first(pairs, ("perf/max_memory_reserved_gb", "perf/max_memory_allocated_gb"))
    return Point(
        line=line,
        step=_whole(_float(pairs.get("step"))),
        loss=_first(pairs, ("actor/pg_loss", "actor/loss", "train/loss")),
        grad_norm=_first(pairs, ("actor/grad_norm", "train/grad_norm")),
        memory=memory,
        seconds=_first(pairs, ("timing_s/step", "perf/time_per_step")),
        rewarded=True,
    )


def _megatron(text: str, line: int) -> Point:
    pairs: dict[str, float | None] = {}
    total: float | None = None
    for name, value, whole in MEGATRON.findall(text):
        pairs.setdefault(name, _float(value))
        total = _float(whole) if whole else total
    took = pairs.get("elapsed time per iteration (ms)")
    return Point(
        line=line,
        step=_whole(pairs.get("iteration")),
        total=_whole(total),
        loss=pairs.get("lm loss"),
        grad_norm=pairs.get("grad norm"),
        seconds=None if took is None else took / 1000,
    )


def bar_of_line(text: str) -> ProgressBar | None:
    """Read the last progress bar drawn on a line, or give None when there is none."""
    drawn = list(BAR.finditer(text))
    if not drawn:
        return None
    last = drawn[-1]
    rate = _float(last["rate"])
    if rate and last["unit"] == "it/s":
        rate = 1 / rate
    return ProgressBar(
        done=int(last["done"]),
        total=int(last["total"]),
        seconds=rate or None,
        training=TRAINING_BAR.match(bare(last["name"])) is not None,
    )


def elapsed(text: str) -> float | None:
    """Read a running time, `0:01:02`, `1:02:03:04` or `1h 2m 3s`, in seconds."""
    parts = text.replace(" day, ", ":").replace(" days, ", ":").split(":")
    if 2 <= len(parts) <= 4 and all(part.isdigit() for part in parts):
        factors = (1, 60, 3600, 86400)
        return float(sum(int(p) * f for p, f in zip(reversed(parts), factors, strict=False)))
    found = CLOCK.match(text)
    if found is None or not found.lastindex:
        return None
    units = (86400, 3600, 60, 1)
    return float(sum(int(n or 0) * u for n, u in zip(found.groups(), units, strict=True)))


def _first(pairs: Mapping[str, object], names: Iterable[str]) -> float | None:
    return next((value for name in names if (value := _float(pairs.get(name))) is not None), None)


def _float(value: object) -> float | None:
    """Read a number, NaN and infinity included: a loss that is not finite is what we look for."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def _whole(value: float | None) -> int | None:
    return int(value) if value is not None and abs(value) < 1e15 else None


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
