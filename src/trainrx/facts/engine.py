"""What the inference engine needs of a card, and what a failed request for memory was."""

from __future__ import annotations

from collections.abc import Iterator

from trainrx.facts.reading import derived, task
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
    layers, heads, size = shape.layers, shape.kv_heads, shape.head_size
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


def _fits(facts: Facts) -> Iterator[Fact]:
    room, need = facts.number("vllm.room_gib"), facts.number("vllm.request_gib")
    sources = ("vllm.share", "vllm.max_model_len", "hardware.gpu_gib", "model.name")
    if room is not None and (room <= 0 or (need is not None and need > room)):
        yield derived(facts, "vllm.request_fits", False, *sources)
    elif room is not None and need is not None and need <= SHARED * room:
        yield derived(facts, "vllm.request_fits", True, *sources)


WIDTHS = (4, 2)
"""Bytes of one logit: the float32 copy the loss works on, and the bf16 or fp16 original."""
ROUNDING_GIB = 0.006
"""PyTorch prints two decimals of a GiB."""
TOLERANCE = 0.004
"""The head is padded to more rows than the tokenizer has words: up to 0.3 % at 150k words."""
LESS, MORE = 0.9, 1.1
SMALLER_CARD = 0.88
"""ECC and the driver take up to 8 % of a card's nominal memory; a MIG slice leaves half or less."""
BUCKETS = (5e8, 2e8)
"""Elements of a DeepSpeed bucket: its own default (runtime/zero/config.py: reduce_bucket_size) and
that of the settings ms-swift and LLaMA-Factory of old shipped (ds_config/zero2.json)."""
BUCKET_ROUNDING_GIB = 0.002
"""The allocator takes large blocks in steps of 2 MiB."""


def request_facts(facts: Facts) -> tuple[Fact, ...]:
    """Derive what a request is, from its size and what the launch says."""
    return (*_logits(facts), *_card(facts), *_bucket(facts), *_weights(facts))


def _logits(facts: Facts) -> Iterator[Fact]:
    """Compare a request with the logits of what the launch lets through at once.

    `equal`: it is the size of all tokens (or all completions) x vocabulary, wherever it failed;
    `above` and `below` need a traceback that ends at the logits.
    """
    asked, vocab = facts.number("oom.asked_gib"), facts.whole("model.vocab")
    tokens = facts.whole("batch.tokens_per_micro_batch")
    if asked is None or vocab is None or tokens is None:
        return
    sources = ("oom.asked_gib", "train.micro_batch", "train.max_length", "model.name")
    at_logits = facts.text("oom.site") == "logits"
    sizes = [count * vocab * width for count in _counts(facts, tokens) for width in WIDTHS]
    if any(_matches(asked, size) for size in sizes):
        verdict = "equal"
    elif at_logits and asked > MORE * tokens * vocab * WIDTHS[0] / GIB:
        verdict = "above"
    elif at_logits and asked < LESS * tokens * vocab * WIDTHS[1] / GIB:
        verdict = "below"
    else:
        return
    yield derived(facts, "oom.logits_against_limit", verdict, *sources)


def _matches(asked: float, size: int) -> bool:
    return abs(asked - size / GIB) <= max(ROUNDING_GIB, TOLERANCE * asked)


def _counts(facts: Facts, tokens: int) -> Iterator[int]:
    micro = facts.whole("train.micro_batch") or 1
    yield tokens
    yield max(tokens - micro, 1)
    completion = facts.whole("rlhf.max_completion_length")
    if completion is not None and task(facts) == "grpo":
        yield micro * completion
        yield micro * (completion + 1)


def _card(facts: Facts) -> Iterator[Fact]:
    told, seen = facts.number("hardware.gpu_gib"), facts.number("oom.card_gib")
    if told and seen and told > 0:
        smaller = seen < SMALLER_CARD * told
        yield derived(facts, "oom.card_smaller", smaller, "hardware.gpu_gib", "oom.card_gib")


def _bucket(facts: Facts) -> Iterator[Fact]:
    asked = facts.number("oom.asked_gib")
    if asked is not None and "parallel.zero_stage" in facts:
        sizes = [count * width / GIB for count in BUCKETS for width in WIDTHS]
        rounding = ROUNDING_GIB if asked >= 1 else BUCKET_ROUNDING_GIB
        found = any(abs(asked - size) <= rounding for size in sizes)
        yield derived(facts, "oom.asked_is_a_bucket", found, "oom.asked_gib")


def _weights(facts: Facts) -> Iterator[Fact]:
    """How many times the weights of the whole model were asked for at once."""
    asked, weights = facts.number("oom.asked_gib"), facts.number("memory.weights_gib")
    if asked is not None and weights:
        ratio = round(asked / weights, 2)
        yield derived(facts, "oom.asked_of_weights", ratio, "oom.asked_gib", "model.name")
