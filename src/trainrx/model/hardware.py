"""Cards and model shapes: tables of published figures."""

from __future__ import annotations

import msgspec


class Gpu(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A card: what nvidia-smi calls it, what torch reports as its total, what it can do."""

    id: str
    name_regex: str
    memory_gb: float
    compute_capability: str = ""
    bf16: bool | None = None
    fp8_tensor: bool | None = None
    torch_total_gib: tuple[float, ...] = ()
    vendor: str = "nvidia"
    sources: tuple[str, ...] = ()


class ModelShape(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The published shape of a model; counts in units, `params_b` in 1e9 parameters."""

    id: str
    params_b: float | None = None
    layers: int | None = None
    hidden: int | None = None
    heads: int | None = None
    kv_heads: int | None = None
    head_dim: int | None = None
    inter: int | None = None
    vocab: int | None = None
    tie: bool | None = None
    experts: int | None = None
    active_b: float | None = None
    vision: bool = False
    window_attention: bool = False
    sources: tuple[str, ...] = ()
