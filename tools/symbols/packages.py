"""Whose names are recorded, and which of their files are read."""

from __future__ import annotations

from typing import NamedTuple


class Part(NamedTuple):
    """The top folder of a distribution, and what of it is recorded.

    `without` and `only` are dotted prefixes. `called`: of a program rather than a library only
    public names and arguments are; nobody else handles its objects. `calls` are the modules whose
    functions others call, () all.
    """

    top: str
    without: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    called: bool = False
    calls: tuple[str, ...] = ()


PARTS: dict[str, Part] = {
    "qwen-vl-utils": Part("qwen_vl_utils"),
    "liger-kernel": Part("liger_kernel"),
    "llamafactory": Part("llamafactory", called=True),
    "verl": Part("verl", called=True),
    "peft": Part("peft"),
    "accelerate": Part("accelerate", ("accelerate.commands", "accelerate.test_utils")),
    "datasets": Part("datasets", ("datasets.commands",)),
    "huggingface-hub": Part("huggingface_hub", ("huggingface_hub.cli", "huggingface_hub.commands")),
    "trl": Part("trl", ("trl.cli", "trl.commands", "trl.scripts")),
    "deepspeed": Part(
        "deepspeed", ("deepspeed.autotuning", "deepspeed.inference", "deepspeed.launcher")
    ),
    "ms-swift": Part("swift", ("swift.cli", "swift.ui", "swift.web_ui"), called=True),
    "megatron-core": Part(
        "megatron",
        ("megatron.core.inference",),
        called=True,
        calls=(
            "megatron.core.dist_checkpointing",
            "megatron.core.distributed",
            "megatron.core.models",
            "megatron.core.optimizer",
            "megatron.core.parallel_state",
            "megatron.core.pipeline_parallel",
            "megatron.core.tensor_parallel",
            "megatron.core.transformer",
        ),
    ),
    "vllm": Part(
        "vllm",
        (
            "vllm.benchmarks",
            "vllm.compilation",
            "vllm.distributed.kv_transfer",
            "vllm.entrypoints.cli",
            "vllm.entrypoints.pooling",
            "vllm.kernels",
            "vllm.model_executor.kernels",
            "vllm.model_executor.layers.mamba",
            "vllm.model_executor.layers.quantization.utils",
            "vllm.model_executor.models",
            "vllm.models",
            "vllm.parser",
            "vllm.reasoning",
            "vllm.renderers",
            "vllm.tool_parsers",
            "vllm.transformers_utils.configs",
            "vllm.transformers_utils.processors",
            "vllm.third_party",
            "vllm.v1.attention",
            "vllm.vllm_flash_attn",
        ),
        called=True,
        calls=(
            "vllm.config",
            "vllm.engine",
            "vllm.entrypoints.llm",
            "vllm.entrypoints.openai.api_server",
            "vllm.lora",
            "vllm.sampling_params",
            "vllm.utils",
            "vllm.v1.engine",
            "vllm.v1.worker",
            "vllm.worker",
        ),
    ),
    "torch": Part(
        "torch",
        only=(
            "torch.amp",
            "torch.compiler",
            "torch.cuda",
            "torch.distributed",
            "torch.library",
            "torch.nn",
            "torch.optim",
            "torch.utils",
        ),
        called=True,
    ),
    "transformers": Part(
        "transformers",
        (
            "transformers.cli",
            "transformers.commands",
            "transformers.modeling_flax_utils",
            "transformers.modeling_tf_utils",
            "transformers.models.deprecated",
            "transformers.testing_utils",
            "transformers.tf_utils",
        ),
    ),
}
"""By distribution, the quick ones first."""

ANYWHERE = ("tests", "testing", "test", "examples")
"""Folders nobody imports from."""


OTHERS = ("convert_", "dummy_", "modeling_flax_", "modeling_tf_", "modular_")
"""Modules of transformers that no training imports: scripts, other engines, drafts."""


def is_read(package: str, module: str) -> bool:
    """Tell whether a module is recorded."""
    part = PARTS[package]
    parts = module.split(".")
    if parts[0] != part.top or any(name in ANYWHERE for name in parts[1:]):
        return False
    if part.only and len(parts) > 1 and not _below(module, part.only):
        return False
    last = parts[-1]
    return not _below(module, part.without) and not last.startswith(OTHERS)


def is_called(package: str, module: str) -> bool:
    """Tell whether the functions of a module are recorded."""
    calls = PARTS[package].calls
    return not calls or _below(module, calls)


def _below(module: str, prefixes: tuple[str, ...]) -> bool:
    return any(module == prefix or module.startswith(f"{prefix}.") for prefix in prefixes)
