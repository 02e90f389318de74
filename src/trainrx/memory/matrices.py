"""How many elements the single tensors of a model have; nothing where a width is unknown."""

from __future__ import annotations

from trainrx.model.hardware import ModelShape
from trainrx.models.parameters import attention, count_language, feed_forward

BIASED = ("qwen2", "qwq", "deepseek-r1-distill-qwen")
"""Families whose query, key and value have a bias (transformers: modeling_qwen2.py)."""
HEAD_NORMS = ("qwen3",)
"""Families that normalise queries and keys per head (transformers: modeling_qwen3.py)."""
ROUNDED = 0.005
"""Published figures are rounded to hundredths of 1e9."""


def head_size(shape: ModelShape) -> int | None:
    """Give the width of one attention head."""
    if shape.head_dim is not None:
        return shape.head_dim
    return shape.hidden // shape.heads if shape.hidden and shape.heads else None


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
    wide, family = head_size(shape), shape.model_type or shape.id.rsplit("/", 1)[-1].lower()
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
