"""What sets frameworks apart: one module or folder for each, found by its name.

`framework_of("ms-swift")` is what `frameworks/ms_swift` makes, and loads nothing else.
"""

from __future__ import annotations

import os
from functools import lru_cache
from importlib import import_module
from typing import cast

from trainrx.frameworks.base import Framework

_SHARED = frozenset({"__init__", "__pycache__", "base", "common"})
"""What here is no framework."""
_NONE = Framework()


@lru_cache(maxsize=1)
def names() -> tuple[str, ...]:
    """Give the names of all frameworks, in order."""
    # pkgutil and pathlib would load half a dozen modules of the standard library
    with os.scandir(__path__[0]) as entries:
        found = {entry.name.partition(".")[0] for entry in entries}
    return tuple(sorted(name.replace("_", "-") for name in found - _SHARED))


@lru_cache(maxsize=128)
def framework_of(name: str | None) -> Framework:
    """Give what is known of a framework; "" is a program of one's own, of others nothing is."""
    if not name:
        from trainrx.frameworks.common.script import SCRIPT

        return SCRIPT
    if name not in names():
        return _NONE
    found = import_module(f"{__name__}.{name.replace('-', '_')}")
    return cast("Framework", found.FRAMEWORK)


@lru_cache(maxsize=1)
def programs() -> frozenset[str]:
    """Give the names of the programs of all frameworks."""
    return frozenset(name for one in frameworks() for name in one.programs)


@lru_cache(maxsize=1)
def frameworks() -> tuple[Framework, ...]:
    """Give all frameworks, in order of their names. It loads them all."""
    return tuple(framework_of(name) for name in names())
