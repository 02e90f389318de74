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
    """The published shape of a model; counts in units, `params_b` in 1e9 parameters.

    `moe_inter` is the width of one expert, `experts_per_token` how many of them a token passes
    through. `vision_b` is the part of `params_b` that is the vision tower with its projector.
    `dtype` is what the weights are stored in (bf16, fp16, fp32), `quant_bits` and `quant_method`
    how they are quantised, `model_type` the architecture's name in transformers.
    """

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
    experts_per_token: int | None = None
    moe_inter: int | None = None
    vision: bool = False
    vision_b: float | None = None
    audio: bool = False
    window_attention: bool = False
    dtype: str = ""
    quant_bits: int | None = None
    quant_method: str = ""
    model_type: str = ""
    sources: tuple[str, ...] = ()
