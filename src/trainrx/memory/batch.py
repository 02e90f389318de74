"""What one micro-batch keeps: batch, checkpointing, attention, loss, optimizer."""

from __future__ import annotations

import re

import msgspec

from trainrx.memory.job import ONLINE, TrainingJob
from trainrx.model.memory import Attention, Loss, Refusal, Workload

FLASH = re.compile(r"flash|fa[234]?$|true|fused|auto_fa")
NO_LOGITS = frozenset({"seq_cls", "embedding", "reranker"})
"""Heads of a handful of columns take the place of the vocabulary."""
OPTIMIZERS: tuple[tuple[str, str, bool], ...] = (
    # what HF, bitsandbytes and torchao call it; what the memory model does; a foreach step's copy
    (r"paged.*(adam|lion).*8bit", "paged_adamw_8bit", False),
    (r"paged", "paged_adamw", False),
    (r"adamw_torch_8bit", "adamw_8bit", False),
    (r"(adam|ademamix)\w*(8bit|_8_?bit|_bnb)", "adamw_bnb_8bit", False),
    (r"adam\w*4bit", "adamw_4bit", False),
    # AnyPrecisionAdamW of EasyR1 keeps what rounding loses (utils/torch_functional.py)
    (r"adamw_bf16", "adamw_kahan", False),
    (r"adafactor", "adafactor", False),
    (r"muon", "muon", True),
    (r"lion", "lion", True),
    # without momentum and weight decay torch's own SGD works in place (torch/optim/sgd.py)
    (r"sgd", "sgd", False),
    (r"rmsprop", "sgd", True),
    (r"adamw?_(torch_|apex_)?fused|apex_fused", "adamw_torch", False),
    (r"adamw?(_torch|_hf|_anyprecision)?|adam|fusedadam|torch_adamw", "adamw_torch", True),
)
UNMODELLED = re.compile(
    r"galore|apollo|lomo|grokadamw|schedule_free|stable_adamw|ademamix|mini|qgalore"
)


def with_batch(job: TrainingJob, work: Workload) -> Workload | Refusal:
    """Fill in the micro-batch and its form."""
    for kind in ("train.micro_batch", "train.grad_accum", "rlhf.num_generations"):
        value = job.facts.number(kind)
        if value is not None and value < 1:
            return job.impossible("not-positive", kind, param=kind, value=f"{value:g}", least="1")
    if job.is_on("train.dynamic_batch") and job.positive("train.max_tokens_per_gpu"):
        micro = 1
    else:
        micro = job.positive("train.micro_batch") or job.positive("deepspeed.micro_batch") or 0
    if not micro:
        micro = 1
        job.assume("micro-batch", "train.micro_batch", samples="1")
    return msgspec.structs.replace(
        work,
        micro_batch=float(micro),
        accumulation=job.positive("train.grad_accum") or 1,
        generations=job.positive("rlhf.num_generations") or 1,
        padding_free=job.is_on("train.padding_free") or job.is_on("train.packing"),
        compiled=job.is_on("train.torch_compile"),
    )


def with_recompute(job: TrainingJob, work: Workload) -> Workload:
    """Fill in whether activations are kept, computed again, or moved to the host."""
    if job.megatron:
        # "none" is a word here, not the lack of one
        kind = (job.facts.text("megatron.recompute") or "").strip().lower()
        on = job.facts.value("train.gradient_checkpointing")
        if on is True:  # the same argument under the name all frameworks share: only full is "on"
            kind = "full"
        elif not kind:
            # Megatron's own default (ms-swift: --recompute_granularity selective)
            kind = "none" if on is False else "selective"
        if kind == "none":
            return msgspec.structs.replace(work, checkpointing=False, recompute="none")
        if kind == "selective":
            return msgspec.structs.replace(work, recompute="selective")
        layers = job.positive("megatron.recompute_layers") or 1
        return msgspec.structs.replace(work, recompute="full", recompute_layers=layers)
    on = job.facts.value("train.gradient_checkpointing")
    if not isinstance(on, bool) and job.facts.value("parallel.fsdp_checkpointing") is not None:
        on = job.facts.value("parallel.fsdp_checkpointing")
    if not isinstance(on, bool):
        on = job.framework.checkpoints
        state = "on" if on else "off"
        job.assume("checkpointing", "train.gradient_checkpointing", state=state)
    on = on or job.is_on("parallel.fsdp_checkpointing")
    work = msgspec.structs.replace(work, reentrant=_reentrant(job, work.world))
    if job.is_on("train.activation_offloading"):
        return msgspec.structs.replace(work, checkpointing=True, recompute="offload")
    return msgspec.structs.replace(work, checkpointing=on, recompute="full" if on else "none")


def _reentrant(job: TrainingJob, world: int) -> bool:
    """Tell whether a checkpointed forward runs without a graph (torch.utils.checkpoint)."""
    told = job.facts.value("train.reentrant_checkpointing")
    if isinstance(told, bool):
        return told
    if world > 1 and not (job.deepspeed or job.fsdp) and job.release(job.framework.hooks_under_ddp):
        return False
    return not job.release(job.framework.checkpoints_by_hooks)


def with_kernels(job: TrainingJob, work: Workload) -> Workload | Refusal:
    """Fill in attention, loss and optimizer."""
    optimizer = _optimizer(job, adapters=work.tuner != "full")
    if isinstance(optimizer, Refusal):
        return optimizer
    name, foreach = optimizer
    return msgspec.structs.replace(
        work,
        attention=_attention(job, work),
        loss=_loss(job, work),
        holds_logits=_holds_logits(job),
        liger_layers=job.is_on("train.liger") and job.framework.hf_trainer and not job.megatron,
        logit_share=_logit_share(job, work),
        optimizer=name,
        foreach=foreach,
    )


def _attention(job: TrainingJob, work: Workload) -> Attention:
    """Give the kernel; unset it is SDPA where transformers (4.36 and later) runs the model.

    Megatron runs flash attention; so does packing. A release nobody gave, that may be one that
    runs eager unless told, is taken to be one.
    """
    told = job.text("train.attention")
    if "eager" in told or told in ("disabled", "off", "math", "unfused", "local"):
        return "eager"
    if "sdpa" in told or told in ("flex", "flex_attention", "efficient", "mem_eff"):
        return "sdpa"
    if told and (FLASH.search(told) or "xformers" in told):
        return "flash"
    if not work.padding_free and job.may_be(job.framework.eager_unpacked):
        job.assume("attention-of-release", "train.attention", attention="eager")
        return "eager"
    if job.framework.flash_attention or job.megatron or work.padding_free:
        return "flash"
    if job.release(job.framework.before_sdpa):
        return "eager"
    if not work.checkpointing:
        # computed again or not, one layer's attention is all that is ever live
        job.assume("attention", "train.attention", attention="sdpa")
    return "sdpa"


def _loss(job: TrainingJob, work: Workload) -> Loss:
    """Give how logits become a loss.

    Liger fuses head and loss in supervised training (liger_kernel/transformers/monkey_patch.py) and
    in GRPO (ms-swift 3.5, TRL 0.16: LigerFusedLinearGRPOLoss); other preference losses take the
    logits themselves, and so do loops that hand the model no labels (verl: fsdp_sft_trainer.py;
    OpenRLHF: models/actor.py).
    """
    if (job.text("task.type") in NO_LOGITS) or job.task == "rm":
        return "linear"
    if job.is_on("train.cut_cross_entropy") or job.is_on("rlhf.fused_head"):
        return "linear"
    fuses = job.is_on("train.liger") and job.framework.hf_trainer
    if fuses and job.task not in ("dpo", "kto", "orpo", "simpo", "cpo", "ppo"):
        return "linear"
    if any(job.task == task and job.release(since) for task, since in job.framework.loss_in_chunks):
        return "linear"
    if job.is_on("train.chunked_cross_entropy") or job.is_on("rlhf.chunked_entropy"):
        return "chunked"
    if job.megatron:
        return "eager" if job.facts.value("megatron.loss_fusion") is False else "fused"
    if job.framework.flash_loss:
        return "fused"
    return "float" if _keeps_logits_twice(job, work) else "eager"


def _keeps_logits_twice(job: TrainingJob, work: Workload) -> bool:
    """Tell whether accelerate copies logits that are fp32 already (convert_outputs_to_fp32).

    Models of transformers before 4.45 turned them into fp32 themselves (modeling_llama.py:
    `logits = logits.float()`).
    """
    is_old = job.release(job.framework.own_fp32_logits)
    return is_old and work.precision in ("autocast", "upcast")


def _holds_logits(job: TrainingJob) -> bool:
    """Tell whether the 2-byte logits live on while the loss works on their fp32 copy.

    transformers 4.47 to 4.57 hands them to a loss function and keeps them itself; before, the copy
    took their name (modeling_llama.py: `logits = logits.float()`). Counted with `--exact`: 14 bytes
    a logit with 4.48, 12 before 4.47 and from 5 on.
    """
    return not any(map(job.release, job.framework.drops_logits))


def _logit_share(job: TrainingJob, work: Workload) -> float:
    """Give the share of positions with logits: in GRPO it may be only the completion's."""
    completion = job.positive("rlhf.max_completion_length")
    if job.task not in ONLINE or not job.framework.completion_logits or job.megatron:
        return 1.0
    if job.task == "ppo" or completion is None or work.length.typical <= 0:
        return 1.0
    since = job.framework.completion_logits_of_images
    if work.images is not None and since and not job.release(since):
        return 1.0
    return min(1.0, completion / work.length.typical)


def _optimizer(job: TrainingJob, *, adapters: bool) -> tuple[str, bool] | Refusal:
    """Give the optimizer's name, and whether its step makes a copy of the gradients.

    `adamw_torch` runs torch's foreach kernel, the fused one has no temporaries (torch/optim/
    adamw.py). ms-swift builds some itself (swift/plugin/optimizer.py: optimizers_map); those that
    only group parameters for their learning rates are AdamW.
    """
    kind, told = "train.optimizer", job.text("train.optimizer")
    plugin = job.text("train.optimizer_plugin")
    if plugin and plugin not in ("default", "adam", "lorap", "multimodal"):
        kind, told = "train.optimizer_plugin", plugin
    if not told:
        if job.framework.hf_trainer and not job.megatron and not adapters:
            job.assume("optimizer", "train.optimizer", optimizer="adamw_torch")
        return "adamw_torch", True
    if not UNMODELLED.search(told):
        for pattern, name, foreach in OPTIMIZERS:
            if re.search(pattern, told):
                return name, foreach
    return job.unmodelled_value(kind, told[:80])
