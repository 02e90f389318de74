"""What a failed GPU request says once the launch stands beside it."""

from __future__ import annotations

from collections.abc import Iterator

from trainrx.facts.reading import derived, task
from trainrx.model.facts import Fact, Facts

GIB = 2.0**30
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
