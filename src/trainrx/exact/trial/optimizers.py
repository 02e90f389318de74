"""Optimizers that torch itself has; others keep their states in kernels that do not run here."""

from __future__ import annotations

from typing import Any

import torch


def make_optimizer(name: str, trained: list[Any], *, foreach: bool) -> Any:
    """Give the optimizer a recipe names."""
    if name == "sgd":
        return torch.optim.SGD(trained, lr=1e-3, foreach=foreach)
    fused = name.endswith("fused")
    return torch.optim.AdamW(trained, lr=1e-5, foreach=foreach and not fused, fused=fused or None)
