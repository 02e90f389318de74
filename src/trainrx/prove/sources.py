"""Which of the references of a lever is shown: none of another framework, if there is a choice."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trainrx.frameworks import frameworks
from trainrx.model.parts import Reference

_PART = re.compile(r"[/.]")
_PARTS = 8


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
    """Give the framework whose page or repository an address is, "" for none.

    Papers, DeepSpeed, PyTorch, transformers and vLLM hold for all.
    """
    parts = {_plain(part) for part in _PART.split(url.partition("://")[2])[:_PARTS]}
    found = (
        one.name
        for one in frameworks()
        if one.spelled
        and one.owns_names
        and (one.repository in url if one.repository else _plain(one.name) in parts)
    )
    return next(found, "")


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")
