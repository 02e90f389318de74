"""Metric lines and progress bars in the spellings of the frameworks.

Transformers and ms-swift print a dict per logged step (`{'loss': 1.2, ...}`; newer releases quote
the numbers), LLaMA-Factory and ms-swift write JSON lines, verl prints
`step:12 - actor/pg_loss:...`, Megatron `iteration 12/ 100 | ... | lm loss: ...`, and tqdm draws
`12/100 [00:10<01:20, 1.2s/it]`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from trainrx.evidence.lines import bare
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
