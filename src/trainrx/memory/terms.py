"""Closed-form terms of GPU memory, all in GiB per GPU unless said otherwise.

Only what stays resident before the first activation: weights, gradients, optimizer states, the
share vLLM takes, and the logits of one micro-batch. Activations are not modelled here; where a
number would need them there is no number.
"""

from __future__ import annotations

GIB = 2.0**30
BF16_BYTES = 2.0
# NF4 with double quantisation keeps 4 bits plus 0.127 bit a weight (QLoRA, arXiv 2305.14314)
NF4_BYTES = 0.516
INT8_BYTES = 1.0
# bf16 weight and gradient, fp32 master and two AdamW moments (ZeRO, arXiv 1910.02054, section 3.1)
GRADIENT_BYTES = 2.0
OPTIMIZER_BYTES = 12.0


def bytes_per_weight(quant_bits: int | None) -> float:
    """Give the bytes a resident base weight takes."""
    if quant_bits == 4:
        return NF4_BYTES
    return INT8_BYTES if quant_bits == 8 else BF16_BYTES


def weights_gib(params_b: float, quant_bits: int | None = None) -> float:
    """Size of all weights, in GiB, whole model."""
    return params_b * 1e9 * bytes_per_weight(quant_bits) / GIB


def states_gib(trainable_b: float, *, zero_stage: int, world_size: int) -> float:
    """Gradients and AdamW states of the trainable part per GPU, GiB.

    16 bytes a parameter of which stage 1 shards the 12 of the optimizer, stage 2 the gradients
    too (arXiv 1910.02054, figure 1); the weight itself is counted in `weights_gib`.
    """
    shards = max(world_size, 1)
    gradients = GRADIENT_BYTES / (shards if zero_stage >= 2 else 1)
    optimizer = OPTIMIZER_BYTES / (shards if zero_stage >= 1 else 1)
    return trainable_b * 1e9 * (gradients + optimizer) / GIB
