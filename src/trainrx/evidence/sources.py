"""Which package a source file belongs to, told by its path as a traceback prints it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

INSTALLED = re.compile(r"(?:^|/)(?:site|dist)-packages/(.+)$")
LIBRARY = re.compile(r"(?:^|/)lib(?:64)?/python\d[\w.]*/|^<")
"""The standard library (once installed packages are looked at), and generated code."""
HOME = re.compile(r"^/(?:home|Users)/[^/]+/")
"""A user may be called like a package (`/home/ray` in the images of Ray)."""

PACKAGES: Mapping[str, str] = {
    "LLaMA-Factory": "llamafactory",
    "LlamaFactory": "llamafactory",
    "DeepSpeed": "deepspeed",
    "Megatron-LM": "megatron-core",
    "NeMo-RL": "nemo-rl",
    "OpenRLHF": "openrlhf",
    "SkyRL": "skyrl",
    "accelerate": "accelerate",
    "areal": "areal",
    "axolotl": "axolotl",
    "bitsandbytes": "bitsandbytes",
    "datasets": "datasets",
    "deepspeed": "deepspeed",
    "fla": "flash-linear-attention",
    "flash_attn": "flash-attn",
    "flashinfer": "flashinfer-python",
    "huggingface_hub": "huggingface-hub",
    "liger_kernel": "liger-kernel",
    "llamafactory": "llamafactory",
    "mcore_bridge": "mcore-bridge",
    "megatron": "megatron-core",
    "miles": "miles",
    "modelscope": "modelscope",
    "ms-swift": "ms-swift",
    "nemo_automodel": "nemo-automodel",
    "nemo_rl": "nemo-rl",
    "open-instruct": "open-instruct",
    "open_instruct": "open-instruct",
    "openrlhf": "openrlhf",
    "peft": "peft",
    "prime-rl": "prime-rl",
    "prime_rl": "prime-rl",
    "qwen_vl_utils": "qwen-vl-utils",
    "ray": "ray",
    "roll": "roll",
    "sentence_transformers": "sentence-transformers",
    "sglang": "sglang",
    "skyrl": "skyrl",
    "skyrl_train": "skyrl",
    "slime": "slime",
    "swift": "ms-swift",
    "tokenizers": "tokenizers",
    "torch": "torch",
    "torchvision": "torchvision",
    "transformer_engine": "transformer-engine",
    "transformers": "transformers",
    "trinity": "trinity-rft",
    "triton": "triton",
    "trl": "trl",
    "unsloth": "unsloth",
    "unsloth_zoo": "unsloth_zoo",
    "verl": "verl",
    "vllm": "vllm",
}
"""Folders of installed packages and of checkouts, and the package by its name in an index."""

PLAIN_WORDS = frozenset(
    {"datasets", "fla", "miles", "ray", "roll", "slime", "torch", "trinity", "triton"}
)
"""Folders of anybody's own may be called so: they count only where a path begins or is cut."""

LAUNCHERS = (
    "torch/distributed/run.py",
    "torch/distributed/launcher/",
    "torch/distributed/elastic/",
    "accelerate/commands/",
    "deepspeed/launcher/",
)
"""Code that only starts and watches the program: what fails there failed elsewhere."""


CHECKS = ("transformers/utils/versions.py", "transformers/utils/import_utils.py")
"""Code that others call to check something: what is at fault is who called it."""


class SourceFile(NamedTuple):
    """A source file: its package, "" for the user's own code, and its path from there on."""

    package: str
    file: str


def source_of(path: str) -> SourceFile | None:
    """Place a source file; None for the standard library and generated code."""
    path = path.replace("\\", "/")
    installed = INSTALLED.search(path)
    if installed is not None:
        top = installed[1].partition("/")[0].removesuffix(".py")
        return SourceFile(PACKAGES.get(top, top), installed[1])
    if LIBRARY.search(path):
        return None
    parts = HOME.sub("", path).split("/")
    for at, part in enumerate(parts[:-1]):
        package = PACKAGES.get(part)
        if package is None or (part in PLAIN_WORDS and at and parts[at - 1] != "..."):
            continue
        # a checkout holds its package: the innermost folder of that name is the one imported
        inner = max(i for i, name in enumerate(parts[:-1]) if PACKAGES.get(name) == package)
        return SourceFile(package, "/".join(parts[inner:]))
    return SourceFile("", parts[-1])


def is_check(source: SourceFile) -> bool:
    """Tell whether a file only checks something for its caller."""
    return source.file in CHECKS


def is_launcher(source: SourceFile) -> bool:
    """Tell whether a file only starts the program."""
    return any(source.file.startswith(start) for start in LAUNCHERS)
