"""The pipeline: what was given in, an answer out; no printing, no exit."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainrx.diagnosis.pipeline import diagnose
    from trainrx.diagnosis.retrying import retry
    from trainrx.estimation.run import estimate
    from trainrx.inspect.comparison import compare_launches
    from trainrx.inspect.inspection import inspect_launch
    from trainrx.linter.run import lint
    from trainrx.prove.fixing import fix_launch
    from trainrx.prove.hardware_plans import plan_job

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
    "compare_launches": "trainrx.inspect.comparison",
    "diagnose": "trainrx.diagnosis.pipeline",
    "estimate": "trainrx.estimation.run",
    "fix_launch": "trainrx.prove.fixing",
    "inspect_launch": "trainrx.inspect.inspection",
    "lint": "trainrx.linter.run",
    "plan_job": "trainrx.prove.hardware_plans",
    "retry": "trainrx.diagnosis.retrying",
}


def __getattr__(name: str) -> object:
    """Import a pipeline only when it is asked for: to inspect takes no inference engine."""
    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    raise AttributeError(f"module 'trainrx.api' has no attribute {name!r}")
