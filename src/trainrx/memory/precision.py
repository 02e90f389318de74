"""How weights, gradients and optimizer states are really kept: each framework's own regime."""

from __future__ import annotations

import msgspec

from trainrx.memory.job import FSDP2, HYBRID, TRAINERS, TrainingJob
from trainrx.model.memory import Precision, Workload

HALF = ("bf16", "fp16")
FULL = "fp32"
GGUF_BITS = (2, 3, 4, 8)
FLOAT8 = 8


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
        if job.framework == "openrlhf" or mixed or loaded in HALF:
            return "deepspeed", 2.0
        return "fp32", 4.0
    size = 4.0 if loaded == FULL else 2.0
    if job.fsdp:
        return _sharded(job, size, mixed=mixed)
    return _alone(job, size, mixed=mixed)


def _sharded(job: TrainingJob, size: float, *, mixed: bool) -> tuple[Precision, float]:
    """FSDP: accelerate casts trained weights to fp32 where mixed precision is on.

    accelerate/accelerator.py (prepare_model: "Upcasted low precision parameters") and
    utils/fsdp_utils.py (fsdp2_prepare_model). verl and EasyR1 load the actor in fp32 and compute in
    bf16 (verl/workers/fsdp_workers.py: torch_dtype of the actor; config model_dtype: fp32); so does
    NeMo RL (models/automodel/setup.py). NeMo Automodel keeps what it loads and gathers it in bf16
    (components/distributed/config.py: mp_policy).
    """
    if job.framework in HYBRID:
        # what EasyR1 is told to load in 2 bytes stays so, states and all
        pure = job.framework == "easyr1" and size <= 2  # bytes
        return ("pure" if pure and not job.trains_adapters() else "upcast"), size
    if job.framework in FSDP2:
        return ("upcast" if mixed else "fp32", size) if size > 2 else ("pure", size)  # bytes
    if mixed:
        return "upcast", size
    return ("fp32", 4.0) if size > 2 else ("pure", size)  # bytes


def _alone(job: TrainingJob, size: float, *, mixed: bool) -> tuple[Precision, float]:
    """One process or plain DDP.

    LLaMA-Factory casts trained parameters to fp32 unless pure_bf16 is set (model/adapter.py:
    init_adapter, cast_trainable_params_to_fp32); ms-swift does so for fp16 alone (2.x:
    llm/utils/argument.py: select_dtype; 3.x and later: llm/train/tuner.py). Otherwise weights stay
    as they were loaded, with autocast where mixed precision is on.
    """
    if job.framework == "llamafactory" and not job.is_on("train.pure_half"):
        if job.trains_adapters():
            return "autocast", size
        return ("upcast" if mixed else "fp32"), 2.0 if mixed else 4.0
    if job.framework == "ms-swift" and _dtype(job) == "fp16" and not job.trains_adapters():
        return "upcast", size
    if mixed:
        return "autocast", size
    return ("fp32", 4.0) if size > 2 else ("pure", size)  # bytes


def _mixed(job: TrainingJob) -> bool:
    """Tell whether compute runs in 2 bytes by mixed precision.

    ms-swift sets bf16 or fp16 by the precision it loads the weights in (base_args/model_args.py:
    _init_torch_dtype), TRL from 0.19 on turns bf16 on unless fp16 is set (sft_config.py:
    __post_init__), verl, EasyR1, OpenRLHF and Megatron work in bf16 by their own defaults.
    """
    if job.text("train.mixed_precision") in HALF:
        return True
    if job.is_on("train.pure_half"):
        return False
    given = job.facts.get("train.precision")
    if job.framework in HYBRID | {"openrlhf"} or job.megatron:
        return job.text("train.precision") != FULL
    if job.framework in FSDP2:
        return bool(job.fsdp) and job.text("train.precision") != FULL
    if job.framework == "ms-swift":
        return _dtype(job) != FULL
    if job.framework == "trl" and job.release(">=0.19"):
        # an explicit `--bf16 false` is the only way to do without
        return not (given is not None and given.how == "read" and given.value == FULL)
    if job.framework == "axolotl" and "train.precision" not in job.facts:
        # bf16: auto, which is on where the card has it (axolotl/utils/config/__init__.py)
        return True
    return job.facts.value("deepspeed.bf16") is True or job.facts.value("deepspeed.fp16") is True


def _dtype(job: TrainingJob) -> str:
    """Give the precision a launch asks for, bf16 where it asks for none (ms-swift)."""
    found = job.text("train.precision") or job.text("model.dtype")
    if not found:
        job.assume("weights-dtype", "train.precision", dtype="bf16")
    return found or "bf16"


def _loaded(job: TrainingJob) -> str:
    """Give the precision the weights are loaded in: bf16, fp16 or fp32.

    ms-swift, LLaMA-Factory and Axolotl load what they compute in; verl's actor is fp32. TRL loads
    fp32 unless told since 0.26 (trainer/utils.py: create_model_from_path; model_config.py: dtype),
    before that as `from_pretrained` does: fp32 unless told up to transformers 4.
    """
    if job.framework == "easyr1" and job.trains_adapters():
        # what lies below the adapters is cast (workers/fsdp_workers.py)
        return "bf16"
    told = job.text("model.load_dtype")
    if told in (*HALF, FULL):
        return told
    if job.framework == "nemo-rl" and not job.megatron:
        return FULL
    if job.framework in HYBRID:
        return FULL if job.text("train.precision") != "fp16" else "fp16"
    if job.framework == "trl":
        return _stored(job) if told == "auto" else FULL
    if job.framework in ("ms-swift", "openrlhf") or job.megatron:
        return _dtype(job)
    if job.framework in ("llamafactory", "axolotl"):
        return job.text("train.precision") or "bf16"
    return _stored(job)


def _stored(job: TrainingJob) -> str:
    """Take a script of the user's own to load what the checkpoint is stored in."""
    found = job.text("model.dtype")
    if not found and job.framework in TRAINERS and job.framework != "trl":
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
    """Tell how a base model is quantised by its name, or its type, which names it in ms-swift 2."""
    name = job.text("model.name") or job.text("model.type")
    stem = name.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    for method in ("awq", "gptq", "hqq", "fp8"):
        if method in stem:
            return method
    return "gptq" if "-int4" in stem or "-int8" in stem else "bnb"


def _prepares_kbit(job: TrainingJob) -> bool:
    """Tell whether peft's preparation upcasts embeddings, norms and head to fp32.

    TRL calls it unless the model is sharded (trainer/utils.py: prepare_peft_model), but for bf16
    casts head and embeddings back (peft_module_casting_to_bf16); Axolotl casts back for adapters
    (loaders/model.py: _configure_embedding_dtypes); ms-swift and LLaMA-Factory do not call it. A
    script of the user's own is taken to follow peft's guide, which does.
    """
    if job.deepspeed or job.fsdp or not job.trains_adapters():
        return False
    if job.framework == "trl":
        return job.text("train.mixed_precision") != "bf16" and not job.release(">=0.19")
    return job.framework == "transformers"
