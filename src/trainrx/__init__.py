"""Say why a fine-tuning job failed, or will fail, and what exactly to change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainrx.model.version import __version__

if TYPE_CHECKING:
    from trainrx.api import diagnose

__all__ = ["__version__", "diagnose"]


def __getattr__(name: str) -> object:
    """Import the pipeline only when it is asked for: the command line starts without it."""
    if name == "diagnose":
        from trainrx.api import diagnose

        return diagnose
    raise AttributeError(f"module 'trainrx' has no attribute {name!r}")
