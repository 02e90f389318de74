"""The parameters of a model by part, and those of adapters on it."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import msgspec

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


class ModelParameters(msgspec.Struct, frozen=True, kw_only=True):
    """Parameters of a model by part, in plain counts.

    `attention` is of one layer with softmax attention, `linear` of one without, `mlp` of one dense
    layer, `expert` of one routed expert, `shared` and `router` of one layer with experts; `norms`
    of all layers together. `tower` is the vision encoder without its `projector`. `other` is what
    `total` has beyond the counted parts: positions, biases, an audio encoder; negative where the
    parts count more than the published figure. `complete` is False when layers could not be
    counted: then nearly all of `total` is `other`.
    """

    embedding: float = 0.0
    head: float = 0.0
    attention: float = 0.0
    linear: float = 0.0
    mlp: float = 0.0
    expert: float = 0.0
    shared: float = 0.0
    router: float = 0.0
    norms: float = 0.0
    tower: float = 0.0
    projector: float = 0.0
    other: float = 0.0
    total: float
    active: float
    dense_layers: int = 0
    sparse_layers: int = 0
    complete: bool = True


def parts_of(shape: ModelShape) -> ModelParameters | None:
    """Count a model's parameters by part; None when neither its shape nor its size is known.

    `total` is the published size where there is one, else the sum of the parts.
    """
    count = count_language(shape)
    tower, projector = _vision(shape)
    if count is None:
        return _rough(shape, tower, projector)
    counted = count.total + tower + projector
    total = counted if shape.params_b is None else shape.params_b * BILLION
    return ModelParameters(
        embedding=count.embedding,
        head=count.head,
        attention=count.attention,
        linear=count.linear,
        mlp=count.mlp,
        expert=count.expert,
        shared=count.shared,
        router=count.router,
        norms=count.norms,
        tower=tower,
        projector=projector,
        other=total - counted,
        total=total,
        active=_active(shape, count, total, tower + projector),
        dense_layers=(shape.layers or 0) - count.sparse_layers,
        sparse_layers=count.sparse_layers,
    )


def _active(shape: ModelShape, count: ParameterCount, total: float, vision: float) -> float:
    if shape.active_b is not None:
        return shape.active_b * BILLION
    return total if count.active is None else count.active + vision


def _rough(shape: ModelShape, tower: float, projector: float) -> ModelParameters | None:
    """Divide a model whose layers are not known into embeddings and the rest."""
    if shape.params_b is None:
        return None
    total = shape.params_b * BILLION
    embedding = float((shape.vocab or 0) * (shape.hidden or 0))
    head = embedding if shape.tie is False else 0.0
    sparse = sparse_layers(shape)
    return ModelParameters(
        embedding=embedding,
        head=head,
        tower=tower,
        projector=projector,
        other=total - embedding - head - tower - projector,
        total=total,
        active=total if shape.active_b is None else shape.active_b * BILLION,
        dense_layers=(shape.layers or 0) - sparse,
        sparse_layers=sparse,
        complete=False,
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
