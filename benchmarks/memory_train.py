"""Train one job for a few steps and print what it took: the child of memory_measure.py."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any

import torch
import transformers
from torch import nn
from transformers import TrainerCallback

GIB = 2.0**30
STEPS = 3
ADAPTED = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
PATCH = 14
TRL = "TRL"

Job = Mapping[str, Any]


def main() -> int:
    """Train the job of the command line; the last line printed is its row."""
    given = json.loads(sys.argv[1])
    job, device = given["job"], given["device"]
    if job.get("deepspeed"):
        _alone()
    with tempfile.TemporaryDirectory() as folder:
        model = build_model(job, given["config"], device, folder)
        meter = Meter(job, device)
        trainer = build_trainer(job, model, folder, device, meter)
        meter.begin(trainer)
        trainer.train()
        print(json.dumps(meter.row()), flush=True)
    return 0


def _alone() -> None:
    """Let DeepSpeed find a world of one process."""
    os.environ |= {
        "RANK": "0",
        "LOCAL_RANK": "0",
        "WORLD_SIZE": "1",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(20000 + os.getpid() % 20000),
        "TOKENIZERS_PARALLELISM": "false",
        "HF_HUB_OFFLINE": "1",
    }


class Meter(TrainerCallback):
    """Note what is allocated at the points of a step, and the peaks between them."""

    def __init__(self, job: Job, device: str) -> None:
        """Start with nothing measured."""
        self.job = job
        self.shape: list[int] = []
        self.cuda = device == "cuda"
        self.phases: dict[str, float] = {}
        self.held: list[float] = []
        self.top = 0.0

    def begin(self, trainer: transformers.Trainer) -> None:
        """Forget what loading took, and note each forward's end."""
        if self.cuda:
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
        self.mark("loaded")
        self._hold()
        compute = trainer.compute_loss

        def noted(model: nn.Module, inputs: Job, *args: object, **named: object) -> object:
            self.shape = list(inputs["input_ids"].shape) if "input_ids" in inputs else []
            self.mark("prepared")
            found = compute(model, inputs, *args, **named)
            self.mark("forward")
            return found

        trainer.compute_loss = noted

    def mark(self, name: str) -> None:
        """Note what is allocated now, and the peak since the last mark."""
        if self.cuda:
            self.top = max(self.top, torch.cuda.max_memory_allocated())
            self.phases[name] = torch.cuda.memory_allocated() / GIB
            self.phases[f"{name}_peak"] = torch.cuda.max_memory_allocated() / GIB
            torch.cuda.reset_peak_memory_stats()

    def on_step_begin(self, *_: object, **__: object) -> None:
        """Note what lies there between steps."""
        self.mark("between")

    def on_pre_optimizer_step(self, *_: object, **__: object) -> None:
        """Note what the backward left."""
        self.mark("backward")

    def on_optimizer_step(self, *_: object, **__: object) -> None:
        """Note what the update took."""
        self.mark("step")

    def on_step_end(self, *_: object, **__: object) -> None:
        """Note what the allocator holds after a step."""
        self._hold()

    def _hold(self) -> None:
        if self.cuda:
            self.held.append(round(torch.cuda.memory_reserved() / GIB, 3))

    def row(self) -> dict[str, Any]:
        """Give what was measured, with the releases it was measured on."""
        self.mark("end")
        row: dict[str, Any] = {"framework_version": _versions(self.job), "shape": self.shape}
        if self.cuda:
            stats = torch.cuda.memory_stats()
            row |= {
                "gpu": torch.cuda.get_device_name(),
                "measured_allocated_gib": round(self.top / GIB, 3),
                "measured_reserved_gib": round(stats["reserved_bytes.all.peak"] / GIB, 3),
                "retries": stats["num_alloc_retries"],
                "held": self.held,
                "phases": {name: round(size, 4) for name, size in self.phases.items()},
            }
            shown = _shown()
            if shown:
                row["measured_smi_gib"] = round(shown / GIB, 3)
        return row


def _versions(job: Job) -> str:
    trl = ["trl"] if job["framework"].startswith(TRL) else []
    return ", ".join(f"{name} {version(name)}" for name in ("transformers", "torch", *trl))


def _shown() -> int | None:
    """Give what the driver says this process holds, as nvidia-smi shows it."""
    import pynvml

    pynvml.nvmlInit()
    handle = pynvml.nvmlDeviceGetHandleByIndex(0)
    for process in pynvml.nvmlDeviceGetComputeRunningProcesses(handle):
        if process.pid == os.getpid():
            return process.usedGpuMemory
    return None


def build_model(job: Job, config: Mapping[str, Any], device: str, folder: str) -> nn.Module:
    """Build the job's model with random weights, with adapters where it has them."""
    fields = {name: value for name, value in config.items() if name != "model_type"}
    made = transformers.AutoConfig.for_model(config["model_type"], **fields)
    made.use_cache = False
    sees = hasattr(made, "vision_config")
    kind = transformers.AutoModelForImageTextToText if sees else transformers.AutoModelForCausalLM
    dtype = torch.float32 if job["dtype"] == "fp32" else torch.bfloat16
    with torch.device(device):
        model = kind.from_config(made, dtype=dtype, attn_implementation=job["attn"])
    if job.get("quant_bits"):
        model = _quantised(model, kind, job, folder)
    if sees:
        model.model.visual.requires_grad_(job.get("freeze_vit") is False)
    return _adapted(model, job) if job["tuner"] in ("lora", "qlora") else model


def _quantised(model: nn.Module, kind: type, job: Job, folder: str) -> nn.Module:
    """Write the weights out and load them quantised, as checkpoints are."""
    model.save_pretrained(folder)
    del model
    four = int(job["quant_bits"]) == 4
    how = transformers.BitsAndBytesConfig(
        load_in_4bit=four,
        load_in_8bit=not four,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=torch.bfloat16,
    )
    return kind.from_pretrained(
        folder,
        quantization_config=how,
        device_map={"": 0},
        dtype=torch.bfloat16,
        attn_implementation=job["attn"],
    )


def _adapted(model: nn.Module, job: Job) -> nn.Module:
    from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training

    if job.get("quant_bits") and job.get("kbit_preparation"):
        model = prepare_model_for_kbit_training(
            model, use_gradient_checkpointing=bool(job["grad_ckpt"])
        )
    elif job["grad_ckpt"]:
        model.enable_input_require_grads()
    names = "|".join(ADAPTED if job["lora_target"] == "all" else job["lora_target"].split(","))
    towers = "" if job.get("freeze_vit") is False else "(?!.*visual)"
    return get_peft_model(
        model,
        LoraConfig(
            r=job["lora_rank"],
            lora_alpha=2 * job["lora_rank"],
            lora_dropout=job.get("lora_dropout", 0.0),
            target_modules=rf"{towers}.*\.({names})",
            task_type="CAUSAL_LM",
        ),
    )


def _arguments(job: Job, folder: str, device: str) -> dict[str, Any]:
    said = {
        "output_dir": folder,
        "max_steps": STEPS,
        "per_device_train_batch_size": job["per_device_batch_size"],
        "gradient_accumulation_steps": job["grad_accum"],
        "gradient_checkpointing": job["grad_ckpt"],
        "bf16": device == "cuda",
        "use_cpu": device == "cpu",
        "optim": job["optimizer"],
        "use_liger_kernel": bool(job.get("liger")),
        "logging_steps": 1,
        "save_strategy": "no",
        "report_to": [],
        "disable_tqdm": True,
        "remove_unused_columns": False,
    }
    if job.get("use_reentrant") is not None:
        said["gradient_checkpointing_kwargs"] = {"use_reentrant": job["use_reentrant"]}
    if job.get("deepspeed"):
        said["deepspeed"] = {
            "train_micro_batch_size_per_gpu": "auto",
            "gradient_accumulation_steps": "auto",
            "bf16": {"enabled": "auto"},
            "zero_optimization": {"stage": int(job["deepspeed"][-1])},
        }
    return said


def build_trainer(
    job: Job, model: nn.Module, folder: str, device: str, meter: Meter
) -> transformers.Trainer:
    """Build the trainer the job names."""
    if job["framework"].startswith(TRL):
        return _trl_trainer(job, model, folder, device, meter)
    made = transformers.TrainingArguments(**_arguments(job, folder, device))
    vocab = model.get_input_embeddings().weight.shape[0]
    samples = [_sample(job, model, vocab) for _ in range(_samples(job))]
    return transformers.Trainer(
        model=model,
        args=made,
        train_dataset=samples,
        data_collator=_collated,
        callbacks=[meter],
    )


def _samples(job: Job) -> int:
    return STEPS * int(job["per_device_batch_size"]) * int(job["grad_accum"])


def _sample(job: Job, model: nn.Module, vocab: int) -> dict[str, Any]:
    length = int(job["seq_len"])
    tokens = torch.randint(1000, vocab - 2000, (length,))
    sample = {"input_ids": tokens, "attention_mask": torch.ones(length, dtype=torch.long)}
    if job.get("n_images"):
        sample |= _pictures(job, model.config, tokens)
    return {**sample, "labels": tokens.clone()}


def _pictures(
    job: Job, config: transformers.PretrainedConfig, tokens: torch.Tensor
) -> dict[str, Any]:
    """Put square pictures at the beginning of the tokens, as the processor would."""
    side = 2 * int((int(job["max_pixels"]) ** 0.5) // (2 * PATCH))
    patches, count = side * side, int(job["n_images"])
    kinds = torch.zeros_like(tokens)
    for picture in range(count):
        begin = 4 + picture * (patches // 4 + 2)
        tokens[begin] = config.vision_start_token_id
        tokens[begin + 1 : begin + 1 + patches // 4] = config.image_token_id
        kinds[begin + 1 : begin + 1 + patches // 4] = 1
    return {
        "pixel_values": torch.randn(count * patches, 3 * 2 * PATCH * PATCH),
        "image_grid_thw": torch.tensor([[1, side, side]] * count),
        "mm_token_type_ids": kinds,
    }


def _collated(samples: list[dict[str, Any]]) -> dict[str, Any]:
    joined: dict[str, Callable[[list[torch.Tensor]], torch.Tensor]] = {
        "pixel_values": torch.cat,
        "image_grid_thw": torch.cat,
    }
    return {
        name: joined.get(name, torch.stack)([sample[name] for sample in samples])
        for name in samples[0]
    }


def _trl_trainer(
    job: Job, model: nn.Module, folder: str, device: str, meter: Meter
) -> transformers.Trainer:
    import datasets
    import trl

    said = _arguments(job, folder, device)
    length, count = int(job["seq_len"]), _samples(job)
    words = " ".join(["word"] * (length - 1))
    given = {"model": model, "callbacks": [meter], "processing_class": _tokenizer()}
    if job["task"] == "dpo":
        half = " ".join(["word"] * (length // 2 - 1))
        rows = [{"prompt": half, "chosen": " " + half, "rejected": " " + half}] * count
        made = trl.DPOConfig(**said, max_length=length)
        return trl.DPOTrainer(args=made, train_dataset=datasets.Dataset.from_list(rows), **given)
    if job["task"] == "grpo":
        made = trl.GRPOConfig(
            **said,
            num_generations=job["num_generations"],
            max_completion_length=job["max_completion_length"],
        )
        return trl.GRPOTrainer(
            args=made,
            reward_funcs=_rewards,
            train_dataset=datasets.Dataset.from_list([{"prompt": words}] * count),
            **given,
        )
    rows = [{"text": words}] * count
    made = trl.SFTConfig(**said, max_length=length, packing=False)
    return trl.SFTTrainer(args=made, train_dataset=datasets.Dataset.from_list(rows), **given)


def _rewards(completions: list[str], **_: object) -> list[float]:
    return [float(len(text) % 7) for text in completions]


def _tokenizer() -> transformers.PreTrainedTokenizerFast:
    from tokenizers import Tokenizer, models, pre_tokenizers

    names = ["<pad>", "<eos>", "<unk>", "word", "other"]
    made = Tokenizer(models.WordLevel({name: at for at, name in enumerate(names)}, "<unk>"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, **{f"{name}_token": f"<{name}>" for name in ("pad", "eos", "unk")}
    )


if __name__ == "__main__":
    raise SystemExit(main())
