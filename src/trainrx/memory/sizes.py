"""Sizes a failed request may have that follow from the model and its sharding alone.

Each tells what share of its kind's prior it has. The arithmetic is of integers; dimensions come
from the model's published shape.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from trainrx.model.hardware import ModelShape
from trainrx.models.parameters import attention, count_language, feed_forward

BIASED = ("qwen2", "qwq", "deepseek-r1-distill-qwen")
"""Families whose query, key and value have a bias (transformers: modeling_qwen2.py)."""
HEAD_NORMS = ("qwen3",)
"""Families that normalise queries and keys per head (transformers: modeling_qwen3.py)."""
ROUNDED = 0.005
"""Published figures are rounded to hundredths of 1e9."""


def matrices(shape: ModelShape) -> dict[str, int]:
    """Give the elements of each matrix of a layer, and of those that engines merge into one."""
    own = {matrix.role: matrix.size for matrix in attention(shape) or ()}
    out: dict[str, int] = {}
    if "q" in own and shape.kv_lora is None:
        out |= {"q_proj": own["q"], "k_proj": own["k"]}
        out["qkv_proj"] = own["q"] + own["k"] + own["v"]
    dense = {matrix.role: matrix.size for matrix in feed_forward(shape, shape.inter) or ()}
    if "up" in dense and not (shape.experts and shape.first_dense == 0):
        out |= {"up_proj": dense["up"], "gate_up_proj": 2 * dense["up"]}
    if shape.experts:
        width = shape.moe_inter or shape.inter
        every = feed_forward(shape, width, shape.experts) or ()
        found = {matrix.role: matrix.size for matrix in every}
        if "up" in found:
            out |= {"experts.down_proj": found["up"], "experts.gate_up_proj": 2 * found["up"]}
    return out


def embedding(shape: ModelShape) -> int | None:
    """Give the elements of the embedding, which are also those of the head."""
    return shape.vocab * shape.hidden if shape.vocab and shape.hidden else None


def layer(shape: ModelShape) -> int | None:
    """Give the parameters of one layer with its norms; None where layers are of several kinds."""
    count, hidden = count_language(shape), shape.hidden
    mixed = shape.linear_layers or shape.encoder_layers or (shape.experts and shape.first_dense)
    if count is None or hidden is None or mixed:
        return None
    blocks = count.mlp
    if count.sparse_layers:
        blocks = count.expert * (shape.experts or 0) + count.shared + count.router
    return count.attention + blocks + 2 * hidden + small(shape)


def small(shape: ModelShape) -> int:
    """Give the elements of biases and norms of heads in one layer, of the families known to."""
    wide, family = shape.head_size, shape.model_type or shape.id.rsplit("/", 1)[-1].lower()
    if wide is None or shape.heads is None:
        return 0
    if family.startswith(BIASED):
        return wide * (shape.heads + 2 * (shape.kv_heads or shape.heads))
    return 2 * wide if family.startswith(HEAD_NORMS) else 0


def total(shape: ModelShape) -> tuple[int, int] | None:
    """Give the least and most parameters of a language model without a tower.

    Counted where every width is known and the published figure agrees, else that figure.
    """
    if shape.vision or shape.audio:
        return None
    published = None if shape.params_b is None else round(shape.params_b * 1e9)
    count = count_language(shape)
    if count is not None:
        whole = count.total + small(shape) * (shape.layers or 0)
        if published is None or abs(whole - published) <= max(ROUNDED * 2e9, 0.002 * published):
            return whole, whole
    if published is None:
        return None
    return published - round(ROUNDED * 1e9), published + round(ROUNDED * 1e9)


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
