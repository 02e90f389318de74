"""The estimate of Unsloth's studio, which the wheel of `unsloth` holds as a file of its own."""

from __future__ import annotations

import importlib.util
import sys
from importlib.metadata import files
from types import ModuleType

from serve import GIB, Job, plain, serve

FILE = "utils/hardware/vram_estimation.py"
OPTIMIZERS = ("adamw_8bit", "paged_adamw_8bit", "adamw_bnb_8bit", "paged_adamw_32bit", "sgd")


def load() -> ModuleType:
    """Load the one file: its package asks for the whole of Unsloth, and that for a GPU."""
    place = next(str(item.locate()) for item in files("unsloth") or () if str(item).endswith(FILE))
    spec = importlib.util.spec_from_file_location("vram_estimation", place)
    if spec is None or spec.loader is None:
        raise ImportError(place)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up by name
    spec.loader.exec_module(module)
    return module


STUDIO = load()


def estimate(job: Job) -> dict[str, float] | None:
    """Give its total as the card figure, and that without its overhead as what is allocated."""
    shards = job["world"] if job["zero_stage"] == 3 else 1
    if job["experts"] or not plain(job) or (job["world"] > 1 and shards == 1):
        return None
    if job["quant_bits"] not in (None, 4) or (job["tuner"] == "lora" and not job["targets"]):
        return None
    shape = STUDIO.ModelArchConfig(
        hidden_size=job["hidden"],
        num_hidden_layers=job["layers"],
        num_attention_heads=job["heads"],
        num_key_value_heads=job["kv_heads"],
        intermediate_size=job["inter"],
        vocab_size=job["vocab"],
        tie_word_embeddings=job["tie"],
        head_dim=job["head_dim"],
    )
    method = {"full": "full", "lora": "qlora" if job["quant_bits"] else "lora"}[job["tuner"]]
    config = STUDIO.TrainingVramConfig(
        training_method=method,
        batch_size=job["batch"],
        max_seq_length=job["tokens"],
        lora_rank=job["rank"],
        target_modules=job["targets"],
        gradient_checkpointing="true" if job["checkpointing"] else "none",
        optimizer=job["optimizer"] if job["optimizer"] in OPTIMIZERS else "adamw_torch",
        load_in_4bit=method == "qlora",
        attention_implementation="flash_attention_2" if job["flash"] else "eager",
    )
    found = STUDIO.estimate_training_vram(shape, config)
    total = found.min_gpu_vram(shards) / GIB
    allocated = total - found.cuda_overhead / GIB
    return {"allocated": allocated, "reserved": total, "card": total}


if __name__ == "__main__":
    serve("unsloth", estimate)
