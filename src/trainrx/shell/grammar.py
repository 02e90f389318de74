"""The grammar of bash, bounded: on hostile text its error recovery would take minutes."""

from __future__ import annotations

import time
from functools import cache
from importlib import import_module
from importlib.machinery import ExtensionFileLoader, PathFinder
from types import ModuleType
from typing import TYPE_CHECKING

from trainrx.shell.limits import Budget

if TYPE_CHECKING:
    from tree_sitter import Language, Node

_CHUNK = 4096
"""Bytes handed over at a time: error recovery asks again and again for the same place."""
_LEAST = 0.005
"""Seconds below which a parse is not begun."""


@cache
def _language() -> Language:
    # only a job with a launch script pays for loading it
    from tree_sitter import Language

    return Language(_binding().language())


def _binding() -> ModuleType:
    """Load the compiled grammar alone.

    Its package imports the readers of its resources as well: longer than to parse a script.
    """
    package = PathFinder.find_spec("tree_sitter_bash")
    places = None if package is None else package.submodule_search_locations
    inner = PathFinder.find_spec("_binding", places) if places else None
    if inner is None or not isinstance(inner.loader, ExtensionFileLoader):
        return import_module("tree_sitter_bash")
    module: ModuleType = inner.loader.create_module(inner)
    inner.loader.exec_module(module)
    return module


def parse(text: str, budget: Budget, seconds: float = 1.0) -> Node | None:
    """Parse ASCII text as a script.

    Args:
        text: The script; positions in the tree are positions in it.
        budget: Pays for the time taken.
        seconds: Processor time after which to give up, at most half of what the budget has left.

    Returns:
        The root of the tree, or None when the time did not suffice.
    """
    from tree_sitter import Parser

    allowed = min(seconds, budget.seconds / 2)
    if allowed < _LEAST:
        return None
    source = text.encode("ascii", "replace")
    began = time.thread_time()

    def read(offset: int, _point: object) -> bytes:
        return source[offset : offset + _CHUNK]

    def is_late(_offset: int, _error: bool) -> bool:  # the signature is the library's
        return time.thread_time() - began > allowed

    try:
        return Parser(_language()).parse(read, progress_callback=is_late).root_node
    except ValueError:
        # How the library says that the callback stopped it.
        return None
    finally:
        budget.seconds -= time.thread_time() - began
