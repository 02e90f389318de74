"""How chats and forges write, and how much they take: one module for each, found by its name.

A module defines `MARKUP`; nothing else needs to know of it.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from trainrx.render.markup._commonmark import CommonMark


def load(name: str) -> CommonMark:
    """Give the markup of a platform by its name."""
    found: CommonMark = import_module(f"{__name__}.{name}").MARKUP
    return found


def names() -> tuple[str, ...]:
    """Name the platforms."""
    found = (module.name for module in iter_modules(__path__))
    return tuple(sorted(name for name in found if not name.startswith("_")))
