"""The pipeline: what was given in, an answer out; no printing, no exit."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainrx.api.comparison import compare_launches
    from trainrx.api.estimation import estimate
    from trainrx.api.fixing import fix_launch
    from trainrx.api.hardware_plans import plan_job
    from trainrx.api.inspection import inspect_launch
    from trainrx.api.linting import lint
    from trainrx.api.pipeline import diagnose
    from trainrx.api.retrying import retry

__all__ = [
    "compare_launches",
    "diagnose",
    "estimate",
    "fix_launch",
    "inspect_launch",
    "lint",
    "plan_job",
    "retry",
]

_PLACES = {
    "compare_launches": "trainrx.api.comparison",
    "diagnose": "trainrx.api.pipeline",
    "estimate": "trainrx.api.estimation",
    "fix_launch": "trainrx.api.fixing",
    "inspect_launch": "trainrx.api.inspection",
    "lint": "trainrx.api.linting",
    "plan_job": "trainrx.api.hardware_plans",
    "retry": "trainrx.api.retrying",
}


def __getattr__(name: str) -> object:
    """Import a pipeline only when it is asked for: to inspect takes no inference engine."""
    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    raise AttributeError(f"module 'trainrx.api' has no attribute {name!r}")
