"""Which of the references of a lever is shown: none of another framework, if there is a choice."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trainrx.frameworks.traits import TRAITS
from trainrx.model.parts import Reference

FRAMEWORKS = (*(name for name in TRAITS if name != "transformers"), "unsloth")
"""What a job is one of; papers, DeepSpeed, PyTorch, transformers and vLLM hold for all."""
_PART = re.compile(r"[/.]")
_PARTS = 8
_REPOSITORIES = {"NVIDIA-NeMo/Automodel": "nemo-automodel", "NVIDIA-NeMo/RL": "nemo-rl"}
"""Those whose address does not name the package."""


def source_for(references: Sequence[Reference], ref: str, framework: str) -> str:
    """Give the address a step rests on; of those of a lever one that has to do with the job.

    The reference a step names stays, unless it is of another framework: then one of this framework
    stands for it, else one of none.
    """
    named = next((item for item in references if item.id == ref), None)
    if named is None:
        return ""
    if owner(named.url) in ("", framework):
        return named.url
    for wanted in (framework, ""):
        other = next((item for item in references if owner(item.url) == wanted), None)
        if other is not None:
            return other.url
    return named.url


def owner(url: str) -> str:
    """Give the framework whose page or repository an address is, "" for none."""
    named = (name for place, name in _REPOSITORIES.items() if f"/{place}/" in f"{url}/")
    if (found := next(named, "")) != "":
        return found
    parts = {_plain(part) for part in _PART.split(url.partition("://")[2])[:_PARTS]}
    return next((name for name in FRAMEWORKS if _plain(name) in parts), "")


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")
