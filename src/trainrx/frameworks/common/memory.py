"""What a framework decides of a job's memory, with what holds where it says nothing."""

from __future__ import annotations

from typing import ClassVar, Literal

from trainrx.model.facts import Facts
from trainrx.versions.ranges import in_range

FULL = "fp32"
Loads = Literal["stored", "asked", "computed", "fp32", "fp32-or-stored", "fp32-or-fp16"]


def runs(facts: Facts, wanted: str) -> bool:
    """Tell whether the framework's version is certain to be one of these; of none it is not."""
    version = facts.text("launch.framework_version")
    return bool(wanted and version) and in_range(version or "", wanted) is True


class MemoryTraits:
    """The part of the protocol the memory model asks; ranges are of the framework's releases."""

    __slots__ = ()

    memory_measured: ClassVar[bool] = True
    """Formulas are measured for it."""
    hf_trainer: ClassVar[bool] = False
    """Trains with the Trainer of transformers."""
    fsdp2: ClassVar[bool] = False
    """Shards with FSDP2 unless told otherwise."""
    hybrid_engine: ClassVar[bool] = False
    """Actor, reference and engine take turns on the same cards, and FSDP loads in fp32."""

    # What is trained ------------------------------------------------------------------------------
    lora_by_rank: ClassVar[bool] = False
    """Trains LoRA when its rank is above 0, and everything otherwise."""
    default_tuner: ClassVar[Literal["full", "lora"]] = "full"
    default_rank: ClassVar[int] = 8
    peft_targets: ClassVar[bool] = False
    """Leaves to peft which matrices get adapters."""
    own_adapters: ClassVar[bool] = False
    """Adapters are in the dtype of the model; peft makes them fp32."""
    qkv_targets: ClassVar[str] = ""
    """Releases that adapt queries, keys and values alone unless told."""
    full_in_megatron: ClassVar[str] = ""
    """Releases whose Megatron commands have no adapters."""
    freezes_tower: ClassVar[bool] = True
    """Full tuning leaves the vision tower frozen unless told."""
    trains_by_name: ClassVar[bool] = False
    """Parameters named as trainable are so beside a share that is frozen."""

    # How weights are kept -------------------------------------------------------------------------
    always_deepspeed: ClassVar[bool] = False
    loads_as: ClassVar[Loads] = "stored"
    """Precision the weights are loaded in: as the checkpoint is stored, as is asked for, what is
    computed in, or fp32 (unless that of the checkpoint, or fp16, is asked for)."""
    adapters_on_bf16: ClassVar[bool] = False
    """What lies below adapters is cast to bf16."""
    keeps_two_bytes: ClassVar[bool] = False
    """Under FSDP, weights that are loaded in 2 bytes stay so, states and all."""
    casts_trained: ClassVar[bool] = False
    """Casts trained parameters to fp32 unless told not to."""
    casts_fp16: ClassVar[bool] = False
    """Casts trained parameters to fp32 where it trains in fp16."""

    # How the model is laid out --------------------------------------------------------------------
    splits_matrices: ClassVar[bool] = False
    """Has tensor parallelism without Megatron."""
    counts_by_role: ClassVar[bool] = False
    """Processes are counted by role, so that there may be more than cards."""
    one_process: ClassVar[bool] = False
    """Starts one process unless told otherwise."""
    spreads_layers: ClassVar[bool] = False
    """Spreads the layers of a process over all cards it sees where nothing shards them."""
    defers_sync: ClassVar[str] = ""
    """Releases whose gradients stay whole until the last micro-batch."""

    # What a micro-batch keeps ---------------------------------------------------------------------
    checkpoints: ClassVar[bool] = True
    """Gradient checkpointing is on unless told."""
    checkpoints_by_hooks: ClassVar[str] = ""
    """Releases whose checkpointing is not the reentrant one unless told."""
    hooks_under_ddp: ClassVar[str] = ""
    """Releases of which that is so in several processes without DeepSpeed and FSDP."""
    flash_attention: ClassVar[bool] = False
    """Runs flash attention unless told otherwise."""
    before_sdpa: ClassVar[str] = ""
    """Releases of 2023, before SDPA became the default of transformers (4.36)."""
    eager_unpacked: ClassVar[str] = ""
    """Releases that run eager attention unless told, but for packed rows."""
    flash_loss: ClassVar[bool] = False
    """Takes log-probabilities with flash attention's cross entropy."""
    own_fp32_logits: ClassVar[str] = ""
    """Releases whose models make their logits fp32 themselves, which accelerate then copies."""
    drops_logits: ClassVar[tuple[str, ...]] = ()
    """Releases without the 2-byte logits once their fp32 copy is there."""
    loss_in_chunks: ClassVar[tuple[tuple[str, str], ...]] = ()
    """Tasks, and the releases whose loss of them never has all logits at once."""
    hooks_towers: ClassVar[str] = ""
    """Releases that make inputs of frozen towers require gradients, beside the embedding's."""
    completion_logits: ClassVar[bool] = False
    """In GRPO only completions get logits."""
    completion_logits_of_images: ClassVar[str] = ""
    """Releases in which that is so of models that take images too; "": of all."""
    max_image_pixels: ClassVar[float | None] = None
    """Limit of an image's pixels where none is set."""

    # Lengths --------------------------------------------------------------------------------------
    cuts_samples: ClassVar[bool] = False
    """Cuts or drops longer text samples while it tokenises."""
    never_cuts: ClassVar[bool] = False
    """Cuts no sample unless told."""
    dynamic_by_longest: ClassVar[bool] = False
    """Dynamic micro-batches are filled up to the micro-batch x the longest sample."""
    tokens_per_gpu: ClassVar[bool] = False
    """Their limit is of one GPU, so the ranks that share a sequence take as many times more."""
    length_halves: ClassVar[str] = ""
    """Releases in which prompt and answer each have a limit."""
    limits_total: ClassVar[bool] = False
    """In online training the limit is of prompt and completion together."""
    completion_default: ClassVar[bool] = False
    """The completion has a limit by default, at every release."""

    # The engine and further models ----------------------------------------------------------------
    engine_share: ClassVar[float] = 0.9
    """What the engine gets of a card unless told: vLLM's own default, and that of ms-swift."""
    always_samples: ClassVar[bool] = False
    """Online training has an engine unless its role is none."""
    gathers_whole: ClassVar[bool] = False
    """Gathers the weights whole for an engine on a server."""
    full_critic: ClassVar[bool] = False
    """The value model is trained whole beside an actor with adapters."""

    def unmodelled_setting(self, facts: Facts, *, megatron: bool) -> str:
        """Name a setting of its own no formula is measured for; "" where there is none."""
        return ""

    def fsdp_version(self, facts: Facts, strategy: str) -> int:
        """Give the version of FSDP in use; 0 where none shards.

        Unset, `--fsdp` means version 1 (accelerate: FSDP_VERSION).
        """
        setting = (facts.text("parallel.fsdp") or "").strip().lower()
        sharding = facts.text("parallel.fsdp_sharding") or ""
        if setting in ("", "none", "false", "no_shard") or sharding == "no_shard":
            return 0
        version = facts.number("parallel.fsdp_version")
        return 2 if version == 2 or setting.startswith("fsdp2") else 1

    def mixes(self, facts: Facts, *, sharded: bool) -> bool | None:
        """Tell whether mixed precision is on by default; None: where a launch asks for it."""
        return None

    def prepares_kbit(self, facts: Facts) -> bool:
        """Tell whether peft's preparation upcasts embeddings, norms and head to fp32."""
        return False

    def engine_sleeps(self, facts: Facts) -> bool:
        """Tell whether the engine frees its memory while the trainer works, unasked."""
        return False

    def critic_leaves(self, facts: Facts) -> tuple[Literal["model", "optimizer"], ...] | None:
        """Give what of the value model leaves the card between its turns; None: as the trainer."""
        return None

    def copies_on_host(self, facts: Facts) -> bool:
        """Tell whether frozen models lie in host memory and come to the card layer by layer."""
        return False

    def leaves_card(self, facts: Facts, part: Literal["model", "optimizer"]) -> bool:
        """Tell whether a part of the trainer leaves the card while samples are generated."""
        return facts.value(f"vllm.offload_{part}") is True
