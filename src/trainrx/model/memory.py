"""What the memory model takes and gives: a workload, and the GiB it needs, term by term."""

from __future__ import annotations

from typing import Literal

import msgspec

from trainrx.model.facts import Origin
from trainrx.model.hardware import ModelShape

Tuner = Literal["full", "lora", "adapter", "freeze"]
"""full: all parameters of the parts that are not frozen; lora: low-rank adapters on a frozen model
(QLoRA where the base is quantised); adapter: another small trained set (`trained_b` tells its
size); freeze: only a given share of the model is trained (`trained_b`)."""

Precision = Literal["pure", "autocast", "upcast", "deepspeed", "megatron", "fp32"]
"""How parameters, gradients and optimizer states are really kept:

pure: everything in the weights' own 2-byte dtype; autocast: weights as loaded (fp32 masters where
the checkpoint was loaded in fp32), 2-byte compute; upcast: trained weights are kept in fp32, while
compute is 2-byte (accelerate's FSDP with mixed precision, FSDP2 trainers); deepspeed: 2-byte
weights and gradients, fp32 master and moments, sharded by stage; megatron: 2-byte weights, fp32
gradients, masters and moments; fp32: all of it and the compute too."""

Attention = Literal["flash", "sdpa", "eager"]
Loss = Literal["eager", "float", "fused", "chunked", "linear"]
"""How logits become a loss. eager: transformers' loss with its fp32 copy; float: the same under
accelerate's autocast, which also turns the model's outputs into fp32 (`convert_outputs_to_fp32`);
fused: a kernel over 2-byte logits (Megatron's and Unsloth-like cross entropy); chunked: computed
over pieces of the sequence; linear: fused with the head, no logits at all (Liger)."""

OpenTerm = Literal[
    "sharding", "offload", "length", "tuner", "checkpointing", "precision", "kernels", "batch"
]
"""What of a job may be set by something nobody understands: the interval holds all it may be."""

Verdict = Literal["fits", "tight", "cannot-say", "does-not-fit"]
"""fits: the whole interval lies within the card; does-not-fit: all of it lies beyond, cached blocks
given back; else tight where all of the launch is understood, cannot-say where some is not."""

Phase = Literal[
    "load", "forward", "loss", "backward", "step", "rollout", "weight-sync", "eval", "save"
]


class Rollout(msgspec.Struct, frozen=True, kw_only=True):
    """The engine that generates samples.

    `share` of the card, `sleep` level, lengths in tokens; `move_batches`: in how many parts weights
    are handed over; `offload_model` and `offload_optimizer`: what of the trainer leaves the card
    while the engine generates.
    """

    mode: Literal["colocate", "server", "none"] = "none"
    share: float | None = None
    tensor_parallel: int = 1
    max_model_len: int | None = None
    sequences: int | None = None
    sleep: int = 0
    eager: bool = False
    move_batches: int | None = None
    offload_model: bool = False
    offload_optimizer: bool = False
    kv_bytes: float = 2.0


class Images(msgspec.Struct, frozen=True, kw_only=True):
    """What goes through the vision tower: patches and tokens come of the pixels.

    `per_sample` images or videos of `pixels` each (a video's frames all the same size), at most
    `pixels_max`. `hooked`: a frozen tower takes part in backward all the same, because its own
    embedding is told to require gradients.
    """

    per_sample: float = 1.0
    pixels: float | None = None
    pixels_max: float | None = None
    frames: float = 1.0
    trained: bool = False
    projector_trained: bool = False
    checkpointing: bool = True
    hooked: bool = False


class Length(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of one sample as the model sees it: what is typical and the longest of a batch.

    A pair of preferences is one sample: chosen and rejected go through the model together, and
    both count. Tokens of images count too.
    `how`: exact (every sample has it: packing, or the user says so), cap (only the limit is known),
    data (from token statistics of the data, at most the limit).
    """

    low: float
    typical: float
    high: float
    how: Literal["exact", "cap", "data"] = "cap"
    source: str = ""


class Workload(msgspec.Struct, frozen=True, kw_only=True):
    """One training job as far as memory goes. Counts are of GPUs unless said otherwise.

    `world` = data x tensor x pipeline x context; a device map spreads one process' layers over
    `device_map` cards. `zero_stage` also stands for FSDP (full shard: 3, shard of gradients and
    states: 2); `fsdp` is its version, 0 when DeepSpeed or nothing shards. `rank` of LoRA, `targets`
    the adapted matrices by their role (see `LORA_ROLES`), `modules_b` further parameters trained
    whole beside adapters (embeddings, heads; 1e9); `lora_dropout` is None where nothing says it.
    `step_in_backward`: each parameter is updated
    as its gradient arrives; `reshard`: gathered weights are let go after each layer;
    `defers_sync`: gradients stay whole until the last micro-batch of a step (FSDP's `no_sync`);
    `packs_on_card`: weights come to the card in 2-byte numbers before they are quantised.
    `copies` of the frozen model beside the trained one (reference, reward)
    with the shape each has; `trained_copies` are trained like it (critic), or whole although it
    gets adapters (`copies_whole`); `critic_away` says what of it leaves the card between its turns,
    None where it goes with the trainer. `copies_on_host`: frozen copies lie in RAM and come layer
    by layer. `shards`: over how many cards ZeRO-3 or FSDP splits one copy of
    weights and states, where not over all of `data` (0).
    `reentrant`: a checkpointed forward runs without a graph, else hooks drop what it would keep.
    `logit_share`: the share of positions that get logits; `holds_logits`: the model's forward keeps
    the 2-byte logits while the loss works on a copy. `step_copies`: copies of the gradients' size a
    foreach step makes. `liger_layers`: norms and gated MLPs are Liger's too.
    `open_terms` are not known: what stands here of them is the likeliest.
    """

    shape: ModelShape
    framework: str = ""
    framework_version: str = ""
    task: str = "sft"
    # what is trained, and how it is kept
    tuner: Tuner = "full"
    rank: int = 8
    targets: tuple[str, ...] = ()
    modules_b: float = 0.0
    lora_dropout: float | None = None
    trained_b: float | None = None
    freeze_llm: bool = False
    embeddings_upcast: bool = False
    weight_bytes: float = 2.0
    quant_bits: int | None = None
    quant_method: str = ""
    precision: Precision = "autocast"
    optimizer: str = "adamw_torch"
    foreach: bool = True
    step_copies: int = 1
    step_in_backward: bool = False
    reshard: bool = True
    defers_sync: bool = False
    packs_on_card: bool = False
    # one micro-batch
    micro_batch: float = 1.0
    accumulation: int = 1
    length: Length
    padding_free: bool = False
    checkpointing: bool = True
    recompute: Literal["full", "selective", "offload", "none"] = "full"
    recompute_layers: int = 1
    reentrant: bool = True
    attention: Attention = "flash"
    loss: Loss = "eager"
    holds_logits: bool = True
    liger_layers: bool = False
    compiled: bool = False
    logit_share: float = 1.0
    # where it lies
    world: int = 1
    data: int = 1
    tensor: int = 1
    pipeline: int = 1
    context: int = 1
    sequence: bool = False
    expert: int = 1
    device_map: int = 1
    zero_stage: int = 0
    fsdp: int = 0
    offload_optimizer: bool = False
    offload_params: bool = False
    shards: int = 0
    ranks_per_node: int = 1
    # beside the model
    images: Images | None = None
    generations: int = 1
    rollout: Rollout = Rollout()
    copies: tuple[ModelShape, ...] = ()
    trained_copies: tuple[ModelShape, ...] = ()
    copies_whole: bool = False
    copies_on_host: bool = False
    critic_away: tuple[Literal["model", "optimizer"], ...] | None = None
    card_gib: float | None = None
    open_terms: tuple[OpenTerm, ...] = ()


LORA_ROLES = ("q", "k", "v", "o", "gate", "up", "down", "qkv", "head", "embed", "vision")
"""Roles of matrices an adapter can sit on; the spelling differs by model (`c_attn` is `qkv`)."""


class Term(msgspec.Struct, frozen=True, kw_only=True):
    """One part of the memory, GiB per GPU; `source` is where its formula or constant comes from."""

    name: str
    gib: float
    source: str = ""


CACHED, CONTEXT = "cached", "context"
"""Names of what a card shows beyond tensors; no term of a phase is called so."""


class PhaseUse(msgspec.Struct, frozen=True, kw_only=True):
    """What is allocated at the height of one phase."""

    phase: Phase
    gib: float
    terms: tuple[Term, ...]


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """A figure with its interval, GiB per GPU."""

    gib: float
    low: float
    high: float


class HostUse(msgspec.Struct, frozen=True, kw_only=True):
    """Memory of one machine, GiB: what lies there for good, and the peak of loading and saving."""

    resident: float
    peak: float
    terms: tuple[Term, ...]


class Assumption(msgspec.Struct, frozen=True, kw_only=True):
    """Something the launch does not say that was taken for granted. `param`: what would say it.

    `text` is English; `id` names the same words in `trainrx.model.assumptions`, and `values` are
    what fills them. `decides`: it is not known, and the interval holds all it may be; `may_raise`:
    some of that takes more than what is taken for granted.
    """

    id: str
    text: str
    param: str = ""
    values: tuple[tuple[str, str], ...] = ()
    decides: bool = False
    may_raise: bool = False


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """No prediction, and why.

    `kind`: unknown (an input is missing: `asks`), unmodelled (no formula is measured for it),
    impossible (the layout cannot run). `values` fill the words `id` names in
    `trainrx.model.assumptions`.
    """

    kind: Literal["unknown", "unmodelled", "impossible"]
    id: str
    reason: str
    asks: tuple[str, ...] = ()
    evidence: tuple[Origin, ...] = ()
    values: tuple[tuple[str, str], ...] = ()

    @property
    def not_enough(self) -> bool:
        """Tell whether it says that all that may be changed is not enough."""
        return self.id.startswith("no-plan")


class Prediction(msgspec.Struct, frozen=True, kw_only=True):
    """Peak memory per GPU of a workload.

    allocated: tensors (`torch.cuda.max_memory_allocated`); reserved: what the allocator holds
    (`max_memory_reserved`); card: what nvidia-smi shows, with contexts and libraries. `need_gib` is
    what the job gets by with: before it gives up, the allocator returns the blocks it only keeps
    in reserve, `least_gib` the low end of it. `verdict` is None when no card is given.
    """

    allocated: Figure
    reserved: Figure
    card: Figure
    need_gib: float = 0.0
    least_gib: float = 0.0
    peak: Phase
    phases: tuple[PhaseUse, ...]
    host: HostUse
    verdict: Verdict | None = None
    limit_gib: float | None = None
    assumptions: tuple[Assumption, ...] = ()

    @property
    def likely_exceeds(self) -> bool:
        """Tell whether all of the job is understood, and more likely than not it is too large."""
        understood = self.verdict in ("tight", "does-not-fit")
        return understood and self.rather_exceeds

    @property
    def rather_exceeds(self) -> bool:
        """Tell whether the job is too large if what is not understood is as it is assumed."""
        return self.limit_gib is not None and self.need_gib > self.limit_gib

    @property
    def deciding(self) -> tuple[Assumption, ...]:
        """Give what is not known and decides whether the job fits; () where that can be said."""
        if self.verdict != "cannot-say":
            return ()
        return tuple(item for item in self.assumptions if item.decides)

    @property
    def hoped_for(self) -> tuple[Assumption, ...]:
        """Give what is taken for granted that may take more, where the job may exceed its card."""
        return tuple(item for item in self.deciding if item.may_raise)

    @property
    def beyond(self) -> tuple[Term, ...]:
        """Give what the card shows beyond tensors: what the allocator keeps, and the rest."""
        kept, rest = self.reserved.gib - self.allocated.gib, self.card.gib - self.reserved.gib
        return (Term(name=CACHED, gib=max(0.0, kept)), Term(name=CONTEXT, gib=max(0.0, rest)))

    @property
    def on_card(self) -> tuple[Term, ...]:
        """Give all that the card shows at the peak."""
        peak = next((one.terms for one in self.phases if one.phase == self.peak), ())
        return (*peak, *self.beyond)
