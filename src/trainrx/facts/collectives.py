"""What a collective carried, by its number of elements, and whether it was before the training."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from trainrx.evidence.collectives import STARTUP_SEQ
from trainrx.facts.reading import derived
from trainrx.memory.sizes import BUCKETS, embedding, layer, matrices
from trainrx.model.facts import Fact, Facts
from trainrx.model.hardware import ModelShape

Tensor = Literal[
    "scalar", "embedding", "layer", "matrix", "logits", "expert-tokens", "activation", "bucket"
]
PADDED_VOCAB = 1024
"""Rows that an embedding may have beyond the vocabulary, so that it divides evenly."""
GATHERED = ("all_gather", "reduce_scatter", "coalesced", "broadcast")
"""Collectives that move parameters or gradients which are divided over the ranks."""
SOURCES = ("collective.numelin", "collective.numelout", "model.name")


def carried_facts(facts: Facts, shape: ModelShape | None) -> Iterator[Fact]:
    """Derive `collective.tensor` and `collective.before_training`."""
    tensor = _tensor(facts, shape)
    if tensor is not None:
        yield derived(facts, "collective.tensor", tensor, *SOURCES)
    seq, steps = facts.whole("collective.seqnum"), facts.whole("series.steps")
    if seq is not None and (seq <= STARTUP_SEQ or steps):
        before = seq <= STARTUP_SEQ and not steps
        yield derived(facts, "collective.before_training", before, "collective.seqnum")


def _tensor(facts: Facts, shape: ModelShape | None) -> Tensor | None:
    """Say what a collective carried; None where its size is that of nothing known."""
    sent, op = facts.whole("collective.numelin"), facts.text("collective.optype") or ""
    if sent is None:
        return "scalar" if op == "barrier" else None
    if sent <= 1:
        return "scalar"
    whole = max(sent, facts.whole("collective.numelout") or 0)
    world = facts.whole("parallel.world_size") or 1
    of_model = None if shape is None else _of_model(shape, whole, world, op)
    if of_model is not None:
        return of_model
    return "bucket" if whole in BUCKETS else None


def _of_model(shape: ModelShape, whole: int, world: int, op: str) -> Tensor | None:
    if _is_embedding(shape, whole):
        return "embedding"
    if op in GATHERED and (size := layer(shape)) is not None and 0 <= whole - size < max(world, 2):
        return "layer"
    if any(0 <= whole - size < max(world, 2) for size in matrices(shape).values()):
        return "matrix"
    if shape.vocab and op in ("all_gather", "gather") and whole % shape.vocab == 0:
        return "logits"
    if not shape.hidden or whole % shape.hidden:
        return None
    if op == "all_to_all":
        return "expert-tokens" if shape.experts else "activation"
    return "activation" if op in ("all_reduce", "send", "recv") and whole > shape.hidden else None


def _is_embedding(shape: ModelShape, whole: int) -> bool:
    """Tell whether a size is that of the embedding or the head, padded where it is."""
    size = embedding(shape)
    if size is None or not shape.hidden:
        return False
    rows, left = divmod(whole - size, shape.hidden)
    return left == 0 and 0 <= rows <= PADDED_VOCAB
