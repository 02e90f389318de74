"""Say why a fine-tuning job failed, or will fail, and what exactly to change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainrx.model import __version__

if TYPE_CHECKING:
    from trainrx.api import (
        Diagnoser,
        compare_launches,
        diagnose,
        estimate,
        fix_launch,
        inspect_launch,
        lint,
        plan_job,
        retry,
        translate,
    )

__all__ = [
    "Diagnoser",
    "__version__",
    "compare_launches",
    "diagnose",
    "estimate",
    "fix_launch",
    "inspect_launch",
    "lint",
    "plan_job",
    "retry",
    "translate",
]


def __getattr__(name: str) -> object:
    """Import a pipeline only when it is asked for: the command line starts without it."""
    if name in __all__:
        from importlib import import_module

        # kept, as the package of lint's rules would else take the name of the function
        found: object = getattr(import_module("trainrx.api"), name)
        globals()[name] = found
        return found
    raise AttributeError(f"module 'trainrx' has no attribute {name!r}")
