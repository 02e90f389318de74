"""Parameters of a model and of adapters on it, and the widths the formulas need."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from trainrx.model.hardware import ModelShape
from trainrx.models.parameters import (
    Matrix,
    ParameterCount,
    attention,
    count_language,
    count_tower,
    feed_forward,
    linear_attention,
    sparse_layers,
    tower_layer,
)

BILLION = 1e9


class ModelParameters(NamedTuple):
    """Parameters of a model by part, in plain counts.

    `tower` is the vision encoder without its `projector`, `active` are those a token passes
    through. `complete` is False when layers could not be counted: nearly all is `other`.
    """

    language: ParameterCount
    tower: float
    projector: float
    total: float
    active: float
    dense_layers: int
    complete: bool

    @property
    def other(self) -> float:
        """What is beyond the counted parts: positions, biases, an audio encoder.

        Negative where the parts count more than the published figure.
        """
        return self.total - (self.language.total + self.tower + self.projector)


def parts_of(shape: ModelShape) -> ModelParameters | None:
    """Count a model's parameters by part; None when neither its shape nor its size is known.

    `total` is the published size where there is one, else the sum of the parts.
    """
    counted = count_language(shape)
    if counted is None and shape.params_b is None:
        return None
    count = counted or _ends_alone(shape)
    tower, projector = _vision(shape)
    whole = count.total + tower + projector
    total = whole if shape.params_b is None else shape.params_b * BILLION
    active = total if count.active is None else count.active + tower + projector
    return ModelParameters(
        language=count,
        tower=tower,
        projector=projector,
        total=total,
        active=active if shape.active_b is None else shape.active_b * BILLION,
        dense_layers=(shape.layers or 0) - count.sparse_layers,
        complete=counted is not None,
    )


def _ends_alone(shape: ModelShape) -> ParameterCount:
    """Count the embeddings of a model whose layers are not known."""
    embedding = (shape.vocab or 0) * (shape.hidden or 0)
    head = embedding if shape.tie is False else 0
    parts = dict.fromkeys(("attention", "linear", "mlp", "expert", "shared", "router", "norms"), 0)
    return ParameterCount(
        embedding=embedding,
        head=head,
        sparse_layers=sparse_layers(shape),
        total=embedding + head,
        active=None,
        **parts,
    )


def _vision(shape: ModelShape) -> tuple[float, float]:
    """Give the parameters of the vision encoder and of its projector."""
    if shape.tower is None:
        return (shape.vision_b or 0.0) * BILLION, 0.0
    projector = (shape.tower.projector_b or 0.0) * BILLION
    published = shape.tower.params_b or shape.vision_b
    if published is None:
        return float(count_tower(shape.tower)), projector
    return published * BILLION - projector, projector


def lora_parameters(shape: ModelShape, rank: int, roles: Collection[str]) -> float | None:
    """Count the parameters of adapters on the matrices of some roles; None when not known.

    A matrix of `in` x `out` gets `rank` x (`in` + `out`) (LoRA, arXiv 2106.09685, section 4.1).
    Every routed expert has adapters of its own. `qkv` stands for one fused matrix in place of `q`,
    `k` and `v`, which latent attention does not have. Layers with linear attention have one too,
    and are adapted only where `qkv` is named: their matrices go by other names than those of
    attention.

    Args:
        shape: the model.
        rank: of the adapters.
        roles: of `LORA_ROLES`; none is no adapter at all.
    """
    wanted = frozenset(roles)
    matrices = tuple(_adapted(shape, wanted))
    if any(matrix is None for matrix in matrices):
        return None
    widths = ((m.inner + m.outer) * m.times for m in matrices if m is not None)
    return float(rank * sum(widths))


def _adapted(shape: ModelShape, roles: frozenset[str]) -> Iterator[Matrix | None]:
    """Yield every adapted matrix of the model, None for one whose widths are not known."""
    yield from _ends(shape, roles)
    layers = shape.layers
    if layers is None:
        yield None
        return
    own = attention(shape) if shape.kv_lora else _fused(attention(shape), roles)
    yield from _repeated(own, roles, layers - shape.linear_layers)
    if shape.encoder_layers:
        yield from _repeated(own, roles, layers - shape.encoder_layers)
    if "qkv" in roles:
        every = roles | {"o"}
        yield from _repeated(linear_attention(shape), every, shape.linear_layers)
    sparse = sparse_layers(shape)
    yield from _repeated(feed_forward(shape, shape.inter), roles, layers - sparse)
    width = shape.moe_inter or shape.inter
    yield from _repeated(feed_forward(shape, width, shape.experts or 0), roles, sparse)
    if shape.shared_inter:
        yield from _repeated(feed_forward(shape, shape.shared_inter), roles, sparse)
    if "vision" in roles and shape.tower is not None:
        layer = tower_layer(shape.tower)
        yield from _repeated(layer, frozenset(m.role for m in layer), shape.tower.depth)


def _ends(shape: ModelShape, roles: frozenset[str]) -> Iterator[Matrix | None]:
    for role in ("embed", "head"):
        if role in roles:
            known = shape.vocab is not None and shape.hidden is not None
            yield Matrix(role, shape.vocab or 0, shape.hidden or 0) if known else None


def _fused(matrices: tuple[Matrix, ...] | None, roles: frozenset[str]) -> tuple[Matrix, ...] | None:
    """Join queries, keys and values into one matrix when the roles ask for it alone."""
    if matrices is None or "qkv" not in roles or roles & {"q", "k", "v"}:
        return matrices
    parts = [m for m in matrices if m.role in {"q", "k", "v"}]
    joined = Matrix("qkv", parts[0].inner, sum(m.outer for m in parts))
    return (joined, *(m for m in matrices if m not in parts))


def _repeated(
    matrices: tuple[Matrix, ...] | None, roles: frozenset[str], times: int
) -> Iterator[Matrix | None]:
    """Yield the matrices of wanted roles once for all the layers that have them."""
    if times <= 0 or not roles & {"q", "k", "v", "o", "gate", "up", "down", "qkv"}:
        return
    if matrices is None:
        yield None
        return
    for matrix in matrices:
        if matrix.role in roles:
            yield matrix._replace(times=matrix.times * times)


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
    keys: int
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
    count, dense, sparse = parts.language, parts.dense_layers, parts.language.sparse_layers
    attention = count.attention * (shape.layers - shape.linear_layers)
    attention += count.linear * shape.linear_layers
    experts = count.expert * (shape.experts or 0) * sparse
    linear: float = attention + count.mlp * dense + experts + (count.shared + count.router) * sparse
    if not parts.complete:
        linear = parts.other
    inter = float(shape.inter or 4 * shape.hidden)
    copies = 0.0
    if sparse:
        routed = (shape.experts_per_token or _routed(shape)) * (shape.moe_inter or inter)
        inter = routed + (shape.shared_inter or 0)
        copies = float(shape.experts_per_token or _routed(shape))
    layer = count.attention + max(
        count.mlp if dense else 0.0,
        (count.expert * (shape.experts or 0) + count.shared + count.router) if sparse else 0.0,
    )
    if not parts.complete:
        layer = linear / shape.layers
    return Model(
        layers=shape.layers,
        hidden=shape.hidden,
        heads=shape.heads or max(1, shape.hidden // 128),
        queries=_queries(shape),
        keys=_keys(shape),
        inter=inter,
        copies=copies,
        vocab=shape.vocab,
        embedding=count.embedding,
        head=count.head,
        linear=linear,
        experts=experts,
        layer=layer,
        matrix=float(shape.hidden) * (shape.moe_inter if sparse and shape.moe_inter else inter),
        tower=parts.tower + parts.projector,
        scaled=bool(SCALED.search(f"{shape.id} {shape.model_type}".lower())),
        own_loss=bool(OWN_LOSS.search(shape.id.lower())),
        half_loss=bool(HALF_LOSS.search(f"{shape.id} {shape.model_type}".lower())),
        rest=parts.total - count.embedding - count.head - linear - parts.tower - parts.projector,
        total=parts.total,
        complete=parts.complete,
    )


def _queries(shape: ModelShape) -> int:
    """Give the width of all queries of a layer together."""
    hidden, heads = shape.hidden or 0, shape.heads or 0
    if shape.kv_lora and heads:
        return heads * ((shape.qk_nope or 0) + (shape.qk_rope or 0))
    return heads * shape.head_dim if shape.head_dim and heads else hidden


def _keys(shape: ModelShape) -> int:
    """Give the width of all keys of a layer together: fewer than queries where heads share them."""
    heads, shared = shape.heads or 0, shape.kv_heads or 0
    return (
        _queries(shape) * shared // heads
        if heads and shared < heads and shared
        else _queries(shape)
    )


def _routed(shape: ModelShape) -> int:
    """Guess how many experts a token passes from the active share; 2 as in Mixtral else."""
    if shape.active_b and shape.params_b and shape.experts:
        return max(1, round(shape.experts * shape.active_b / shape.params_b))
    return 2
