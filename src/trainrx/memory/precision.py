"""How weights, gradients and optimizer states are really kept: each framework's own regime."""

from __future__ import annotations

import msgspec

from trainrx.memory.job import TrainingJob
from trainrx.model.memory import Precision, Workload

HALF = ("bf16", "fp16")
FULL = "fp32"
GGUF_BITS = (2, 3, 4, 8)


def with_precision(job: TrainingJob, work: Workload) -> Workload:
    """Fill in `precision`, `weight_bytes` and how the base model is quantised."""
    regime, size = regime_of(job)
    work = msgspec.structs.replace(work, precision=regime, weight_bytes=size)
    return _quantised(job, work)


def regime_of(job: TrainingJob) -> tuple[Precision, float]:
    """Give the regime and the bytes of a weight as it is loaded.

    Megatron: 2-byte weights, fp32 gradients and masters (megatron/core/optimizer). DeepSpeed: the
    engine casts the module to 2 bytes and keeps fp32 masters, whatever the trainer loaded (runtime/
    engine.py: _configure_distributed_model; arXiv 1910.02054).
    """
    loaded, mixed = _loaded(job), _mixed(job)
    if job.megatron:
        return ("fp32", 4.0) if loaded == FULL and not mixed else ("megatron", 2.0)
    if job.deepspeed:
        if job.framework.always_deepspeed or mixed or loaded in HALF:
            return "deepspeed", 2.0
        return "fp32", 4.0
    size = 4.0 if loaded == FULL else 2.0
    if job.fsdp:
        return _sharded(job, size, mixed=mixed)
    return _alone(job, size, mixed=mixed)


def _sharded(job: TrainingJob, size: float, *, mixed: bool) -> tuple[Precision, float]:
    """FSDP: accelerate casts trained weights to fp32 where mixed precision is on.

    accelerate/accelerator.py (prepare_model: "Upcasted low precision parameters") and
    utils/fsdp_utils.py (fsdp2_prepare_model). A hybrid engine loads the actor in fp32 and computes
    in bf16.
    """
    if job.framework.hybrid_engine:
        pure = job.framework.keeps_two_bytes and size <= 2  # bytes
        return ("pure" if pure and not job.trains_adapters() else "upcast"), size
    if job.framework.fsdp2:
        return ("upcast" if mixed else "fp32", size) if size > 2 else ("pure", size)  # bytes
    if mixed:
        return "upcast", size
    return ("fp32", 4.0) if size > 2 else ("pure", size)  # bytes


def _alone(job: TrainingJob, size: float, *, mixed: bool) -> tuple[Precision, float]:
    """One process or plain DDP.

    Weights stay as they were loaded, with autocast where mixed precision is on, unless trained
    parameters are cast to fp32.
    """
    if job.framework.casts_trained and not job.is_on("train.pure_half"):
        if job.trains_adapters():
            return "autocast", size
        return ("upcast" if mixed else "fp32"), 2.0 if mixed else 4.0
    if job.framework.casts_fp16 and _dtype(job) == "fp16" and not job.trains_adapters():
        return "upcast", size
    if mixed:
        return "autocast", size
    return ("fp32", 4.0) if size > 2 else ("pure", size)  # bytes


def _mixed(job: TrainingJob) -> bool:
    """Tell whether compute runs in 2 bytes by mixed precision; Megatron does by default."""
    if job.text("train.mixed_precision") in HALF:
        return True
    if job.is_on("train.pure_half"):
        return False
    if job.megatron:
        return job.text("train.precision") != FULL
    found = job.framework.mixes(job.facts, sharded=bool(job.fsdp))
    if found is not None:
        return found
    return job.facts.value("deepspeed.bf16") is True or job.facts.value("deepspeed.fp16") is True


def _dtype(job: TrainingJob) -> str:
    """Give the precision a launch asks for, bf16 where it asks for none."""
    found = job.text("train.precision") or job.text("model.dtype")
    if not found:
        job.assume("weights-dtype", "train.precision", dtype="bf16")
    return found or "bf16"


def _loaded(job: TrainingJob) -> str:
    """Give the precision the weights are loaded in: bf16, fp16 or fp32."""
    if job.framework.adapters_on_bf16 and job.trains_adapters():
        return "bf16"
    told, how = job.text("model.load_dtype"), job.framework.loads_as
    if told in (*HALF, FULL):
        return told
    if how == "fp32-or-fp16":
        return FULL if job.text("train.precision") != "fp16" else "fp16"
    if how == "asked" or job.megatron:
        return _dtype(job)
    if how == "fp32" or (how == "fp32-or-stored" and told != "auto"):
        return FULL
    if how == "computed":
        return job.text("train.precision") or "bf16"
    return _stored(job, certain=how != "stored" or not job.framework.hf_trainer)


def _stored(job: TrainingJob, *, certain: bool) -> str:
    """Take what the checkpoint is stored in; a script of the user's own is taken to load that."""
    found = job.text("model.dtype")
    if not found and not certain:
        job.assume("weights-dtype", "model.dtype", dtype="bf16")
    return found if found in (*HALF, FULL) else "bf16"


def _quantised(job: TrainingJob, work: Workload) -> Workload:
    bits = job.positive("tuner.quant_bits") or job.positive("model.quant_bits")
    if bits is None or bits not in GGUF_BITS:
        return work
    told = job.text("tuner.quant_method") or job.text("model.quant_method")
    method = told or _method_of(job)
    upcast = method == "bnb" and _prepares_kbit(job)
    return msgspec.structs.replace(
        work,
        quant_bits=bits,
        quant_method="bnb" if method == "bitsandbytes" else method,
        embeddings_upcast=upcast,
    )


def _method_of(job: TrainingJob) -> str:
    """Tell how a base model is quantised by its name, or its type, which may name it."""
    name = job.text("model.name") or job.text("model.type")
    stem = name.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    for method in ("awq", "gptq", "hqq", "fp8"):
        if method in stem:
            return method
    return "gptq" if "-int4" in stem or "-int8" in stem else "bnb"


def _prepares_kbit(job: TrainingJob) -> bool:
    """Tell whether peft's preparation upcasts embeddings, norms and head to fp32."""
    if job.deepspeed or job.fsdp or not job.trains_adapters():
        return False
    return job.framework.prepares_kbit(job.facts)
