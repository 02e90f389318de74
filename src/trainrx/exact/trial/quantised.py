"""Linear layers with packed weights: sizes as bitsandbytes and GPTQ keep them, no kernels."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional

BLOCK = 64
"""NF4 has one fp32 scale for so many weights; double quantisation makes it one byte, with an fp32
scale for each 256 of those (QLoRA, arXiv 2305.14314, section 3)."""


class PackedMatmul(torch.autograd.Function):
    """Unpacks the weight for the product and again for the gradient of the input; keeps neither."""

    @staticmethod
    def forward(ctx: Any, rows: Any, layer: Any) -> Any:  # noqa: D102
        ctx.layer, ctx.dtype = layer, rows.dtype
        return functional.linear(rows, layer.unpacked(rows.dtype))

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:  # noqa: D102
        return grad @ ctx.layer.unpacked(grad.dtype).to(grad.dtype), None


class PackedLinear(nn.Linear):
    """A linear layer whose weight lies packed; `bits` of 4 or 8."""

    def __init__(self, old: Any, bits: int, double: bool) -> None:
        nn.Module.__init__(self)
        self.in_features, self.out_features = old.in_features, old.out_features
        count = old.weight.numel()
        self.weight = nn.Parameter(
            torch.empty(count * bits // 8, dtype=torch.uint8), requires_grad=False
        )
        scales = -(-count // BLOCK) if bits == 4 else self.out_features
        small = bits == 4 and double
        self.register_buffer(
            "scales",
            torch.empty(scales, dtype=torch.uint8 if small else torch.float32),
            persistent=False,
        )
        if small:
            self.register_buffer("scales2", torch.empty(-(-scales // 256)), persistent=False)
        self.bias = old.bias
        if self.bias is not None:
            self.bias.requires_grad_(requires_grad=False)
        self.logical = count

    def unpacked(self, dtype: Any) -> Any:
        """Make the weight whole."""
        return torch.empty(self.out_features, self.in_features, dtype=dtype)

    def forward(self, rows: Any) -> Any:
        """Multiply with the weight made whole for it."""
        if torch.is_autocast_enabled("cpu"):
            rows = rows.to(torch.bfloat16)
        elif rows.dtype == torch.float32:
            # 4-bit layers compute in bf16 and give back what they were given
            return self._product(rows.to(torch.bfloat16)).to(torch.float32)
        return self._product(rows)

    def _product(self, rows: Any) -> Any:
        out = PackedMatmul.apply(rows, self)
        return out if self.bias is None else out + self.bias.to(out.dtype)


def pack(model: Any, bits: int, *, double: bool, keep: Any) -> int:
    """Replace linear layers but `keep` (the head); give how many weights went in."""
    count = 0
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            if type(child) is nn.Linear and child is not keep:
                setattr(parent, name, PackedLinear(child, bits, double))
                count += child.weight.numel()
    return count
