"""Count the parameters of a transformer from its shape, matrix by matrix.

Counts are plain numbers of parameters. Biases are left out: less than 0.1 % of most models.
Sources: modeling files of transformers 4.57 (llama, qwen2_moe, qwen3_moe, qwen3_next, deepseek_v3,
mixtral, gpt_oss, phi, t5, lfm2, qwen2_vl, siglip, clip).
"""

from __future__ import annotations

from typing import NamedTuple

from trainrx.model.hardware import ModelShape, Tower


class Matrix(NamedTuple):
    """A linear map of one layer: its role (see `LORA_ROLES`), widths, and how often it is there."""

    role: str
    inner: int
    outer: int
    times: int = 1

    @property
    def size(self) -> int:
        """Parameters of all copies."""
        return self.inner * self.outer * self.times


class ParameterCount(NamedTuple):
    """Parameters of a language model by part; layers' parts are of one layer of the kind."""

    embedding: int
    head: int
    attention: int
    linear: int
    mlp: int
    expert: int
    shared: int
    router: int
    norms: int
    sparse_layers: int
    total: int
    active: int | None


def attention(shape: ModelShape) -> tuple[Matrix, ...] | None:
    """Give the projections of one layer with attention; None where their widths are not known."""
    hidden, heads = shape.hidden, shape.heads
    if not hidden or not heads:
        return None
    if shape.kv_lora is not None:
        return _latent_attention(shape, hidden, heads, shape.kv_lora)
    head = shape.head_dim or hidden // heads
    query, keys = heads * head, (shape.kv_heads or heads) * head
    return (
        Matrix("q", hidden, query * (2 if shape.gated_attention else 1)),
        Matrix("k", hidden, keys),
        Matrix("v", hidden, keys),
        Matrix("o", query, hidden),
    )


def _latent_attention(
    shape: ModelShape, hidden: int, heads: int, rank: int
) -> tuple[Matrix, ...] | None:
    rope, plain = shape.qk_rope, shape.qk_nope
    if rope is None or plain is None:
        return None
    value = shape.v_head or hidden // heads
    wide, narrow = heads * (rope + plain), shape.q_lora
    query = (
        (Matrix("q", hidden, wide),)
        if narrow is None
        else (Matrix("q", hidden, narrow), Matrix("q", narrow, wide))
    )
    return (
        *query,
        Matrix("k", hidden, rank + rope),
        Matrix("v", rank, heads * (plain + value)),
        Matrix("o", heads * value, hidden),
    )


def linear_attention(shape: ModelShape) -> tuple[Matrix, ...] | None:
    """Give the projections of one layer without softmax attention; None when not known."""
    if shape.hidden is None or shape.linear_in is None or shape.linear_out is None:
        return None
    return (
        Matrix("qkv", shape.hidden, shape.linear_in),
        Matrix("o", shape.linear_out, shape.hidden),
    )


def feed_forward(shape: ModelShape, width: int | None, times: int = 1) -> tuple[Matrix, ...] | None:
    """Give the matrices of `times` feed-forward blocks of a width (0: none); None when unknown."""
    if shape.hidden is None or width is None:
        return None
    if width == 0:
        return ()
    inward = ("up",) if shape.gated is False else ("gate", "up")
    return (
        *(Matrix(role, shape.hidden, width, times) for role in inward),
        Matrix("down", width, shape.hidden, times),
    )


def sparse_layers(shape: ModelShape) -> int:
    """Count the layers that have experts."""
    return max((shape.layers or 0) - shape.first_dense, 0) if shape.experts else 0


def size(matrices: tuple[Matrix, ...] | None) -> int:
    """Add up parameters; none where the matrices are not known."""
    return sum(matrix.size for matrix in matrices or ())


def count_language(shape: ModelShape) -> ParameterCount | None:
    """Count a language model; None where the shape does not tell all its matrices."""
    layers, hidden, vocab = shape.layers, shape.hidden, shape.vocab
    if layers is None or hidden is None or vocab is None or shape.tie is None:
        return None
    full, linear = layers - shape.linear_layers, shape.linear_layers
    own, other = attention(shape), linear_attention(shape)
    if (full and own is None) or (linear and other is None):
        return None
    sparse = sparse_layers(shape)
    dense, expert = _blocks(shape)
    if (dense is None and sparse < layers) or (expert is None and sparse):
        return None
    embedding = vocab * hidden
    head = 0 if shape.tie else embedding
    norms = hidden * (2 * layers + 1)
    shared = size(feed_forward(shape, shape.shared_inter)) if sparse else 0
    router = hidden * (shape.experts or 0)
    mixers = full * size(own) + linear * size(other)
    if shape.encoder_layers:
        mixers += (layers - shape.encoder_layers) * size(own)
    common = embedding + head + norms + mixers + (layers - sparse) * size(dense)
    common += sparse * (shared + router)
    used = shape.experts_per_token
    one = size(expert)
    active = common + sparse * used * one if sparse and used is not None else None
    return ParameterCount(
        embedding=embedding,
        head=head,
        attention=size(own),
        linear=size(other),
        mlp=size(dense),
        expert=one,
        shared=shared,
        router=router if sparse else 0,
        norms=norms,
        sparse_layers=sparse,
        total=common + sparse * (shape.experts or 0) * one,
        active=active,
    )


def _blocks(shape: ModelShape) -> tuple[tuple[Matrix, ...] | None, tuple[Matrix, ...] | None]:
    """Give a dense layer's feed-forward block and one expert; a model of one kind has one width."""
    dense = feed_forward(shape, shape.inter)
    if not shape.experts:
        return dense, None
    return dense, feed_forward(shape, shape.moe_inter or shape.inter)


def tower_layer(tower: Tower) -> tuple[Matrix, ...]:
    """Give the matrices of one layer of an encoder; queries, keys and values are one matrix."""
    inward = ("gate", "up") if tower.gated else ("up",)
    return (
        Matrix("qkv", tower.hidden, 3 * tower.hidden),
        Matrix("o", tower.hidden, tower.hidden),
        *(Matrix(role, tower.hidden, tower.inter) for role in inward),
        Matrix("down", tower.inter, tower.hidden),
    )


def count_tower(tower: Tower) -> int:
    """Count an encoder of images without its projector: patches, positions, layers."""
    patches = 3 * tower.temporal_patch * tower.patch**2 * tower.hidden
    positions = 0
    if tower.image_size is not None:
        positions = (tower.image_size // tower.patch) ** 2 * tower.hidden
    return patches + positions + tower.depth * size(tower_layer(tower))
