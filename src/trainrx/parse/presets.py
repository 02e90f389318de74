"""The DeepSpeed configurations ms-swift ships under a name, as each release ships them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainrx.kb.catalogs import read_presets
from trainrx.parse.catalog import catalog

PACKAGE = "ms-swift"


def preset(name: str, version: str | None) -> tuple[Mapping[str, Any], ...]:
    """Give what a preset holds at the releases a job may run, the different ones, oldest first.

    Args:
        name: as written: `zero3`, in 2.x also `default-zero3` and `zero3-offload`.
        version: of ms-swift, exact or in part; None is any.
    """
    known = catalog(PACKAGE)
    wanted = name.strip().removeprefix("default-").replace("-", "_")
    bits = known.of(version)
    return tuple(
        content
        for item in read_presets()
        if item.name == wanted and known.mask(item.spans) & bits
        for content in known.values(item.contents, known.mask(item.spans) & bits)
    )
