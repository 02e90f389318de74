"""`--exact`: the closed form beside a count on the real model class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from trainrx.model.catalog import Value
from trainrx.model.errors import UsageError
from trainrx.model.estimate import Compared, ExactCount
from trainrx.model.memory import Prediction, Refusal, Workload

if TYPE_CHECKING:
    from trainrx.exact import Difference

MISSING = "exact-packages-missing"


def counted(
    workload: Workload, prediction: Prediction, config: Mapping[str, Value] | None
) -> ExactCount:
    """Count one training step and set it beside the prediction.

    Args:
        workload: the job.
        prediction: what the closed form says of it.
        config: the model's config.json; None makes one of the shape.

    Raises:
        UsageError: the packages it takes are not installed.
    """
    # starts a process with torch: only who asks for it pays for it
    from trainrx.exact import compare, run_exact

    found = run_exact(workload, config)
    if isinstance(found, Refusal):
        if found.id == MISSING:
            raise UsageError(f"--exact: {found.reason}")
        return ExactCount(refusal=found)
    beside = compare(prediction, found)
    return ExactCount(
        allocated=_compared([beside.total])[0],
        peak=beside.phase,
        phases=_compared(beside.phases),
        parts=_compared(beside.parts),
        model_class=found.model_class,
        torch=found.torch,
        transformers=found.transformers,
        seconds=found.seconds,
        assumptions=found.assumptions,
        left_out=found.left_out,
    )


def _compared(found: Iterable[Difference]) -> tuple[Compared, ...]:
    return tuple(Compared(name=one.name, closed=one.closed, counted=one.exact) for one in found)
