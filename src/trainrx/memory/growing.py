"""Sizes a failed request may have that grow with tokens, patches or blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from trainrx.memory.sizes import FULL, HALF, Kind, RequestContext
from trainrx.model.hardware import Tower

Unit = Literal["tokens", "patches", "blocks"]

USUAL_TOKENS = 65536
USUAL_PATCHES = 65536
"""12,845,056 pixels of 14 x 14: what Qwen2-VL's processor allows (max_pixels)."""
LEAST = 128
LEAST_PATCHES = 256
"""An image of 224 x 224 has as many."""
EVAL_FACTOR = 4096
"""Evaluation keeps the logits of many batches."""
REACH = 32
"""How many times its cap a count of tokens may be: packing that is not bounded, long images."""
IMAGES = 8
"""How many images of the largest size one sample is expected to have at most."""
BLOCK = 16
"""Tokens of a block of vLLM's cache on CUDA (vllm/config/cache.py)."""
ALIGNED = 128
"""Rows Megatron pads the vocabulary to, per tensor-parallel rank (make_vocab_size_divisible_by)."""


class GrowingTensor(msgspec.Struct, frozen=True, kw_only=True):
    """A tensor of `per` x count ** `power` bytes; the count is a multiple of `step`.

    Within `least` and `cap` any order of magnitude is as likely, `beyond` is the chance of more
    than the cap, up to `reach` times it; `expected` are counts the launch names. `scale` units make
    one count.
    """

    kind: Kind
    what: str
    unit: Unit
    per: int
    power: Literal[1, 2] = 1
    step: int = 1
    scale: int = 1
    least: int = LEAST
    cap: int = USUAL_TOKENS
    beyond: float = 0.1
    reach: int = REACH
    expected: tuple[int, ...] = ()
    share: float = 1.0


def counted_sizes(setting: RequestContext) -> Iterator[GrowingTensor]:
    """Give the tensors that grow with tokens, patches or blocks."""
    yield from _logits(setting)
    yield from _activations(setting)
    yield from _scores(setting)
    if setting.shape.tower is not None:
        yield from _tower(setting, setting.shape.tower)
    yield from _cache(setting)


def vocabulary(setting: RequestContext) -> int | None:
    """Give the rows of the head one rank holds."""
    vocab = setting.shape.vocab
    if vocab is None or setting.tensor == 1:
        return vocab
    rows = ALIGNED * setting.tensor
    return -(-vocab // rows) * rows // setting.tensor


def beyond(setting: RequestContext) -> float:
    """Chance of more tokens than the cap: images come on top of it, truncation may be off."""
    if setting.shape.vision or setting.shape.audio:
        return 0.4
    return 0.1 if setting.enforced else 0.25


def _in_widths(tensor: GrowingTensor, *widths: tuple[int, float]) -> Iterator[GrowingTensor]:
    """Give a tensor, whose `per` counts elements, in bytes of each width and with its share."""
    for width, share in widths:
        yield msgspec.structs.replace(tensor, per=tensor.per * width, share=share)


def _step(setting: RequestContext) -> int:
    return setting.sequences if setting.padded and setting.sequences else 1


def _logits(setting: RequestContext) -> Iterator[GrowingTensor]:
    rows = vocabulary(setting)
    if rows is None:
        return
    logits = GrowingTensor(
        kind="logits",
        what="tokens x vocabulary",
        unit="tokens",
        per=rows,
        step=_step(setting),
        cap=setting.tokens or USUAL_TOKENS,
        beyond=beyond(setting),
        expected=_expected(setting),
    )
    yield from _in_widths(logits, (FULL, 0.7), (HALF, 0.3))
    evaluated = GrowingTensor(
        kind="eval-logits",
        what="tokens x vocabulary",
        unit="tokens",
        per=rows,
        cap=EVAL_FACTOR * (setting.tokens or 1024),
    )
    yield from _in_widths(evaluated, (FULL, 0.6), (HALF, 0.4))


def _expected(setting: RequestContext) -> tuple[int, ...]:
    """Token counts the launch names: all, all but the first of each, all completions."""
    batch, tokens = setting.sequences or 1, setting.tokens
    out = [] if tokens is None else [tokens, tokens - batch]
    if setting.completion is not None:
        out += [batch * setting.completion, batch * (setting.completion + 1)]
    return tuple(dict.fromkeys(count for count in out if count > 0))


def _activations(setting: RequestContext) -> Iterator[GrowingTensor]:
    for name, size in (("hidden", setting.shape.hidden), ("mlp", setting.shape.inter)):
        if size:
            kept = GrowingTensor(
                kind="activation",
                what=f"tokens x {name} size",
                unit="tokens",
                per=size,
                step=_step(setting),
                cap=setting.tokens or USUAL_TOKENS,
                beyond=beyond(setting),
            )
            yield from _in_widths(kept, (HALF, 0.3), (FULL, 0.2))


def _scores(setting: RequestContext) -> Iterator[GrowingTensor]:
    """Tokens x tokens of each head: eager attention, and sdpa where a mask denies its kernels."""
    heads = setting.shape.heads
    if heads is None or setting.attention.startswith("flash"):
        return
    scores = GrowingTensor(
        kind="attention-scores",
        what="heads x tokens x tokens",
        unit="tokens",
        per=(setting.sequences or 1) * -(-heads // setting.tensor),
        power=2,
        cap=setting.length or USUAL_TOKENS,
        beyond=beyond(setting),
        expected=() if setting.length is None else (setting.length,),
    )
    yield from _in_widths(scores, (HALF, 0.5), (FULL, 0.5))


def _tower(setting: RequestContext, tower: Tower) -> Iterator[GrowingTensor]:
    patch = tower.patch**2
    cap = max(setting.pixel_cap // patch, 1) if setting.pixel_cap else USUAL_PATCHES
    cap *= setting.sequences or 1
    reach = IMAGES if setting.pixel_cap else 2
    inner = tower.inter * HALF
    if tower.image_size is not None:
        # every tile has as many patches, and a class token beside them
        side = tower.image_size // tower.patch
        tile = side * side + 1
        if not setting.attention.startswith("flash"):
            for width in (HALF, FULL):
                yield _tiles("vision-attention", tower.heads * tile * tile * width, side * side)
        yield _tiles("vision-activation", tile * inner, side * side)
        return
    patches = GrowingTensor(
        kind="vision-activation",
        what="patches x mlp size",
        unit="patches",
        per=inner,
        step=tower.merge**2,
        least=LEAST_PATCHES,
        cap=cap,
        beyond=0.4,
        reach=reach,
    )
    if not setting.attention.startswith("flash"):
        scores = msgspec.structs.replace(
            patches,
            kind="vision-attention",
            what="heads x patches x patches",
            per=tower.heads,
            power=2,
        )
        yield from _in_widths(scores, *_vision_widths(setting))
    yield patches


def _tiles(kind: Kind, per: int, scale: int) -> GrowingTensor:
    return GrowingTensor(
        kind=kind,
        what="tiles",
        unit="patches",
        per=per,
        scale=scale,
        least=1,
        cap=64,
        share=0.5 if kind == "vision-attention" else 1.0,
    )


def _vision_widths(setting: RequestContext) -> tuple[tuple[int, float], ...]:
    """Width of the scores: since 2.5 the plain path of torch's sdpa computes them in float32.

    aten/src/ATen/native/transformers/attention.cpp: _scaled_dot_product_attention_math. A tower
    set to eager multiplies in its own dtype first.
    """
    major, _, rest = setting.torch.partition(".")
    minor = rest.partition(".")[0]
    if setting.attention == "eager" or not (major.isdecimal() and minor.isdecimal()):
        return ((FULL, 0.5), (HALF, 0.5))
    new = (int(major), int(minor)) >= (2, 5)
    return ((FULL, 0.95), (HALF, 0.05)) if new else ((FULL, 0.1), (HALF, 0.9))


def _cache(setting: RequestContext) -> Iterator[GrowingTensor]:
    """Keys and values of one layer for all blocks: the engine divides its room among the layers."""
    shape, size = setting.shape, setting.shape.head_size
    if not (shape.layers and shape.kv_heads and size) or shape.kv_lora is not None:
        return
    room = setting.room_gib
    if room is None or room <= 0:
        return
    heads = max(-(-shape.kv_heads // setting.tensor), 1)
    per = 2 * BLOCK * heads * size * HALF
    most = max(int(room * 2**30) // (per * shape.layers), 2)
    yield GrowingTensor(
        kind="kv-cache",
        what="cache of one layer",
        unit="blocks",
        per=per,
        least=max(most // 3, 1),
        cap=most,
        beyond=0.02,
    )
