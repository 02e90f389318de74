"""Sizes a failed request may have that follow from the model and its sharding alone.

Each tells what share of its kind's prior it has. The arithmetic is of integers; dimensions come
from the model's published shape.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from trainrx.memory.matrices import embedding, layer, matrices, total
from trainrx.model.hardware import ModelShape

Kind = Literal[
    "logits",
    "eval-logits",
    "attention-scores",
    "activation",
    "gathered-layer",
    "embedding",
    "flat-buffer",
    "bucket",
    "optimizer-state",
    "weight",
    "vision-attention",
    "vision-activation",
    "kv-cache",
]

FULL, HALF = 4, 2
"""Bytes of an element in float32, and in bf16 or fp16."""
BUCKETS = (500_000_000, 200_000_000)
"""Elements of a reduce or allgather bucket: DeepSpeed's own default (runtime/zero/config.py) and
that of the settings ms-swift and LLaMA-Factory shipped (ds_config/zero2.json)."""
SUB_GROUP = 1_000_000_000
"""Elements of a stage-3 sub-group (runtime/zero/config.py: sub_group_size)."""


class RequestContext(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of the job a request failed in. Lengths in tokens, None where unknown.

    `tokens` is what one forward pass takes at most, `sequences` how many samples it holds (a pair
    is two), `length` the longest of them, `completion` the longest completion where only those
    go through the head. `padded`: samples of a batch have the same length. `enforced`: longer
    samples are cut or dropped. `room_gib`: what the engine's share leaves beside the weights.
    """

    shape: ModelShape
    site: str = ""
    phase: str = ""
    sequences: int | None = None
    tokens: int | None = None
    length: int | None = None
    completion: int | None = None
    padded: bool = False
    enforced: bool = False
    attention: str = ""
    torch: str = ""
    zero_stage: int | None = None
    fsdp: bool = False
    full: bool = False
    quantised: bool = False
    world: int | None = None
    tensor: int = 1
    pixel_cap: int | None = None
    room_gib: float | None = None


class FixedTensor(msgspec.Struct, frozen=True, kw_only=True):
    """A tensor whose size follows from the model: from `low` to `high` bytes, mostly the same."""

    kind: Kind
    what: str
    low: int
    high: int
    share: float = 1.0


def known_sizes(setting: RequestContext) -> Iterator[FixedTensor]:
    """Give the tensors whose size needs nothing but the model and its sharding."""
    yield from _weights(setting)
    if setting.zero_stage is not None and setting.zero_stage >= 1 and not setting.fsdp:
        for count in BUCKETS:
            yield _known("bucket", "DeepSpeed bucket", count * HALF, share=0.4)
            yield _known("bucket", "DeepSpeed bucket", count * FULL, share=0.1)
    if setting.full and not setting.quantised:
        yield from _states(setting)


def _known(
    kind: Kind, what: str, low: int, high: int | None = None, share: float = 1.0
) -> FixedTensor:
    return FixedTensor(
        kind=kind, what=what, low=low, high=low if high is None else high, share=share
    )


def _weights(setting: RequestContext) -> Iterator[FixedTensor]:
    """Tensors of the model: gathered whole where they are sharded, else as they are loaded."""
    parts, ends, one = matrices(setting.shape), embedding(setting.shape), layer(setting.shape)
    gathered = setting.zero_stage == 3 or setting.fsdp
    if gathered:
        for name, count in parts.items():
            yield _known("gathered-layer", name, count * HALF, share=0.5 / len(parts))
        for width, share in ((HALF, 0.3), (FULL, 0.2)):
            if one:
                yield _known("gathered-layer", "one layer", one * width, share=share)
            if ends:
                yield _known("embedding", "embedding or head", ends * width, share=0.5)
    if setting.quantised:
        return
    for name, count in parts.items():
        for width, share in ((HALF, 0.7), (FULL, 0.1)):
            size = count * width // setting.tensor
            yield _known("weight", name, size, share=share / len(parts))
    if ends:
        size = ends * HALF // setting.tensor
        yield _known("weight", "embedding or head", size, share=0.2)


def _states(setting: RequestContext) -> Iterator[FixedTensor]:
    """Moments, masters and flat buffers of full tuning, per rank.

    A rank's part of the moments, the master and the gradients is all one size: at the optimizer's
    step it is a moment, elsewhere no more than a flat buffer.
    """
    whole, world, one = total(setting.shape), setting.world or 1, layer(setting.shape)
    at_step = setting.site in ("optimizer-step", "resume")
    part: Kind = "optimizer-state" if at_step else "flat-buffer"
    if setting.fsdp:
        if one and setting.world:
            yield _known(part, "a shard of one layer", -(-one // world) * FULL, share=0.6)
        return
    if not setting.zero_stage:
        parts = matrices(setting.shape)
        for name, count in parts.items():
            yield _known("optimizer-state", name, count * FULL, share=0.5 / len(parts))
            yield _known("optimizer-state", name, count * HALF, share=0.2 / len(parts))
        ends = embedding(setting.shape)
        if ends:
            yield _known("optimizer-state", "embedding or head", ends * FULL, share=0.3)
        return
    if setting.zero_stage == 3:
        yield _known("flat-buffer", "sub-group", SUB_GROUP * FULL, share=0.3)
    if whole is None or setting.world is None:
        return
    low, high = whole
    mine = (low * FULL // world, -(-high * FULL // world))
    yield _known(part, "all parameters / ranks", *mine, share=0.6)
    if setting.zero_stage != 3:
        yield _known("flat-buffer", "all parameters", low * HALF, high * HALF, share=0.3)
