"""What the counted run takes and gives."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from trainrx.model.memory import Attention, Loss, Phase

Part = Literal[
    "parameters", "gradients", "optimizer", "activations", "logits", "working", "gathered"
]
"""What a live storage is: parameters (with buffers), gradients, optimizer states, activations born
in the forward pass and still alive, logits with what the loss makes of them, working memory
(recomputed layers, gradients of activations, what the optimizer's step takes for a while), and
parameters gathered for the layer at work where they are sharded."""

PARTS: tuple[Part, ...] = (
    "parameters",
    "gradients",
    "optimizer",
    "activations",
    "logits",
    "working",
    "gathered",
)


class Shares(msgspec.Struct, frozen=True, kw_only=True):
    """What one GPU holds of the model's states, 1.0 being all: ZeRO's and FSDP's division.

    `gradients` is above 1 where they are kept wider than the trial's own (fp32 beside bf16).
    `states_bytes`: bytes of optimizer states (with fp32 masters) for each trained parameter where
    they follow a closed form; None where torch's own optimizer is run. `gathered_units`: decoder
    layers whose parameters are whole on the GPU at a time.
    """

    parameters: float = 1.0
    gradients: float = 1.0
    states: float = 1.0
    states_bytes: float | None = None
    gathered_units: float = 0.0


class Recipe(msgspec.Struct, frozen=True, kw_only=True):
    """One training step, as the trial runs it; plain values, so that it can be sent as JSON.

    `config` is a transformers configuration with its `model_type`; `targets` are the roles of the
    adapted matrices (empty: all linear layers). dtypes are torch's names.
    `autocast_cache`: casts of weights stay for the whole forward pass, as they do unless FSDP casts
    them itself. `logit_share`: the share of positions that get logits. `gradients_resident`: a
    micro-batch after the first one, which finds the gradients of those before. `upcast`: which
    of the weights that are not quantised are kept in fp32 (norms: those of one dimension).
    """

    model_type: str
    config: dict[str, Any]
    weight_dtype: str = "bfloat16"
    adapter_dtype: str = "float32"
    autocast: bool = False
    autocast_cache: bool = True
    rank: int | None = None
    dropout: float = 0.0
    targets: tuple[str, ...] = ()
    modules_trained: bool = False
    quant_bits: int | None = None
    double_quant: bool = True
    upcast: Literal["none", "norms", "all"] = "none"
    freeze_llm: bool = False
    micro_batch: int = 1
    length: int = 2048
    gradients_resident: bool = False
    checkpointing: bool = True
    attention: Attention = "flash"
    loss: Loss = "eager"
    logit_share: float = 1.0
    optimizer: str = "adamw_torch"
    foreach: bool = True
    shares: Shares = Shares()
    assumptions: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


class PartUse(msgspec.Struct, frozen=True, kw_only=True):
    """Live storage of one kind, GiB per GPU."""

    name: Part
    gib: float


class PhasePeak(msgspec.Struct, frozen=True, kw_only=True):
    """The most that was live at once during one phase, GiB per GPU, and what it was."""

    phase: Phase
    gib: float
    parts: tuple[PartUse, ...]


class ExactResult(msgspec.Struct, frozen=True, kw_only=True):
    """Peak of live storage of the real model class, counted without a GPU.

    `allocated` compares with `torch.cuda.max_memory_allocated` (GiB per GPU); what the allocator
    reserves and what a card shows beside it are not in it. `parameters_b` and `trained_b` in 1e9.
    `seconds` and `process_gib` (peak resident memory) are what the trial itself took. `kernel` says
    how attention was stood in for, `left_out` what a trial cannot see.
    """

    allocated: float
    peak: Phase
    phases: tuple[PhasePeak, ...]
    parameters_b: float
    trained_b: float
    model_class: str
    torch: str
    transformers: str
    peft: str | None = None
    seconds: float = 0.0
    process_gib: float = 0.0
    kernel: str = ""
    assumptions: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """Why a trial gave no figure: `missing` package, `unknown-class`, `unsupported`, `failed`."""

    kind: Literal["missing", "unknown-class", "unsupported", "failed"]
    reason: str


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What a trial prints: one of the two."""

    result: ExactResult | None = None
    failure: Failure | None = None
