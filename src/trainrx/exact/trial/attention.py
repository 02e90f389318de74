"""Stand-ins for the fused attention kernels: what they keep and what they take for a while.

Under fake tensors on the CPU the CUDA kernels cannot be chosen, and the CPU ones keep other things.
What FlashAttention-2 allocates is taken from its C++ entry points (Dao-AILab/flash-attention,
csrc/flash_attn/flash_api.cpp, `mha_fwd` and `mha_bwd`); torch's own flash backend is the same code.
"""

from __future__ import annotations

from typing import Any

import torch

NAME = "counted_fused"


class Flash(torch.autograd.Function):
    """Keeps query, key, value, output, log-sum-exp; tensors are batch, length, heads, head."""

    @staticmethod
    def forward(ctx: Any, query: Any, key: Any, value: Any) -> Any:  # noqa: D102
        batch, length, heads, _ = query.shape
        out = query.new_empty(batch, length, heads, value.shape[-1])
        lse = query.new_empty(batch, heads, length, dtype=torch.float32)
        ctx.save_for_backward(query, key, value, out, lse)
        return out

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:  # noqa: D102
        query, key, value, _, _ = ctx.saved_tensors
        batch, length, heads, size = query.shape
        grad = grad.contiguous()
        grads = [
            torch.empty_like(one, memory_format=torch.contiguous_format)
            for one in (query, key, value)
        ]
        rounded = -(-length // 128) * 128
        sums = query.new_empty(batch, heads, rounded, -(-size // 32) * 32, dtype=torch.float32)
        soft = query.new_empty(batch, heads, rounded, dtype=torch.float32)
        wide = []
        if key.shape[2] != heads:  # one gradient per query head, summed over each group afterwards
            wide = [one.new_empty(batch, one.shape[1], heads, one.shape[3]) for one in (key, value)]
        del sums, soft, wide, grad
        return tuple(grads)


def flash(module: Any, query: Any, key: Any, value: Any, attention_mask: Any, **_: Any) -> Any:
    """Attention as transformers calls it: batch, heads, length in; batch, length, heads out."""
    del module, attention_mask
    out = Flash.apply(query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2))
    return out, None


def scaled_dot_product(  # noqa: PLR0913, PLR0917 - torch's own signature
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """Stand in for torch's scaled_dot_product_attention with a fused backend."""
    del attn_mask, dropout_p, is_causal, scale, enable_gqa
    if query.dim() != 4:
        lead = query.shape[:-2]
        four = [one.reshape(-1, 1, *one.shape[-2:]) for one in (query, key, value)]
        return scaled_dot_product(*four).reshape(*lead, query.shape[-2], value.shape[-1])
    out = Flash.apply(query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2))
    return out.transpose(1, 2)


def register() -> bool:
    """Make the stand-in known to transformers; False where it is too old to take one (< 4.48)."""
    try:
        from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
    except ImportError:
        return False
    ALL_ATTENTION_FUNCTIONS[NAME] = flash
    try:
        from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS, flash_attention_mask
    except ImportError:
        return True
    ALL_MASK_ATTENTION_FUNCTIONS[NAME] = flash_attention_mask
    return True


def stand_in() -> None:
    """Let torch's own fused attention be stood in for, in this process."""
    torch.nn.functional.scaled_dot_product_attention = scaled_dot_product
