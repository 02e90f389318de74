"""Predict the peak memory of a workload."""

from __future__ import annotations

from trainrx.model.memory import Prediction, Refusal, Workload


def predict(workload: Workload) -> Prediction | Refusal:
    """Predict peak memory per GPU of one workload.

    Never raises: what is not modelled is a `Refusal`.
    """
    return Refusal(kind="unmodelled", id="not-yet", reason=f"{workload.task}: not modelled")
