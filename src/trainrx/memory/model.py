"""What the formulas need of a model's shape, worked out once per shape."""

from __future__ import annotations

import re
from typing import NamedTuple

from trainrx.memory.parts import lora_parameters, parts_of
from trainrx.model.hardware import ModelShape

SCALED = re.compile(r"granite|powerlm|cohere|command-r|c4ai|gemma-?2")
"""Models that divide or cap their logits before the loss (`logits_scaling`, `logit_scale`,
`final_logit_softcapping` in their configurations). Counted on the real class: 12 bytes a logit with
the releases of transformers that give Llama 14."""

HALF_LOSS = re.compile(r"bigcode|santacoder|gpt2|gpt-neo|gptj|pythia|bloom|falcon|\bopt-")
"""Models whose code hands 2-byte logits to the loss: no fp32 copy outside autocast."""

OWN_LOSS = re.compile(r"(?:^|/)qwen-")
"""Qwen-1 and Qwen-VL: their own code does the same, but autocast turns their logits into fp32."""


class Model(NamedTuple):
    """Widths and parameter counts; `inter` is the MLP width one token passes through.

    `linear` counts the matrices of all layers (what quantisation packs), `layer` those of the
    largest layer, `matrix` the largest single one, `copies` how often a token's hidden state is
    copied for its experts; `scaled`: logits are scaled before the loss;
    `half_loss`: the loss works on 2-byte logits, `own_loss`: so it does without autocast.
    """

    layers: int
    hidden: int
    heads: int
    queries: int
    inter: float
    copies: float
    vocab: int
    embedding: float
    head: float
    linear: float
    experts: float
    layer: float
    matrix: float
    tower: float
    rest: float
    scaled: bool
    half_loss: bool
    own_loss: bool
    total: float
    complete: bool


_MODELS: dict[int, tuple[ModelShape, Model | None]] = {}
_ADAPTERS: dict[tuple[int, int, tuple[str, ...]], tuple[ModelShape, float]] = {}


def model_of(shape: ModelShape) -> Model | None:
    """Give the model's widths and counts; None when layers, width or vocabulary are not known."""
    known = _MODELS.get(id(shape))
    if known is None:  # the shape is kept beside, so that its id stays its own
        known = _MODELS[id(shape)] = (shape, _model(shape))
    return known[1]


def adapters_of(shape: ModelShape, rank: int, targets: tuple[str, ...]) -> float:
    """Count the parameters of the adapters."""
    key = (id(shape), rank, targets)
    known = _ADAPTERS.get(key)
    if known is None:
        count = lora_parameters(shape, rank, targets)
        if count is None:  # nothing is known of the layers: as many as on square matrices
            width, layers = shape.hidden or 0, shape.layers or 0
            count = float(2 * rank * width * layers * max(1, len(targets)))
        known = _ADAPTERS[key] = (shape, count)
    return known[1]


def _model(shape: ModelShape) -> Model | None:
    parts = parts_of(shape)
    if parts is None or not (shape.layers and shape.hidden and shape.vocab):
        return None
    dense, sparse = parts.dense_layers, parts.sparse_layers
    attention = parts.attention * (shape.layers - shape.linear_layers)
    attention += parts.linear * shape.linear_layers
    experts = parts.expert * (shape.experts or 0) * sparse
    linear = attention + parts.mlp * dense + experts + (parts.shared + parts.router) * sparse
    if not parts.complete:
        linear = parts.other
    inter = float(shape.inter or 4 * shape.hidden)
    copies = 0.0
    if sparse:
        routed = (shape.experts_per_token or _routed(shape)) * (shape.moe_inter or inter)
        inter = routed + (shape.shared_inter or 0)
        copies = float(shape.experts_per_token or _routed(shape))
    layer = parts.attention + max(
        parts.mlp if dense else 0.0,
        (parts.expert * (shape.experts or 0) + parts.shared + parts.router) if sparse else 0.0,
    )
    if not parts.complete:
        layer = linear / shape.layers
    return Model(
        layers=shape.layers,
        hidden=shape.hidden,
        heads=shape.heads or max(1, shape.hidden // 128),
        queries=_queries(shape),
        inter=inter,
        copies=copies,
        vocab=shape.vocab,
        embedding=parts.embedding,
        head=parts.head,
        linear=linear,
        experts=experts,
        layer=layer,
        matrix=float(shape.hidden) * (shape.moe_inter if sparse and shape.moe_inter else inter),
        tower=parts.tower + parts.projector,
        scaled=bool(SCALED.search(f"{shape.id} {shape.model_type}".lower())),
        own_loss=bool(OWN_LOSS.search(shape.id.lower())),
        half_loss=bool(HALF_LOSS.search(f"{shape.id} {shape.model_type}".lower())),
        rest=parts.total - parts.embedding - parts.head - linear - parts.tower - parts.projector,
        total=parts.total,
        complete=parts.complete,
    )


def _queries(shape: ModelShape) -> int:
    """Give the width of all queries of a layer together."""
    hidden, heads = shape.hidden or 0, shape.heads or 0
    if shape.kv_lora and heads:
        return heads * ((shape.qk_nope or 0) + (shape.qk_rope or 0))
    return heads * shape.head_dim if shape.head_dim and heads else hidden


def _routed(shape: ModelShape) -> int:
    """Guess how many experts a token passes from the active share; 2 as in Mixtral else."""
    if shape.active_b and shape.params_b and shape.experts:
        return max(1, round(shape.experts * shape.active_b / shape.params_b))
    return 2
