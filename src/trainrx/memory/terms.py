"""Closed-form terms of GPU memory, all in GiB per GPU unless said otherwise.

Only what stays resident before the first activation: weights, gradients, optimizer states, the
share vLLM takes, and the logits of one micro-batch. Activations are not modelled here; where a
number would need them there is no number.
"""

from __future__ import annotations

from trainrx.model.hardware import ModelShape

GIB = 2.0**30
BF16_BYTES = 2.0
# NF4 with double quantisation keeps 4 bits plus 0.127 bit a weight (QLoRA, arXiv 2305.14314)
NF4_BYTES = 0.516
INT8_BYTES = 1.0
# bf16 weight and gradient, fp32 master and two AdamW moments (ZeRO, arXiv 1910.02054, section 3.1)
GRADIENT_BYTES = 2.0
OPTIMIZER_BYTES = 12.0
# a float32 copy of the logits, its gradient and the bf16 original, forward and backward: fitted on
# the eager HF loss of the fms-hf-tuning runs (slope over length)
EAGER_LOGIT_BYTES = 14.75


def bytes_per_weight(quant_bits: int | None) -> float:
    """Give the bytes a resident base weight takes."""
    if quant_bits == 4:
        return NF4_BYTES
    return INT8_BYTES if quant_bits == 8 else BF16_BYTES


def weights_gib(params_b: float, quant_bits: int | None = None) -> float:
    """Size of all weights, in GiB, whole model."""
    return params_b * 1e9 * bytes_per_weight(quant_bits) / GIB


def lora_params_b(shape: ModelShape, rank: int) -> float | None:
    """Count LoRA parameters on all linear layers, in 1e9; None when the shape is not known.

    Each adapted matrix (in x out) adds rank x (in + out) (LoRA, arXiv 2106.09685, section 4.1).
    """
    needed = (shape.layers, shape.hidden, shape.heads, shape.kv_heads, shape.inter)
    if any(value is None for value in needed):
        return None
    layers, hidden, heads, kv_heads, inter = (int(value or 0) for value in needed)
    head = shape.head_dim or hidden // heads
    query, key = heads * head, kv_heads * head
    attention = (hidden + query) * 2 + (hidden + key) * 2
    mlp = (hidden + inter) * 3
    return layers * rank * (attention + mlp) / 1e9


def states_gib(trainable_b: float, *, zero_stage: int, world_size: int) -> float:
    """Gradients and AdamW states of the trainable part per GPU, GiB.

    16 bytes a parameter of which stage 1 shards the 12 of the optimizer, stage 2 the gradients
    too (arXiv 1910.02054, figure 1); the weight itself is counted in `weights_gib`.
    """
    shards = max(world_size, 1)
    gradients = GRADIENT_BYTES / (shards if zero_stage >= 2 else 1)
    optimizer = OPTIMIZER_BYTES / (shards if zero_stage >= 1 else 1)
    return trainable_b * 1e9 * (gradients + optimizer) / GIB


def logits_gib(tokens: float, vocab: int, bytes_per_logit: float = EAGER_LOGIT_BYTES) -> float:
    """Logits of `tokens` positions over a vocabulary through an eager loss, GiB."""
    return tokens * vocab * bytes_per_logit / GIB


def tokens_in_allocation(gib: float, vocab: int, bytes_per_logit: float = 4.0) -> float:
    """How many positions a failed allocation of logits was for (float32 copy by default)."""
    return gib * GIB / (vocab * bytes_per_logit)
