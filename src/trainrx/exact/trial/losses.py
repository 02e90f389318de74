"""Losses that never hold all logits in fp32, as far as memory goes."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

CHUNK = 1024
"""Tokens of one piece of a chunked loss, as far as nobody says."""


class FusedRows(torch.autograd.Function):
    """Cross entropy by one kernel over 2-byte logits: the gradient is written over the logits."""

    @staticmethod
    def forward(ctx: Any, logits: Any, labels: Any) -> Any:  # noqa: D102
        lse = logits.new_empty(logits.shape[0], dtype=torch.float32)
        ctx.save_for_backward(logits, lse, labels)
        return lse.sum()

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:  # noqa: D102
        del grad
        return ctx.saved_tensors[0], None


class FusedHead(torch.autograd.Function):
    """Head and cross entropy in one, piece by piece; gradients are made in the forward pass.

    Pieces are as Liger Kernel chooses them (linkedin/Liger-Kernel, fused_linear_cross_entropy.py:
    about as many tokens at a time as keep a piece of logits the size of the hidden states).
    """

    @staticmethod
    def forward(ctx: Any, hidden: Any, weight: Any, labels: Any) -> Any:  # noqa: D102
        tokens, width = hidden.shape
        pieces = -(-weight.shape[0] // width)
        size = 1 << max(0, (-(-tokens // pieces) - 1).bit_length())
        grad_hidden = torch.zeros_like(hidden)
        grad_weight = torch.zeros_like(weight) if ctx.needs_input_grad[1] else None
        losses = hidden.new_zeros(tokens, dtype=torch.float32)
        for start in range(0, tokens, size):
            rows = hidden[start : start + size]
            logits = functional.linear(rows, weight.to(rows.dtype))
            grad_hidden[start : start + size] = logits @ weight.to(rows.dtype)
            if grad_weight is not None:
                grad_weight += logits.t() @ rows
        ctx.save_for_backward(grad_hidden, *([] if grad_weight is None else [grad_weight]))
        del labels
        return losses.sum()

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:  # noqa: D102
        del grad
        saved = ctx.saved_tensors
        return saved[0], saved[1] if len(saved) > 1 else None, None


def loss_of(kind: str, hidden: Any, head: Any, labels: Any) -> Any:
    """Give the loss of hidden states (batch, length, width) under another implementation."""
    if kind == "fused":
        # a kernel gets the logits without the last position, as a tensor of their own
        logits = head(hidden)
        loss = FusedRows.apply(logits[:, :-1].flatten(0, 1).contiguous(), labels[:, 1:].flatten())
        if torch.is_autocast_enabled("cpu"):
            as_accelerate(logits)
        return loss
    rows, targets = hidden.flatten(0, 1), labels.flatten()
    if kind == "linear":
        if torch.is_autocast_enabled("cpu"):
            rows = rows.to(torch.bfloat16)
        return FusedHead.apply(rows, head.weight, targets)
    if kind in ("eager", "float"):
        return functional.cross_entropy(head(rows).float(), targets)
    parts = [
        checkpoint(_piece, head, piece, wanted, use_reentrant=False)
        for piece, wanted in zip(rows.split(CHUNK), targets.split(CHUNK), strict=True)
    ]
    return torch.stack(parts).sum()


def as_accelerate(logits: Any) -> None:
    """Make the fp32 copy of its outputs a model prepared for autocast gives back.

    accelerate wraps the forward (`convert_outputs_to_fp32`); the trainer holds the copy until it
    has taken the loss.
    """
    logits.detach().float()


def _piece(head: Any, rows: Any, targets: Any) -> Any:
    return functional.cross_entropy(head(rows).float(), targets, reduction="sum")
