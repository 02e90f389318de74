"""Metric lines and progress bars in the spellings of the frameworks.

Transformers and ms-swift print a dict per logged step (`{'loss': 1.2, ...}`; newer releases quote
the numbers), LLaMA-Factory and ms-swift write JSON lines, verl prints
`step:12 - actor/pg_loss:...`, Megatron `iteration 12/ 100 | ... | lm loss: ...`, and tqdm draws
`12/100 [00:10<01:20, 1.2s/it]`. Scripts of nobody's write `step 12 loss 0.1` in some form.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from trainrx.evidence.lines import bare
from trainrx.model.pattern import late

NAMES: Mapping[str, tuple[str, ...]] = {
    "loss": ("loss", "train/loss", "actor/pg_loss", "actor/loss"),
    "grad_norm": ("grad_norm", "train/grad_norm", "actor/grad_norm"),
    "learning_rate": ("learning_rate", "train/learning_rate", "actor/lr", "train/lr"),
    "memory": (
        "memory(GiB)",
        "train/memory(GiB)",
        "memory/device_reserved (GiB)",
        "train/memory/device_reserved (GiB)",
        "memory/device_mem_reserved(gib)",
        "perf/max_memory_reserved_gb",
        "perf/max_memory_allocated_gb",
    ),
    "allocated": (
        "memory/max_allocated (GiB)",
        "train/memory/max_allocated (GiB)",
        "memory/max_mem_allocated(gib)",
        "perf/max_memory_allocated_gb",
    ),
    "host": ("perf/cpu_memory_used_gb",),
    "length": (
        "completions/mean_length",
        "train/completions/mean_length",
        "completion_length",
        "train/completion_length",
        "response_length/mean",
    ),
    "slow": ("train_speed(s/it)", "train/train_speed(s/it)", "timing_s/step", "perf/time_per_step"),
    "fast": ("train_speed(iter/s)", "train/train_speed(iter/s)"),
    "step": ("global_step", "train/global_step", "step", "current_steps", "_step"),
    "total": ("max_steps", "total_steps"),
}
"""What trainers and trackers call a metric, the one that says most first."""
READ_AS = {
    key: tuple((name, keys.index(key)) for name, keys in NAMES.items() if key in keys)
    for names in NAMES.values()
    for key in names
}
"""What a key is read as, and how many keys say more."""
OTHERS = ("global_step/max_steps", "elapsed_time", "reward")
KEYS = (*(name for names in NAMES.values() for name in names), *OTHERS)
_SPELLED = "|".join(sorted(map(re.escape, dict.fromkeys(KEYS)), key=len, reverse=True))
PAIR = late(rf"['\"]({_SPELLED})['\"]: ?['\"]?([^'\",}}\s]{{1,40}}(?: \d{{1,2}}[ms]){{0,2}})")
VERL = late(
    rf"(?<![\w/])(?:actor/(?=perf/))?({_SPELLED}):(?:np\.\w{{1,20}}\()?(-?[\d.]{{1,30}}(?:e[-+]?\d{{1,4}})?|-?inf|nan)"
)
MEGATRON = late(
    r"(iteration|elapsed time per iteration \(ms\)|learning rate|lm loss|grad norm)[: ] {0,12}"
    r"(-?[\d.]{1,30}(?:E[-+]?\d{1,4})?|nan|inf)(?:/ {0,12}(\d{1,12}))?"
)
PLAIN_STEP = late(
    r"(?:^|[\s\[(,|;])(?:global[_ ])?(?:train(?:ing)?[_ ])?(?:step|iter(?:ation)?|batch)"
    r" {0,6}#?[=:\[]? {0,6}(\d{1,9})(?: ?(?:/|of) ?(\d{1,9}))?(?![\w.])",
    re.IGNORECASE,
)
PLAIN_LOSS = late(
    r"(?<![\w/.-])(?:train(?:ing)?[_ /])?loss {0,6}[=:]? {0,6}"
    r"(-?\d{1,12}(?:\.\d{0,20})?(?:e[-+]?\d{1,4})?|-?inf|nan)\b",
    re.IGNORECASE,
)
PLAIN_EPOCH = late(r"(?:^|[\s\[(,|;])epoch {0,6}#?[=:\[]? {0,6}\d", re.IGNORECASE)
NO_STEP = late(
    r"\b(?:best|eval|load|predict|restor|resum|sav|test|val(?:id)?(?:\b|ation|ating)|warm)\w*",
    re.IGNORECASE,
)
"""What else is done at a step, or with the numbers of one."""
BAR = late(
    r"(?P<name>[^|\r\n%]{0,80}?)\d{1,3}%\|[^|]{0,200}\| {0,4}(?P<done>\d{1,12})/(?P<total>\d{1,12})"
    r" \[[\d:]{1,12}<[\d:?]{1,12}, {0,12}(?P<rate>[\d.]{1,20})?\??(?P<unit>it/s|s/it)"
)
RANK_MEMORY = late(
    r"\[Rank (?P<rank>\d{1,6})\] \(after (?P<step>\d{1,9}) iterations\) memory \(MB\)"
    r" \| allocated: [\d.]{1,24} \| max allocated: (?P<used>\d{1,9}(?:\.\d{1,14})?)"
    r" \| reserved: [\d.]{1,24} \| max reserved: (?P<reserved>\d{1,9}(?:\.\d{1,14})?)"
)
TIMER = late(
    r"/global_step=(?P<step>\d{1,9}), .{1,120}MaxMemAllocated=(?P<most>\d{1,6}(?:\.\d{1,6})?)GB"
)
EVALUATIONS = ("eval_loss", "eval_runtime", "eval/loss", "eval/runtime")
TRAINING_BAR = late(r"\s*(?:(?:Train|Epoch|Steps)[^|:]{0,30}:?\s*)?$")
"""Trainers of transformers draw theirs without a name, ms-swift and verl with `Train...`."""
CLOCK = late(r"(?:(\d{1,4})d ?)?(?:(\d{1,4})h ?)?(?:(\d{1,4})m ?)?(?:(\d{1,6})s)?$")


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """One logged step.

    Attributes:
        memory: GiB reserved on the card, or what else is logged of it; allocated: used by tensors.
        host: GiB of the machine that are used.
        seconds: for a step; elapsed: since the start.
        length: mean tokens of completions.
    """

    line: int
    step: int | None = None
    total: int | None = None
    loss: float | None = None
    grad_norm: float | None = None
    learning_rate: float | None = None
    memory: float | None = None
    allocated: float | None = None
    host: float | None = None
    length: float | None = None
    seconds: float | None = None
    elapsed: float | None = None
    rewarded: bool = False


class ProgressBar(msgspec.Struct, frozen=True, kw_only=True):
    """A progress bar: `seconds` per step; `training`: nothing says it counts other things."""

    done: int
    total: int
    seconds: float | None
    training: bool


class MemoryLine(msgspec.Struct, frozen=True, kw_only=True):
    """Memory that a rank prints apart from its metrics, in GiB."""

    line: int
    memory: float
    allocated: float
    rank: int | None = None
    step: int | None = None


def point_of_line(text: str, line: int) -> Point | None:
    """Read the metrics a log line prints, or give None when it prints none."""
    pairs = PAIR.findall(text)
    if pairs:
        return point(dict(pairs), line)
    if "iteration" in text and "elapsed time per iteration" in text:
        return _megatron(text, line)
    verl = dict(VERL.findall(text))
    return _point(verl, line, rewarded=True) if len(verl) > 1 else _plain(text, line)


def _plain(text: str, line: int) -> Point | None:
    """Read a step as scripts print it: `[step 5/9] loss: 0.1`, `epoch 1 step 5`."""
    step = PLAIN_STEP.search(text)
    if step is None or NO_STEP.search(text) is not None:
        return None
    loss = PLAIN_LOSS.search(text, step.end())
    if loss is None and PLAIN_EPOCH.search(text) is None:
        return None
    return Point(
        line=line,
        step=int(step[1]),
        total=_whole(_float(step[2])),
        loss=None if loss is None else _float(loss[1]),
    )


def point(pairs: Mapping[str, object], line: int) -> Point | None:
    """Read the metrics of one logged step; None without a loss: an evaluation, or the end."""
    found = _point(pairs, line, rewarded=any(key.endswith("reward") for key in pairs))
    return None if found.loss is None else found


def _point(pairs: Mapping[str, object], line: int, *, rewarded: bool) -> Point:
    values = _values(pairs)
    step, total = values.pop("step"), values.pop("total")
    slow, fast = values.pop("slow"), values.pop("fast")
    both = str(pairs.get("global_step/max_steps", "")).split("/")
    if len(both) == 2:
        step, total = _float(both[0]), _float(both[1])
    return Point(
        line=line,
        step=_whole(step),
        total=_whole(total),
        seconds=slow if slow is not None else (1 / fast if fast else None),
        elapsed=elapsed(str(pairs.get("elapsed_time", ""))),
        rewarded=rewarded,
        **values,
    )


def is_evaluation(pairs: Mapping[str, object]) -> bool:
    """Tell whether a record sums up an evaluation."""
    return any(name in pairs for name in EVALUATIONS)


def memory_of_line(text: str, line: int) -> MemoryLine | None:
    """Read what Megatron prints of the memory of each rank, and DeepSpeed of that of the first."""
    if (found := RANK_MEMORY.search(text)) is not None:
        used, reserved = (float(found[name]) / 1024 for name in ("used", "reserved"))
        rank, step = int(found["rank"]), int(found["step"])
        return MemoryLine(line=line, memory=reserved, allocated=used, rank=rank, step=step)
    if (found := TIMER.search(text)) is not None:
        most = float(found["most"])
        return MemoryLine(line=line, memory=most, allocated=most, step=int(found["step"]))
    return None


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
        learning_rate=pairs.get("learning rate"),
        seconds=None if took is None else took / 1000,
    )


def may_train(line: bytes) -> bool:
    """Tell whether a bar on a line may be the training's: most bars bear another name."""
    name = line.partition(b"%|")[0].rstrip(b"0123456789").rstrip()
    if line.count(b"%|") != 1 or not name.endswith(b":") or name.endswith((b"]:", b">:")):
        return True
    return any(word in name for word in (b"Train", b"Epoch", b"Steps"))


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


def _values(pairs: Mapping[str, object]) -> dict[str, float | None]:
    """Give each metric as the key that says most of it has it."""
    values: dict[str, float | None] = dict.fromkeys(NAMES)
    taken: dict[str, int] = {}
    for key, text in pairs.items():
        for name, order in READ_AS.get(key, ()):
            if order < taken.get(name, len(KEYS)) and (value := _float(text)) is not None:
                values[name], taken[name] = value, order
    return values


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
