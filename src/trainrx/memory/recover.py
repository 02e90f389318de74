"""What a failed request was: every tensor of the job it may be, weighed against each other.

The printed figure leaves an interval of bytes. For each tensor the chance is counted that it has
a size in there: a size the launch fixes is a hit or a miss; one that grows with tokens always has
some count in the interval, so its size alone proves nothing and place and stage of the failure
decide. Whatever nobody modelled takes part as a tensor of any size. What wins clearly is a fact,
the rest stays unknown.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import msgspec

from trainrx.memory.growing import GrowingTensor, Unit, counted_sizes
from trainrx.memory.printed import MIDDLE_SEGMENT, Interval
from trainrx.memory.sizes import FixedTensor, Kind, RequestContext, known_sizes

ALL_SIZES = math.log(100 * 2**30 / 2**21)
"""Nats between the smallest and the largest request that fails."""
EXPECTED = 0.5
"""Chance that a job with a length limit fails on a full batch: samples are cut to it or packed."""
AT_SITE, OFF_SITE = 8.0, 1 / 32
"""How a traceback moves the odds of what happens there, and of what does not."""
ELSE_AT_SITE = 0.25
"""Where a traceback names a place, most of what is asked for there is modelled."""
SURE, AT_ONCE = 0.95, 0.8
"""Chance from which a kind is told without and with a traceback that agrees."""
DECIDED = 0.9
"""Chance from which one reading of a kind is told."""
NARROW = 0.02
"""Width of a count that may still be told as one number."""

PRIORS: dict[Kind, float] = {
    "logits": 0.4,
    "eval-logits": 0.3,
    "attention-scores": 0.2,
    "activation": 0.3,
    "gathered-layer": 0.2,
    "embedding": 0.1,
    "flat-buffer": 0.15,
    "bucket": 0.15,
    "optimizer-state": 0.2,
    "weight": 0.3,
    "vision-attention": 0.3,
    "vision-activation": 0.1,
    "kv-cache": 0.15,
}
"""Odds against something nobody modelled, before place and size are looked at: judgement, not
measured; the thresholds above leave a factor of four for them to be wrong by."""

SITES: dict[str, tuple[Kind, ...]] = {
    "logits": ("logits",),
    "attention": ("attention-scores", "activation"),
    "vision-attention": ("vision-attention", "vision-activation"),
    "optimizer-step": ("optimizer-state",),
    "resume": ("optimizer-state",),
    "zero-bucket": ("bucket", "flat-buffer"),
    "zero-gather": ("gathered-layer", "embedding"),
    "weight-sync": ("gathered-layer", "embedding", "weight"),
    "checkpoint-save": ("gathered-layer", "embedding", "weight"),
    "model-load": ("weight",),
    "eval-gather": ("eval-logits",),
    "vllm-init": ("kv-cache", "weight"),
    "vllm-wake": ("kv-cache", "weight"),
}
"""What is asked for at each place. A backward pass asks for nearly anything."""
OPEN = ("", "backward")
PLAIN: tuple[Kind, ...] = ("activation", "vision-activation")
"""Sizes that are there in any amount: a place that agrees does not single them out."""

TRAINING: tuple[Kind, ...] = (
    "logits",
    "attention-scores",
    "activation",
    "gathered-layer",
    "embedding",
    "flat-buffer",
    "bucket",
    "optimizer-state",
    "vision-attention",
    "vision-activation",
)
FORWARD: tuple[Kind, ...] = ("logits", "attention-scores", "activation", "vision-attention")
LOADING: tuple[Kind, ...] = ("weight", "gathered-layer", "embedding", "flat-buffer", "bucket")
PHASES: dict[str, tuple[Kind, ...]] = {
    "launch": (*LOADING, "kv-cache"),
    "load": (*LOADING, "kv-cache"),
    "tokenize": LOADING,
    "train-start": TRAINING,
    "train": TRAINING,
    "eval": (*FORWARD, "vision-activation", "eval-logits", "gathered-layer", "embedding"),
    "save": ("gathered-layer", "embedding", "weight"),
    "weight-sync": ("gathered-layer", "embedding", "weight"),
    "rollout": (*FORWARD, "vision-activation", "kv-cache", "weight"),
}


class TensorCandidate(msgspec.Struct, frozen=True, kw_only=True):
    """One tensor the request may have been, and how likely.

    `count` units (from `low` to `high`) where it grows with them; `chance` is within all readings
    and whatever is not modelled, `score` the same as log2 of the odds; `reasons` say what counted.
    """

    kind: Kind
    what: str
    chance: float
    score: float
    reasons: tuple[str, ...]
    unit: Unit | None = None
    count: int | None = None
    low: int | None = None
    high: int | None = None
    step: int = 1


class Weighed(msgspec.Struct, frozen=True, kw_only=True):
    """A reading before it is compared with the others."""

    reading: TensorCandidate
    weight: float


def recover(asked: Interval, setting: RequestContext) -> tuple[TensorCandidate, ...]:
    """Give what a request may have been, the likeliest first; nothing when its size says nothing.

    Args:
        asked: bytes that may have been asked for (`asked_in`, `asked_of`).
        setting: what is known of the job.
    """
    if asked.high <= MIDDLE_SEGMENT:
        return ()
    weighed = [*_known(asked, setting), *_counted(asked, setting)]
    other = asked.nats / ALL_SIZES * (ELSE_AT_SITE if setting.site in SITES else 1.0)
    whole = other + sum(item.weight for item in weighed)
    found = [_placed(item, whole) for item in weighed]
    return tuple(sorted(found, key=lambda reading: -reading.chance))


def kind_of(readings: Sequence[TensorCandidate], setting: RequestContext) -> Kind | None:
    """Give the kind that wins clearly over all others together; None when none does."""
    chances: dict[Kind, float] = {}
    for reading in readings:
        chances[reading.kind] = chances.get(reading.kind, 0.0) + reading.chance
    if not chances:
        return None
    best = max(chances, key=lambda kind: chances[kind])
    at_site = SITES.get(setting.site, ())
    if setting.site not in OPEN and best not in at_site:
        # size and traceback contradict each other
        return None
    agrees = best in at_site and best not in PLAIN
    return best if chances[best] >= (AT_ONCE if agrees else SURE) else None


def count_of(readings: Sequence[TensorCandidate], kind: Kind) -> TensorCandidate | None:
    """Give the reading of a kind whose count is decided; None when others are as good."""
    same = [reading for reading in readings if reading.kind == kind]
    whole = sum(reading.chance for reading in same)
    if not same or same[0].count is None or same[0].chance < DECIDED * whole:
        return None
    first = same[0]
    low, high = first.low or 0, first.high or 0
    return first if high - low <= NARROW * (first.count or 1) else None


def _placed(item: Weighed, whole: float) -> TensorCandidate:
    chance = item.weight / whole
    rest = max(1 - chance, 1e-9)
    score = math.log2(max(chance, 1e-9) / rest)
    return msgspec.structs.replace(item.reading, chance=chance, score=round(score, 1))


def _prior(kind: Kind, setting: RequestContext) -> tuple[float, tuple[str, ...]]:
    """Weigh a kind by where and when it failed."""
    reasons: list[str] = []
    prior = PRIORS[kind]
    allowed = PHASES.get(setting.phase)
    if allowed is None and kind in ("weight", "kv-cache", "eval-logits"):
        # these need a stage or place that speaks for them
        prior = prior if kind in SITES.get(setting.site, ()) else 0.0
    elif allowed is not None and kind not in allowed and kind not in SITES.get(setting.site, ()):
        return 0.0, ()
    elif allowed is not None:
        reasons.append(f"stage: {setting.phase}")
    if setting.site in SITES:
        agrees = kind in SITES[setting.site]
        prior *= AT_SITE if agrees else OFF_SITE
        reasons.append(f"traceback {'at' if agrees else 'elsewhere, at'} {setting.site}")
    elif setting.site not in OPEN:
        # a place none of these tensors belongs to
        prior *= OFF_SITE
    return prior, tuple(reasons)


def _known(asked: Interval, setting: RequestContext) -> Iterator[Weighed]:
    for size in known_sizes(setting):
        prior, reasons = _prior(size.kind, setting)
        fit = _overlap(asked, size)
        if prior and fit:
            said = f"{size.what}: {size.low / 2**20:,.1f} MiB"
            yield Weighed(
                reading=TensorCandidate(
                    kind=size.kind, what=size.what, chance=0, score=0, reasons=(said, *reasons)
                ),
                weight=prior * size.share * fit,
            )


def _overlap(asked: Interval, size: FixedTensor) -> float:
    """Give the share of a size's own uncertainty that lies in what was asked for."""
    low, high = max(asked.low, size.low), min(asked.high, size.high)
    return (high - low + 1) / (size.high - size.low + 1) if low <= high else 0.0


def _counted(asked: Interval, setting: RequestContext) -> Iterator[Weighed]:
    for size in counted_sizes(setting):
        prior, reasons = _prior(size.kind, setting)
        bounds = counts(asked, size)
        if not prior or bounds is None:
            continue
        low, high = bounds
        hits = [count for count in size.expected if low <= count <= high]
        likely = _likelihood(low, high, size)
        if not likely:
            continue
        count = hits[0] if hits else _middle(low, high, size.step)
        said = f"{count * size.scale:,} {size.unit} ({size.what}, {size.per:,} bytes each)"
        why = ("the launch names this count",) if hits else ()
        yield Weighed(
            reading=TensorCandidate(
                kind=size.kind,
                what=size.what,
                chance=0,
                score=0,
                reasons=(said, *why, *reasons),
                unit=size.unit,
                count=count * size.scale,
                low=low * size.scale,
                high=high * size.scale,
                step=size.step * size.scale,
            ),
            weight=prior * size.share * likely,
        )


def counts(asked: Interval, size: GrowingTensor) -> tuple[int, int] | None:
    """Give the least and most units whose tensor lies in the interval, in whole steps."""
    low, high = -(-asked.low // size.per), asked.high // size.per
    if size.power == 2:
        low = math.isqrt(max(low - 1, 0)) + 1 if low > 0 else 0
        high = math.isqrt(high)
    low, high = -(-low // size.step) * size.step, high // size.step * size.step
    return (low, high) if 0 < low <= high else None


def _middle(low: int, high: int, step: int) -> int:
    return low + (high - low) // step // 2 * step


def _likelihood(low: int, high: int, size: GrowingTensor) -> float:
    """Give the chance that the count is one of those in the interval."""
    free = 1.0
    out = 0.0
    if size.expected:
        free = 1 - EXPECTED
        hits = sum(low <= count <= high for count in size.expected)
        out += EXPECTED * hits / len(size.expected)
    least, cap = min(size.least, size.cap), size.cap
    inside = _share(low, min(high, cap), size.step, max(least, size.step), cap)
    over = _share(max(low, cap + 1), high, size.step, cap, cap * size.reach)
    return out + free * ((1 - size.beyond) * inside + size.beyond * over)


def _share(low: int, high: int, step: int, least: int, most: int) -> float:
    """Give the share of the multiples in [low, high] when any order of magnitude is as likely."""
    low, high = max(low, least), min(high, most)
    if low > high or most <= least:
        return 0.0
    number = (high - low) // step + 1
    return math.log1p(number * step / low) / math.log(most / least)
