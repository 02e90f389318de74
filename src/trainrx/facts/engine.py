"""What the inference engine needs of its share of a card, GiB per card."""

from __future__ import annotations

from collections.abc import Iterator

from trainrx.facts.reading import derived
from trainrx.model.facts import Fact, Facts
from trainrx.model.hardware import ModelShape

GIB = 2.0**30
SHARED = 0.5
"""Share of the room one request may take before we no longer say that it fits: profiling and
graphs take 1 to 4 GiB of it (memory profiling lines of vLLM 0.7 to 0.10)."""
BYTES = {"fp8": 1, "fp8_e4m3": 1, "fp8_e5m2": 1}


def engine_facts(facts: Facts, shape: ModelShape | None) -> tuple[Fact, ...]:
    """Derive `vllm.room_gib`, `vllm.request_gib`, `vllm.request_fits` and `vllm.prompt_room`."""
    out = Facts(facts)
    for item in (*_room(out), *_request(out, shape), *_prompt_room(out)):
        out.add(item)
    out.add(*_fits(out))
    return tuple(item for item in out if item.kind not in facts)


def _room(facts: Facts) -> Iterator[Fact]:
    """What the share leaves for the KV cache: below zero, not even the weights fit."""
    card, share = facts.number("hardware.gpu_gib"), facts.number("vllm.share")
    weights, ranks = facts.number("memory.weights_gib"), facts.whole("vllm.tensor_parallel")
    if facts.value("vllm.enabled") is not True or None in (card, share, weights):
        return
    room = (card or 0.0) * (share or 0.0) - (weights or 0.0) / (ranks or 1)
    sources = ("vllm.share", "hardware.gpu_gib", "model.name", "vllm.tensor_parallel")
    yield derived(facts, "vllm.room_gib", round(room, 2), *sources)


def _request(facts: Facts, shape: ModelShape | None) -> Iterator[Fact]:
    """Keys and values of one request of the longest length, per card.

    2 x layers x heads of the cache x head size x bytes for each token (vLLM: v1/kv_cache_interface.
    py, FullAttentionSpec); ranks share the heads while there is more than one to share.
    """
    length = facts.whole("vllm.max_model_len")
    if shape is None or length is None or facts.value("vllm.enabled") is not True:
        return
    layers, heads, size = shape.layers, shape.kv_heads, _head_size(shape)
    if layers is None or heads is None or size is None:
        return
    ranks = facts.whole("vllm.tensor_parallel") or 1
    width = BYTES.get(facts.text("vllm.kv_cache_dtype") or "", 2)
    per_token = 2 * layers * max(-(-heads // ranks), 1) * size * width
    sources = ("vllm.max_model_len", "model.name", "vllm.tensor_parallel")
    yield derived(facts, "vllm.request_gib", round(length * per_token / GIB, 2), *sources)


def _prompt_room(facts: Facts) -> Iterator[Fact]:
    """What is left for the prompt, in tokens: prompt and completion share the engine's length."""
    length, answer = facts.whole("vllm.max_model_len"), facts.whole("rlhf.max_completion_length")
    if length is not None and answer is not None:
        sources = ("vllm.max_model_len", "rlhf.max_completion_length")
        yield derived(facts, "vllm.prompt_room", length - answer, *sources)


def _head_size(shape: ModelShape) -> int | None:
    if shape.head_dim is not None:
        return shape.head_dim
    if shape.hidden is None or not shape.heads:
        return None
    return shape.hidden // shape.heads


def _fits(facts: Facts) -> Iterator[Fact]:
    room, need = facts.number("vllm.room_gib"), facts.number("vllm.request_gib")
    sources = ("vllm.share", "vllm.max_model_len", "hardware.gpu_gib", "model.name")
    if room is not None and (room <= 0 or (need is not None and need > room)):
        yield derived(facts, "vllm.request_fits", False, *sources)
    elif room is not None and need is not None and need <= SHARED * room:
        yield derived(facts, "vllm.request_fits", True, *sources)
