"""What of a workload one process can run: a recipe for the trial, or why there is none."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from trainrx.exact.config import ModelConfig, given_config, shape_config
from trainrx.exact.record import Recipe, Shares
from trainrx.frameworks import framework_of
from trainrx.model.memory import Refusal, Workload

TASKS = ("", "sft", "pt", "pretrain")

TORCH_OPTIMIZERS = ("adamw_torch", "adamw_torch_fused", "adamw_hf", "adamw", "adam", "sgd")

KEPT_STATES: dict[str, float] = {"8bit": 2 + 2 * 4 / 256, "paged": 0.0}
"""Bytes of AdamW's states per trained parameter in bitsandbytes: a byte each with an fp32 scale for
256 of them; paged states lie in unified memory that torch's allocator does not count
(bitsandbytes, optim/optimizer.py)."""

OWN_LORA = ("litgpt", "torchtune", "megatron", "mcore", "nemo")
"""Frameworks whose adapters are in the model's own dtype; peft makes them fp32
(`autocast_adapter_dtype`)."""

DROPOUT = 0.05
"""Of adapters where nothing says it: the default of ms-swift, fms-hf-tuning and litgpt. Any value
above zero takes the same memory."""

EXPERT_COUNTS = ("num_experts", "n_routed_experts", "num_local_experts")

MASTERED = 12.0
"""fp32 master weight and two fp32 moments a parameter (ZeRO, arXiv 1910.02054, section 3.1)."""

LEFT_OUT = (
    "kernels in Triton or CUDA: none runs here, what they keep is stood in for or missing",
    "workspaces of cuBLAS and cuDNN, and the CUDA context",
    "the allocator's rounding beyond 512 bytes and its fragments",
)


def plan(workload: Workload, config: Mapping[str, Any] | None) -> Recipe | Refusal:
    """Turn a workload into the one step that has its memory.

    Args:
        workload: the job; `length.high` tokens are run.
        config: the model's config.json, where it is at hand; else one is made of the shape.

    Returns:
        A recipe, or a refusal when the job is not one process' supervised training.
    """
    refusal = next(_outside(workload), None)
    if refusal is not None:
        return refusal
    length = max(2, math.ceil(workload.length.high))
    batch = max(1, math.ceil(workload.micro_batch))
    if workload.padding_free:
        length, batch = length * batch, 1
    found = (
        given_config(config, length) if config is not None else shape_config(workload.shape, length)
    )
    if isinstance(found, Refusal):
        return found
    return _recipe(workload, found, length, batch)


def _outside(load: Workload) -> Iterator[Refusal]:
    """What a single process of supervised training does not have."""
    if load.micro_batch <= 0 or load.length.high <= 0:
        yield Refusal(
            kind="impossible",
            id="exact-no-tokens",
            reason=f"a micro-batch of {load.micro_batch:g} x {load.length.high:g} tokens is none",
        )
    layout = ("tensor", "pipeline", "context", "expert", "device_map")
    found = {
        f"task {load.task}": load.task not in TASKS,
        f"tuner {load.tuner}": load.tuner in ("adapter", "freeze"),
        "an engine on the same card": load.rollout.mode == "colocate",
        "images": load.images is not None,
        "further models beside the trained one": bool(load.copies or load.trained_copies),
        "optimizer steps within the backward pass": load.step_in_backward,
        f"recomputation {load.recompute}": load.checkpointing
        and load.recompute in ("selective", "offload"),
        f"optimizer {load.optimizer}": _states(load) is None
        and load.optimizer not in TORCH_OPTIMIZERS,
        **{f"{name} parallelism": getattr(load, name) > 1 for name in layout},
    }
    for what, there in found.items():
        if there:
            yield Refusal(
                kind="unmodelled",
                id="exact-not-run",
                reason=f"one step of one process is run, which {what} is not part of",
            )


def _owns_lora(framework: str) -> bool:
    return framework in OWN_LORA or framework_of(framework).own_adapters


def _recipe(load: Workload, model: ModelConfig, length: int, batch: int) -> Recipe:
    full = load.tuner == "full"
    wide = load.precision == "fp32" or (full and (load.precision == "upcast" or _loaded_wide(load)))
    own = load.precision in ("deepspeed", "megatron") or _owns_lora(load.framework.lower())
    return Recipe(
        model_type=model.model_type,
        config=model.values,
        weight_dtype="float32" if wide else "bfloat16",
        adapter_dtype="bfloat16" if own else "float32",
        autocast=load.precision in ("autocast", "upcast"),
        autocast_cache=load.zero_stage < 2,
        rank=None if full else load.rank,
        dropout=_dropout(load, model),
        targets=load.targets,
        modules_trained=not full and load.modules_b > 0,
        quant_bits=load.quant_bits if load.quant_bits in (4, 8) else None,
        upcast="all" if load.embeddings_upcast else "none",
        micro_batch=batch,
        length=length,
        gradients_resident=load.accumulation > 1,
        checkpointing=load.checkpointing and load.recompute == "full",
        attention=load.attention,
        loss=load.loss,
        logit_share=load.logit_share,
        optimizer=load.optimizer,
        foreach=load.foreach,
        shares=_shares(load),
        assumptions=(*model.assumptions, *_assumed(load, own=own)),
        left_out=(*LEFT_OUT, *_left_out(load)),
    )


def _dropout(load: Workload, model: ModelConfig) -> float:
    if any(name in model.values for name in EXPERT_COUNTS):
        return 0.0  # peft adapts experts as one tensor, which has no dropout
    return DROPOUT if load.lora_dropout is None else load.lora_dropout


def _loaded_wide(load: Workload) -> bool:
    return load.precision == "autocast" and load.weight_bytes >= 4


def _states(load: Workload) -> float | None:
    """Bytes of states per trained parameter where no torch optimizer has them."""
    if load.precision in ("deepspeed", "megatron"):
        return MASTERED
    name = load.optimizer.lower()
    if "adam" not in name:
        return None
    return next((size for word, size in reversed(KEPT_STATES.items()) if word in name), None)


def _shares(load: Workload) -> Shares:
    over = max(1, load.shards or load.data)
    stage = load.zero_stage
    whole_weights = stage < 3 or not load.reshard
    gradients = 1.0 / over if stage >= 2 else 1.0
    # Megatron keeps fp32 gradients beside 2-byte weights
    width = 2.0 if load.precision == "megatron" else 1.0
    return Shares(
        parameters=0.0 if load.offload_params else (1.0 if whole_weights else 1.0 / over),
        gradients=gradients * width,
        states=0.0 if load.offload_optimizer else (1.0 / over if stage >= 1 else 1.0),
        states_bytes=_states(load),
        gathered_units=_gathered(load, over),
    )


def _gathered(load: Workload, over: int) -> float:
    if load.zero_stage < 3 or over < 2:
        return 0.0
    # under autocast the 2-byte cast of the layer at work is made, and counted, by the trial
    return 1.0 if load.precision == "upcast" and load.tuner == "full" else 2.0


def _assumed(load: Workload, *, own: bool) -> Iterator[str]:
    if load.tuner == "lora":
        yield f"adapters are kept in {'the dtype of the model' if own else 'fp32, as peft does'}"
        if load.lora_dropout is None:
            yield "adapters have dropout, whose output and mask are kept"
        if not load.targets:
            yield "adapters sit on all linear layers but the head"
    if load.quant_bits:
        yield f"{load.quant_bits}-bit layers keep packed weights and unpack them for each product"
    if load.zero_stage and (load.shards or load.data) > 1:
        over = load.shards or load.data
        yield f"states of the model are counted whole and divided over {over} GPUs by closed form"
    if _states(load) is not None:
        yield f"optimizer states follow a closed form: {_states(load):g} bytes a trained parameter"
    if load.length.how != "exact":
        yield f"every sample has {math.ceil(load.length.high)} tokens"


def _left_out(load: Workload) -> Iterator[str]:
    if load.quant_bits:
        yield "bitsandbytes: its kernels do not run here"
    if load.compiled:
        yield "torch.compile: operators are counted one by one"
    if load.shape.tower is not None or load.shape.vision:
        yield "the vision tower and its projector: only the language model is run"
    if load.zero_stage:
        yield "buckets of collectives, and NCCL's buffers"
