"""Facts of what a failed request was, out of the other facts of the job."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from trainrx.frameworks import framework_of
from trainrx.memory.growing import counted_sizes
from trainrx.memory.printed import Interval, asked_in, asked_of
from trainrx.memory.recover import TensorCandidate, count_of, counts, kind_of, recover
from trainrx.memory.sizes import Kind, RequestContext
from trainrx.model.facts import Fact, Facts, Scalar, fact
from trainrx.model.hardware import ModelShape

PAIRS = ("dpo", "orpo", "simpo", "cpo", "rm")
"""One sample is two sequences that go through the model together."""
CUT = ("", "sft", "pt", "dpo", "orpo", "simpo", "cpo", "rm", "kto")
ROUNDED = 64
"""Tokens a collator may pad each sequence by (pad_to_multiple_of)."""
COARSE = 0.05
"""Nats of a figure too coarse to count by: below some 40 MiB a step of 2 MiB is too much."""
SOURCES = ("oom.asked_gib", "oom.site", "model.name", "train.micro_batch", "train.max_length")


def recovered_facts(facts: Facts, shape: ModelShape | None, torch: str = "") -> Iterator[Fact]:
    """Derive `oom.asked_is`, `oom.tokens`, `oom.tokens_over_cap`, `oom.patches` and the like.

    Args:
        facts: what is known of the job, with what its log says of the failure.
        shape: the model's shape; with none, its vocabulary has to do.
        torch: release of torch, "" when it is not known.
    """
    asked, own = asked_by(facts), shape or _shape(facts)
    if asked is None or own is None or "roundup_power2" in (facts.text("alloc.conf") or ""):
        return
    setting = setting_of(facts, own, torch)
    readings = recover(asked, setting)
    kind = kind_of(readings, setting)
    reading = None if kind is None else count_of(readings, kind)
    if kind is not None:
        yield _told(facts, "oom.asked_is", kind)
    if reading is not None:
        yield from _count(facts, setting, reading)
    yield from _logits(facts, setting, asked, readings, kind)


def asked_by(facts: Facts) -> Interval | None:
    """Give the bytes asked for, by the line that says so or else by the number read from it."""
    gib = facts.number("oom.asked_gib")
    if gib is None:
        return None
    for origin in facts.origins("oom.asked_gib"):
        found = asked_in(origin.text)
        if found is not None:
            return found
    return asked_of(gib)


def _shape(facts: Facts) -> ModelShape | None:
    """Make do with the vocabulary where nothing else of the model is known."""
    vocab = _whole(facts, "model.vocab")
    return None if vocab is None else ModelShape(id="", vocab=vocab)


def setting_of(facts: Facts, shape: ModelShape, torch: str = "") -> RequestContext:
    """Gather what is known of the job."""
    task = facts.text("launch.task") or ""
    micro = _whole(facts, "train.micro_batch")
    flat = any(
        facts.value(kind) is True
        for kind in ("train.packing", "train.padding_free", "train.dynamic_batch")
    )
    # ranks that share sequences each hold a part of them
    alone = (_whole(facts, "parallel.sequence") or 1) == 1
    dynamic = facts.value("train.dynamic_batch") is True or not alone
    sequences = micro if micro is None or task not in PAIRS else 2 * micro
    vocab = _whole(facts, "model.vocab")
    return RequestContext(
        shape=msgspec.structs.replace(shape, vocab=shape.vocab or vocab),
        site=facts.text("oom.site") or "",
        phase=facts.text("oom.phase") or "",
        sequences=None if dynamic else sequences,
        tokens=_whole(facts, "batch.tokens_per_micro_batch"),
        length=_whole(facts, "train.max_length") if task in CUT else None,
        completion=_whole(facts, "rlhf.max_completion_length") if task == "grpo" else None,
        padded=not flat and alone,
        enforced=task in CUT and framework_of(facts.text("launch.framework") or "").cuts_samples,
        attention=facts.text("train.attention") or "",
        torch=torch,
        zero_stage=_number(facts, "parallel.zero_stage"),
        fsdp="parallel.fsdp" in facts or "fsdp" in (facts.text("parallel.strategy") or ""),
        full=facts.text("tuner.type") == "full",
        quantised=_number(facts, "tuner.quant_bits") is not None,
        world=_whole(facts, "parallel.world_size"),
        tensor=_tensor(facts),
        pixel_cap=_whole(facts, "vision.pixel_cap"),
        room_gib=_room(facts),
    )


def _count(facts: Facts, setting: RequestContext, reading: TensorCandidate) -> Iterator[Fact]:
    """Give tokens or patches, and the length of one sample they stand for."""
    count, batch = reading.count or 0, setting.sequences
    if reading.unit == "patches":
        yield _told(facts, "oom.patches", count)
    if reading.unit != "tokens":
        return
    if reading.kind == "attention-scores":
        yield _told(facts, "oom.implied_length", count)
        if batch is not None:
            yield _told(facts, "oom.tokens", count * batch)
        return
    yield _told(facts, "oom.tokens", count)
    if batch is not None and setting.padded and setting.completion is None:
        yield _told(facts, "oom.implied_length", -(-count // batch))


def _logits(
    facts: Facts,
    setting: RequestContext,
    asked: Interval,
    readings: Sequence[TensorCandidate],
    kind: Kind | None,
) -> Iterator[Fact]:
    """Compare the tokens with the cap where the request was for logits, and count them.

    `oom.tokens_in_logits` is the reading with the fewest tokens when several are as good.
    """
    if kind != "logits" and (kind is not None or setting.site != "logits"):
        return
    sizes = [size for size in counted_sizes(setting) if size.kind == "logits"]
    free = [msgspec.structs.replace(size, step=1) for size in sizes]
    bounds = [found for size in free if (found := counts(asked, size)) is not None]
    if not bounds or asked.nats > COARSE:
        return
    reading = count_of(readings, "logits") if kind == "logits" else None
    least, most = min(bounds)
    if reading is not None:
        bounds = [(reading.low or 0, reading.high or 0)]
    fewest = (least + most) // 2 if reading is None else reading.count or 0
    yield _told(facts, "oom.tokens_in_logits", fewest)
    if setting.tokens is None:
        return
    cap = setting.tokens + ROUNDED * (setting.sequences or 1)
    if all(low > cap for low, _ in bounds):
        yield _told(facts, "oom.tokens_over_cap", value=True)
    elif all(high <= cap for _, high in bounds):
        yield _told(facts, "oom.tokens_over_cap", value=False)


def _told(facts: Facts, kind: str, value: Scalar) -> Fact:
    return fact(kind, value, *facts.origins(*SOURCES), how="derived")


def _whole(facts: Facts, kind: str) -> int | None:
    value = facts.number(kind)
    return int(value) if value is not None and value >= 1 and value == int(value) else None


def _number(facts: Facts, kind: str) -> int | None:
    value = facts.number(kind)
    return None if value is None else int(value)


def _tensor(facts: Facts) -> int:
    """Give over how many ranks a matrix is divided: the engine's own where the engine failed."""
    site = facts.text("oom.site") or ""
    at_engine = framework_of(site.partition("-")[0]).is_engine
    return _whole(facts, "vllm.tensor_parallel" if at_engine else "parallel.tensor") or 1


def _room(facts: Facts) -> float | None:
    """Give the GiB an engine has for its cache: its share of the card less its weights."""
    card, share = facts.number("hardware.gpu_gib"), facts.number("vllm.share")
    weights = facts.number("memory.weights_gib")
    if card is None or share is None or weights is None:
        return None
    return card * share - weights / (_whole(facts, "vllm.tensor_parallel") or 1)
