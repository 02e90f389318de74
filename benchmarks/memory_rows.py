"""Turn a measured row (configuration -> GiB per GPU) into the workload the memory model takes.

A row names its framework and settings field by field; what a framework does by itself (which copies
it keeps in fp32, how its loss is computed) is added here per framework, each with its source.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from trainrx.knowledge.load import load
from trainrx.model.hardware import Dataset, ModelShape, Tower
from trainrx.model.memory import (
    Attention,
    Images,
    Length,
    Loss,
    Precision,
    Refusal,
    Rollout,
    Tuner,
    Workload,
)
from trainrx.models.facts import find_shape

Row = Mapping[str, Any]

SPREAD = 4.0
"""A run's peak is its longest batch: so many standard deviations above the mean of the data set,
as far as the data set's longest sample and the cap allow."""
LONG_TAIL = 6.6
"""Where only the mean is known: the longest sample lies so many means above it (the peaks of the
padded runs on orca-math give 1,970 to 2,460 tokens at a mean of 289)."""
PADDED = 0.27
"""Growth of the padded mean with each doubling of the batch (289, 369, 442, 524 at 1, 2, 4, 8)."""
STATISTICS = re.compile(
    r"(?P<mean>[\d.]+)\s*±\s*(?P<std>[\d.]+)(?:, min=(?P<min>\d+), max=(?P<max>\d+))?"
)
AVERAGE = re.compile(r"(?P<mean>[\d.]+) tokens per sample on average")
ROLES = {
    "q_proj": ("q",),
    "k_proj": ("k",),
    "v_proj": ("v",),
    "o_proj": ("o",),
    "gate_proj": ("gate",),
    "up_proj": ("up",),
    "down_proj": ("down",),
    "query": ("q",),
    "key": ("k",),
    "value": ("v",),
    "projection": ("o",),
    "mlp": ("gate", "up", "down"),
    "head": ("head",),
    "c_attn": ("qkv",),
    "c_proj": ("o", "down"),
    "attn.c_proj": ("o",),
    "w1": ("up",),
    "w2": ("gate",),
    "query_key_value": ("qkv",),
    "w_pack": ("qkv",),
    "q": ("q",),
    "k": ("k",),
    "v": ("v",),
    "up": ("up",),
    "down": ("down",),
    "gate": ("gate",),
    "output": ("o",),
}
EVERY = ("q", "k", "v", "o", "gate", "up", "down")
SMALL = {
    # trained parameters that are a handful of vectors: their states are nothing beside the rest
    "adapter",
    "adapter_v2",
    "ia3",
    "fourierft",
    "ln_tuning",
    "prompt_tuning",
    "prefix_tuning",
    "vera",
    "ptuning_v2",
    "unilora",
    "randlora",
}
LIKE_LORA = {"lora", "qlora", "dora", "longlora", "miss", "bone", "oft", "lily", "psoft"}


class Sharding(NamedTuple):
    """Degrees of parallelism as the records want them."""

    world: int
    data: int
    zero_stage: int
    fsdp: int


def workload_of_row(row: Row) -> Workload | Refusal:
    """Give the workload of a measured row.

    Returns:
        a refusal when the row's model or settings are not modelled.
    """
    shape = shape_named(str(row["model"]))
    if shape is None:
        return Refusal(kind="unknown", id="model", reason=f"model {row['model']} is not known")
    if row.get("task") in ("infer", "export", "deploy"):
        return Refusal(kind="unmodelled", id="task", reason=f"{row['task']} is not training")
    refused = _refused(row)
    if refused is not None:
        return refused
    tuner = _tuner(row)
    sharding = _sharding(row)
    tensor, pipeline = row.get("tensor_parallel") or 1, row.get("pipeline_parallel") or 1
    context = row.get("sequence_parallel") or 1
    megatron = "megatron" in row["framework"].lower() or "mcore" in row["framework"].lower()
    if row.get("use_vllm") and not megatron:
        tensor = 1  # the tensor parallelism of a row with vLLM is the engine's
    if megatron:
        data = max(1, sharding.world // (tensor * pipeline * context))
        sharding = Sharding(world=sharding.world, data=data, zero_stage=0, fsdp=0)
    length = _length(row, shape)
    if length is None:
        return Refusal(kind="unknown", id="length", reason="no length is told")
    return Workload(
        shape=shape,
        framework=str(row["framework"]),
        framework_version=str(row.get("framework_version") or ""),
        task=str(row["task"]),
        tuner=tuner,
        rank=int(row.get("lora_rank") or 8),
        lora_dropout=_dropout(row),
        targets=_targets(row, shape) if tuner == "lora" else (),
        modules_b=_modules(row, shape),
        trained_b=0.001 if row.get("tuner") in SMALL else _unfrozen(row, shape),
        embeddings_upcast=_upcast(row),
        weight_bytes=_weight_bytes(row),
        quant_bits=_quantised(row),
        quant_method=_method(row),
        precision=_precision(row, sharding, megatron=megatron),
        optimizer=_optimizer(row),
        foreach=_foreach(row),
        # torch/optim/adamw.py made a second copy for `denom` until 2.1
        step_copies=2 if "torch 2.0" in str(row.get("framework_version")) else 1,
        packs_on_card=row["framework"] == "litgpt",
        defers_sync=sharding.fsdp == 1
        and int(row.get("grad_accum") or 1) > 1
        and row["framework"].startswith(("TRL", "peft", "trl", "axolotl", "ms-swift")),
        # torch before 2.4 left frozen units whole once gathered in backward
        reshard=not (
            tuner == "lora"
            and sharding.fsdp
            and row["framework"] in ("litgpt", "torchtune")
            and str(row.get("measured_date") or "9") < "2024-06"
        ),
        step_in_backward="in_bwd" in str(row.get("optimizer")) or _one_card_torchtune(row),
        micro_batch=float(row.get("per_device_batch_size") or 1),
        accumulation=int(row.get("grad_accum") or 1),
        length=length,
        padding_free=bool(row.get("padding_free")),
        checkpointing=_checkpointing(row),
        recompute=_recompute(row),
        recompute_layers=int(_number(row, r"recompute_num_layers (\d+)", 1)),
        reentrant=not _on_transformers_5(row) or "--use_reentrant true" in str(row.get("cmd")),
        attention=_attention(row),
        loss=_loss(row, megatron=megatron),
        holds_logits=_holds_logits(row),
        liger_layers=bool(row.get("liger")) and _on_transformers_5(row),
        compiled=_compiled(row),
        world=sharding.world,
        data=sharding.data,
        tensor=tensor,
        pipeline=pipeline,
        context=context,
        sequence=row["framework"] == "torchtitan"
        or (megatron and "--sequence_parallel true" in str(row.get("cmd"))),
        expert=row.get("expert_parallel") or 1,
        device_map=_device_map(row),
        zero_stage=sharding.zero_stage,
        fsdp=sharding.fsdp,
        offload_optimizer="optimizer" in str(row.get("offload")) or _cpu(row),
        offload_params=_offloaded(row),
        ranks_per_node=max(1, int(row["gpus"]) // max(1, int(row.get("nodes") or 1))),
        images=_images(row, shape),
        generations=int(row.get("num_generations") or 1),
        rollout=_rollout(row),
        copies=(shape,) if _reference(row, tuner) else (),
        card_gib=capacity_of(row),
    )


@cache
def shape_named(name: str) -> ModelShape | None:
    """Find a model that has at least the figures every formula needs."""
    shape = find_shape(name, load().models)
    if shape is None or not (shape.layers and shape.hidden and shape.vocab and shape.params_b):
        return None
    return shape


def capacity_of(row: Row) -> float | None:
    """Memory of the row's card in GiB as its name tells it."""
    if row.get("capacity_gib"):
        return float(row["capacity_gib"])
    if row.get("quality") == "upper_bound":
        return float(row["measured_gib_per_gpu"])
    found = re.search(r"(\d{2,3})\s*G", str(row.get("gpu") or ""))
    named = {"A10": 24, "3090": 24, "4090": 24, "V100": 32, "A6000": 48, "B200": 180, "H200": 141}
    if found:
        return float(found.group(1))
    for word, size in named.items():
        if re.search(rf"\b{word}(?![0-9])", str(row.get("gpu") or "")):
            return float(size)
    if re.search(r"A100|A800|H100|H800", str(row.get("gpu") or "")):
        return 80.0
    return None


def _refused(row: Row) -> Refusal | None:
    optimizer = str(row.get("optimizer") or "").lower()
    words = f"{row.get('attn')} {row.get('notes')} {row.get('cmd')}".lower()
    if "galore" in optimizer:
        return Refusal(kind="unmodelled", id="galore", reason="GaLore projects gradients")
    if "lisa" in optimizer or "lisa_activated_layers" in words:
        return Refusal(kind="unmodelled", id="lisa", reason="LISA trains a few layers at a time")
    if row.get("source_family") == "ms-swift/npu" or "ascend" in str(row.get("gpu")).lower():
        return Refusal(kind="unmodelled", id="npu", reason="Ascend NPU: another allocator")
    if row.get("tuner") is None or row.get("tuner") == "custom":
        return Refusal(kind="unknown", id="tuner", reason="what is trained is not told")
    untold = row["framework"] == "axolotl" and row.get("fsdp") and row.get("gpus") == 1
    if row.get("gpus") is None or untold:
        return Refusal(kind="unknown", id="gpus", reason="the number of cards is not told")
    if row.get("tuner") in ("llamapro", "osf", "frod", "glora"):
        return Refusal(kind="unmodelled", id="tuner", reason=f"{row['tuner']} is not modelled")
    if row.get("task") in ("embedding", "gkd", "ppo"):
        return Refusal(kind="unmodelled", id="task", reason=f"{row['task']} is not modelled")
    return None


def _tuner(row: Row) -> Tuner:
    named = str(row.get("tuner"))
    if named == "full":
        return "full"
    return "lora" if named in LIKE_LORA else "adapter"


def _sharding(row: Row) -> Sharding:
    world = int(row["gpus"])
    mapped = _device_map(row)
    data = max(1, world // mapped)
    deepspeed, fsdp = str(row.get("deepspeed") or ""), str(row.get("fsdp") or "")
    stage = int(found.group(1)) if (found := re.search(r"zero-?(\d)", deepspeed)) else 0
    version = 0
    if fsdp and "no_shard" not in fsdp.lower():
        stage, version = 3, 2 if "fsdp2" in fsdp else 1
    if row.get("nproc") and not (int(row["nproc"]) == 1 and mapped == 1):
        data = int(row["nproc"])
    return Sharding(world=world, data=data, zero_stage=stage, fsdp=version)


def _device_map(row: Row) -> int:
    told = row.get("device_map")
    return int(told) if told else 1


def _weight_bytes(row: Row) -> float:
    if row["framework"].startswith("prime-rl") and row.get("tuner") == "lora":
        return 4.0  # FSDP2 over fp32 parameters, the frozen ones too
    return 4.0 if str(row.get("dtype")).startswith("fp32") and "mixed" not in str(row) else 2.0


def _precision(row: Row, sharding: Sharding, *, megatron: bool) -> Precision:
    dtype, framework = str(row.get("dtype")), row["framework"]
    if megatron:
        return "megatron"
    if row.get("deepspeed"):
        return "deepspeed"
    if "fp32" in dtype:
        return "upcast"
    if sharding.fsdp and row.get("tuner") == "full" and framework.startswith(("TRL", "axolotl")):
        # accelerate casts trained weights to fp32 under mixed precision, and only then
        return "pure" if "bf16=False fp16=False" in str(row.get("cmd")) else "upcast"
    if framework.startswith(("torchtune", "litgpt", "fsdp_qlora")):
        return "pure"
    return "autocast"


def _quantised(row: Row) -> int | None:
    bits = row.get("quant_bits")
    return int(bits) if bits else None


def _method(row: Row) -> str:
    if not row.get("quant_bits"):
        return ""
    words = f"{row['model']} {row.get('cmd')}".lower()
    if "awq" in words:
        return "awq"
    if "bnb.nf4" in words and "bnb.nf4-dq" not in words:
        return "nf4-single"
    return "gptq" if re.search(r"gptq|-int[48]\b", words) else "bnb"


def _upcast(row: Row) -> bool:
    """Does peft's preparation for k-bit training upcast embeddings, norms and head to fp32?

    `prepare_model_for_kbit_training` casts every 2-byte parameter (peft/utils/other.py); stock
    recipes call it, fms-acceleration's and Unsloth's replace it, axolotl's loss needs no fp32 head.
    """
    if not row.get("quant_bits"):
        return False
    framework, cmd = row["framework"], str(row.get("cmd"))
    if "--kbit_preparation false" in cmd:
        return False
    if framework.startswith("TRL SFTTrainer (fms"):
        return "baseline-peft-bnb" in cmd and not row.get("fsdp")
    if framework.startswith(
        ("unsloth", "axolotl", "litgpt", "fsdp_qlora", "torchtune", "ms-swift", "LLaMA-Factory")
    ):
        return False
    return not (row.get("fsdp") or row.get("deepspeed") == "zero3")


def _targets(row: Row, shape: ModelShape) -> tuple[str, ...]:
    told = str(row.get("lora_target") or "")
    if not told or told in ("DEFAULT", "DEFULAT", "AUTO"):
        return _default_targets(row, shape)
    if re.search(r"all|ALL", told):
        return EVERY
    if "mlp|" in told or "(up|down" in told:
        cmd = str(row.get("cmd"))
        # experts that axolotl quantises as they load are fused parameters, which no matrix's name
        # reaches (`lora_target_parameters` does)
        fused = "quantize_moe_experts" in cmd and "lora_target_parameters" not in cmd
        return EVERY[:4] if fused else EVERY
    roles = [role for word in re.split(r"[\s,+|()]+", told) for role in ROLES.get(word.lower(), ())]
    return tuple(dict.fromkeys(roles)) or _default_targets(row, shape)


def _default_targets(row: Row, shape: ModelShape) -> tuple[str, ...]:
    framework, version = row["framework"], str(row.get("framework_version") or "")
    if framework.startswith("ms-swift") and not version.startswith(("v1.", "v2.", "1.", "2.")):
        return EVERY
    if framework == "axolotl":  # its examples that name none set `lora_target_linear: true`
        return EVERY
    name = shape.id.lower()
    packed = re.search(r"qwen-|qwen1_|qwen-1_8|chatglm|baichuan|glm-4", name)
    return ("qkv",) if packed and "qwen1.5" not in name else ("q", "k", "v")


def _modules(row: Row, shape: ModelShape) -> float:
    """Embedding and head trained whole beside the adapters, in 1e9 parameters."""
    told = str(row.get("lora_target") or "") + str(row.get("notes") or "")
    if "modules_to_save" in told or "embedding and lm_head" in told:
        return 2 * (shape.vocab or 0) * (shape.hidden or 0) / 1e9
    return 0.0


def _one_card_torchtune(row: Row) -> bool:
    """Full tuning on one card in torchtune updates in backward (`7B_full_low_memory`)."""
    return row["framework"] == "torchtune" and row.get("tuner") == "full" and int(row["gpus"]) == 1


def _unfrozen(row: Row, shape: ModelShape) -> float | None:
    """Parameters left to train where a share of the model is frozen (ms-swift), in 1e9."""
    share = _number(row, r"freeze_parameters(?:_ratio)? (0?\.\d+)", 0)
    return (1 - share) * (shape.params_b or 0.0) if share else None


def _optimizer(row: Row) -> str:
    told = str(row.get("optimizer") or "adamw_torch").lower()
    if "paged" in told:
        return "paged_adamw_8bit" if "8bit" in told else "paged_adamw"
    if "adafactor" in told:
        return "adafactor"
    if "8bit" in told:
        return "adamw_bnb_8bit" if "bnb" in told else "adamw_8bit"
    if "4bit" in told:
        return "adamw_4bit"
    if "sgd" in told:
        return "sgd"
    return "muon" if "muon" in told else "adamw_torch"


def _foreach(row: Row) -> bool:
    """Does the optimizer's step keep a temporary of all trained parameters?"""
    told = str(row.get("optimizer") or "").lower()
    return not re.search("fused|8bit|4bit|in_bwd|adafactor|sgd", told)


def _checkpointing(row: Row) -> bool:
    if row.get("recompute") == "selective" or row.get("offload") == "activations":
        return True
    told = row.get("grad_ckpt")
    if told is None:
        return not row["framework"].startswith(("torchtune", "peft method", "litgpt"))
    if not told and '"activation_checkpointing": true' in str(row.get("cmd")):
        return True
    return bool(told)


def _recompute(row: Row) -> Literal["full", "selective", "offload", "none"]:
    if row.get("offload") == "activations":
        return "offload"
    if row.get("recompute") == "selective":
        return "selective"
    return "full" if _checkpointing(row) else "none"


def _attention(row: Row) -> Attention:
    told = str(row.get("attn") or "")
    if told.startswith("flash") or told == "xformers":
        return "flash"
    if told in ("eager", "unfused"):
        return "eager"
    if told == "sdpa":
        return "sdpa"
    # before SDPA was transformers' own default (4.36), a model without flash attention ran eager
    return "eager" if str(row.get("measured_date") or "9") < "2024-01" else "sdpa"


def _loss(row: Row, *, megatron: bool) -> Loss:
    framework, cmd = row["framework"], str(row.get("cmd"))
    versions = str(row.get("framework_version"))
    if row.get("liger") or "cut_cross_entropy" in cmd or "trl 1.16" in versions:
        # TRL computes them in small chunks itself: of SFT since 1.7, of DPO and GRPO since 1.15
        return "linear"
    if framework.startswith("prime-rl"):
        return "linear" if row["task"] == "grpo" else "eager"
    if framework.startswith(("litgpt", "torchtune")):
        return "chunked"
    if framework.startswith("xtuner"):
        return "chunked"
    if "foak" in cmd:
        return "fused"
    if megatron or framework.startswith("unsloth") or "torchacc" in str(row):
        return "fused"
    return "float" if _autocast(row) else "eager"


def _on_transformers_5(row: Row) -> bool:
    """Tell whether the rows are those of memory_measure.py: stock trainers of one release."""
    return row.get("source_family") == "hf-trainer"


def _dropout(row: Row) -> float | None:
    if row.get("source_family") != "hf-trainer":
        return None
    return _number(row, r"lora_dropout ([\d.]+)", 0.0)


def _holds_logits(row: Row) -> bool:
    """Does the model's forward keep 2-byte logits while the loss works on an fp32 copy?

    transformers 4.47 and later hand them to a loss function; before, the copy took their name
    (modeling_llama.py: `logits = logits.float()`). Qwen-1's own code keeps them.
    """
    found = re.search(r"transformers (\d+)\.(\d+)", str(row.get("framework_version")))
    if found:
        return (4, 47) <= (int(found[1]), int(found[2])) < (5, 0)
    return row["framework"].startswith("Qwen") or str(row.get("measured_date") or "9") >= "2024-12"


def _autocast(row: Row) -> bool:
    """Does the trainer keep fp32 logits twice?

    Models of transformers before 4.45 turned logits into fp32 themselves, the loss copied them
    again, and accelerate turned the outputs into fp32 a third time: ms-swift 1.x and 2.x.
    """
    return _old_swift(row) and not row.get("deepspeed")


def _compiled(row: Row) -> bool:
    words = f"{row.get('cmd')} {row.get('notes')}".lower()
    return bool(re.search(r"torch\.compile|compile=true|\"compile\": true", words))


def _cpu(row: Row) -> bool:
    """Are parameters, gradients and states of FSDP kept in RAM?"""
    told = str(row.get("offload")) == "cpu" or "offload" in str(row.get("fsdp"))
    return told or bool(re.search(r'"offload_params": true|fsdp_offload', str(row.get("cmd"))))


def _offloaded(row: Row) -> bool:
    # verl and its kin take the actor off the card between its turns: it is there while it trains
    told = "param" in str(row.get("offload")) and not row["framework"].startswith("EasyR1")
    return told or _cpu(row)


def _reference(row: Row, tuner: Tuner) -> bool:
    return row["task"] in ("dpo", "kto") and tuner == "full"


def _images(row: Row, shape: ModelShape) -> Images | None:
    if shape.tower is None and not shape.vision:
        return None
    dataset = str(row.get("dataset") or "").lower()
    if row["framework"].startswith("axolotl") and row.get("packing"):
        return None
    text_only = re.search(r"alpaca|self-cognition|gsm8k|numina", dataset)
    if text_only and not re.search(r"latex|coco|video|vqa|llava|geo", dataset):
        return None
    video = "video" in dataset
    frames = _number(row, r"FPS_MAX_FRAMES=(\d+)", 16) if video else 1
    tower = shape.tower or Tower(depth=0, hidden=0, heads=1, inter=0)
    pixels = row.get("max_pixels") or (None if tower.image_size is None else tower.image_size**2)
    if video:
        pixels = _number(row, r"VIDEO_MAX_PIXELS=(\d+)", 50176)
    elif "latex" in dataset and pixels:
        pixels = min(pixels, 250_000.0)  # the formulas of LaTeX_OCR are strips of that size
    elif "coco" in dataset and pixels:
        pixels = min(pixels, 640.0 * 480.0)
    vit = row.get("vit_grad_ckpt")
    return Images(
        per_sample=float(row.get("n_images") or 1),
        pixels=float(pixels) if pixels else None,
        frames=float(frames),
        trained=row.get("freeze_vit") is False
        or (row.get("freeze_vit") is None and row.get("tuner") == "full" and _old_swift(row)),
        projector_trained=row.get("freeze_aligner") is False,
        checkpointing=_checkpointing(row) if vit is None else bool(vit),
        hooked=_on_transformers_5(row),
    )


def _old_swift(row: Row) -> bool:
    return str(row.get("framework_version") or "").startswith(("v1.", "v2.", "1.", "2."))


def _number(row: Row, pattern: str, otherwise: float) -> float:
    found = re.search(pattern, str(row.get("cmd")))
    return float(found.group(1)) if found else float(otherwise)


def _rollout(row: Row) -> Rollout:
    if not row.get("use_vllm"):
        return Rollout()
    mode = row.get("vllm_mode")
    if mode is None:
        # before 3.3 the engine had a card of its own (`vllm_device auto`)
        fewer = bool(row.get("nproc")) and int(row["nproc"]) < int(row["gpus"])
        mode = "server" if fewer else "colocate"
    return Rollout(
        mode=mode,
        share=row.get("vllm_gpu_memory_utilization") or 0.9,
        tensor_parallel=row.get("tensor_parallel") or 1,
        max_model_len=int(_number(row, r"vllm_max_model_len (\d+)", 0)) or None,
        sleep=int(_number(row, r"sleep_level (\d)", 0)),
        move_batches=int(_number(row, r"move_model_batches (\d+)", 0)) or None,
        offload_model="--offload_model true" in str(row.get("cmd")),
        offload_optimizer="--offload_optimizer true" in str(row.get("cmd")),
    )


def _length(row: Row, shape: ModelShape) -> Length | None:
    cap = row.get("seq_len")
    pair = 2.0 if row.get("task") in ("dpo", "orpo", "simpo", "cpo", "rm") else 1.0
    if row.get("task") == "grpo" and row.get("max_completion_length"):
        prompt = _statistics(row)
        whole = float(row["max_completion_length"]) + (prompt[0] if prompt else 256.0)
        return Length(low=0.3 * whole, typical=whole, high=whole + 512, how="cap")
    image = _image_tokens(row, shape)
    if cap is None:
        known = _statistics(row)
        if known is None:
            return None
        cap = known[2] + image
    cap = float(cap)
    if row.get("packing") or row.get("seq_len_kind") in ("exact", "packed", "cap_reached"):
        # samples of many lengths, the longest of which reaches the cap
        how: Literal["exact", "data"] = (
            "data"
            if row.get("seq_len_kind") == "cap_reached" and not row.get("packing")
            else "exact"
        )
        return Length(low=cap * pair, typical=cap * pair, high=cap * pair, how=how)
    known = _statistics(row)
    if known is None:
        return Length(low=0.1 * cap * pair, typical=cap * pair, high=cap * pair, how="cap")
    mean, std, longest = (known[0] + image, known[1], known[2] + image)
    seen = min(cap, longest, mean + SPREAD * std)
    return Length(
        low=min(cap, mean) * pair,
        typical=seen * pair,
        high=min(cap, longest) * pair,
        how="data",
    )


def _image_tokens(row: Row, shape: ModelShape) -> float:
    """Give the tokens images take where the statistics counted the text alone (ms-swift 3.x)."""
    images, tower = _images(row, shape), shape.tower
    if images is None or tower is None or images.pixels is None or _old_swift(row):
        return 0.0
    if tower.tokens_per_image:
        return images.per_sample * images.frames * tower.tokens_per_image
    merged = (tower.patch * tower.merge) ** 2
    frames = max(1.0, images.frames / tower.temporal_patch)
    return images.per_sample * frames * images.pixels / merged


def _statistics(row: Row) -> tuple[float, float, float] | None:
    """Give mean, deviation and maximum of the row's longest data set, tokens."""
    text = str(row.get("dataset_tokens") or "")
    found = [
        (
            float(item["mean"]),
            float(item["std"]),
            float(item["max"] or float(item["mean"]) + 6 * float(item["std"])),
        )
        for item in STATISTICS.finditer(text)
    ]
    if found:
        return max(found, key=lambda item: min(item[2], item[0] + SPREAD * item[1]))
    named = [
        (known.mean, known.std, known.max or known.mean + 6 * known.std)
        for name in re.split(r"[,\s]+", str(row.get("dataset") or ""))
        if (known := _published(name)) is not None
    ]
    if named:
        return max(named, key=lambda item: min(item[2], item[0] + SPREAD * item[1]))
    average = AVERAGE.search(text)
    if average:
        mean = float(average["mean"])
        if not row.get("padding_free"):
            # the mean of a padded run counts its padding, which grows with the batch
            mean /= 1 + PADDED * math.log2(max(1, int(row.get("per_device_batch_size") or 1)))
        return mean, LONG_TAIL * mean / SPREAD, float(row.get("seq_len") or 8 * mean)
    return None


@cache
def _published(name: str) -> Dataset | None:
    """Find the statistics of a data set by its words: parts of one (`-mini`) count as the whole."""
    wanted = {word for word in re.split(r"[-_#:/]", name.lower()) if word and word != "mini"}
    wanted = {word for word in wanted if not word.isdigit()}
    if not wanted:
        return None
    found = [
        item
        for item in load().datasets
        if wanted <= set(re.split(r"[-_#:/]", item.id.lower())) - {"mini"}
    ]
    return min(found, key=lambda item: len(item.id), default=None)


def read_rows(path: str) -> list[dict[str, Any]]:
    """Read rows, one JSON object a line.

    Raises:
        ValueError: a line is not a JSON object; the message names it.
    """
    rows = []
    with Path(path).open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except json.JSONDecodeError as error:
                raise ValueError(f"{path}:{number}: not JSON: {error}") from None
            if not isinstance(row, dict):
                raise ValueError(  # noqa: TRY004  # the line's value is wrong, not our caller's
                    f"{path}:{number}: expected a JSON object, one row a line"
                )
            rows.append(row)
    return rows
