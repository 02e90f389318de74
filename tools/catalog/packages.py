"""What is taken out of each package's files."""

from __future__ import annotations

PATTERNS: dict[str, tuple[str, ...]] = {
    "ms-swift": ("swift/*.py", "swift/*.json"),
    "llamafactory": ("llamafactory/*.py",),
    "transformers": (
        "transformers/__init__.py",
        "transformers/debug_utils.py",
        "transformers/file_utils.py",
        "transformers/generation/configuration_utils.py",
        "transformers/hf_argparser.py",
        "transformers/integrations.py",
        "transformers/integrations/integration_utils.py",
        "transformers/trainer*.py",
        "transformers/training_args*.py",
        "transformers/utils/*.py",
    ),
    "trl": ("trl/*.py",),
    "peft": ("peft/*.py",),
    "accelerate": ("accelerate/commands/*.py", "accelerate/utils/*.py", "accelerate/__init__.py"),
    "axolotl": ("axolotl/*.py",),
    "verl": ("verl/*.py", "verl/*.yaml"),
    "openrlhf": ("openrlhf/*.py",),
    "vllm": (
        "vllm/__init__.py",
        "vllm/config*.py",
        "vllm/engine/*.py",
        "vllm/entrypoints/*.py",
        "vllm/envs.py",
        "vllm/executor/*.py",
        "vllm/model_executor/layers/quantization/__init__.py",
        "vllm/platforms/*.py",
        "vllm/sampling_params.py",
        "vllm/scripts.py",
        "vllm/transformers_utils/*.py",
        "vllm/usage/*.py",
        "vllm/utils*.py",
    ),
    "torch": (
        "torch/distributed/run.py",
        "torch/distributed/argparse_util.py",
        "torch/distributed/elastic/multiprocessing/*.py",
    ),
    "deepspeed": ("deepspeed/*.py",),
}
"""Members read of a package; `*` also crosses folders."""
