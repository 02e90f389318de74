"""Which package a source file belongs to, told by its path as a traceback prints it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from trainrx.frameworks import frameworks

INSTALLED = re.compile(r"(?:^|/)(?:site|dist)-packages/(.+)$")
LIBRARY = re.compile(r"(?:^|/)lib(?:64)?/python\d[\w.]*/|^<")
"""The standard library (once installed packages are looked at), and generated code."""
HOME = re.compile(r"^/(?:home|Users)/[^/]+/")
"""A user may be called like a package (`/home/ray` in the images of Ray)."""

_LIBRARIES: dict[str, str] = {
    "DeepSpeed": "deepspeed",
    "Megatron-LM": "megatron-core",
    "accelerate": "accelerate",
    "bitsandbytes": "bitsandbytes",
    "datasets": "datasets",
    "deepspeed": "deepspeed",
    "fla": "flash-linear-attention",
    "flash_attn": "flash-attn",
    "flashinfer": "flashinfer-python",
    "huggingface_hub": "huggingface-hub",
    "liger_kernel": "liger-kernel",
    "mcore_bridge": "mcore-bridge",
    "megatron": "megatron-core",
    "modelscope": "modelscope",
    "peft": "peft",
    "qwen_vl_utils": "qwen-vl-utils",
    "ray": "ray",
    "roll": "roll",
    "sentence_transformers": "sentence-transformers",
    "sglang": "sglang",
    "tokenizers": "tokenizers",
    "torch": "torch",
    "torchvision": "torchvision",
    "transformer_engine": "transformer-engine",
    "triton": "triton",
    "unsloth_zoo": "unsloth_zoo",
}
"""Folders of installed packages and of checkouts, and the package by its name in an index."""

_PLAIN_WORDS = frozenset({"datasets", "fla", "ray", "roll", "torch", "triton"})
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


@lru_cache(maxsize=1)
def packages() -> Mapping[str, str]:
    """Give the package of each folder, those of frameworks too."""
    return _LIBRARIES | {folder: one.name for one in frameworks() for folder in one.folders}


@lru_cache(maxsize=1)
def _plain_words() -> frozenset[str]:
    own = (folder for one in frameworks() if one.plain_folders for folder in one.folders)
    return _PLAIN_WORDS.union(own)


def source_of(path: str) -> SourceFile | None:
    """Place a source file; None for the standard library and generated code."""
    path = path.replace("\\", "/")
    installed = INSTALLED.search(path)
    if installed is not None:
        top = installed[1].partition("/")[0].removesuffix(".py")
        return SourceFile(packages().get(top, top), installed[1])
    if LIBRARY.search(path):
        return None
    parts = HOME.sub("", path).split("/")
    for at, part in enumerate(parts[:-1]):
        package = packages().get(part)
        if package is None or (part in _plain_words() and at and parts[at - 1] != "..."):
            continue
        # a checkout holds its package: the innermost folder of that name is the one imported
        inner = max(i for i, name in enumerate(parts[:-1]) if packages().get(name) == package)
        return SourceFile(package, "/".join(parts[inner:]))
    return SourceFile("", parts[-1])


def is_check(source: SourceFile) -> bool:
    """Tell whether a file only checks something for its caller."""
    return source.file in CHECKS


def is_launcher(source: SourceFile) -> bool:
    """Tell whether a file only starts the program."""
    return any(source.file.startswith(start) for start in LAUNCHERS)
