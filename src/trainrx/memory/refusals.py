"""What cannot run, or is not modelled: said before a number is worked out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

from trainrx.memory.model import Model
from trainrx.memory.states import STATES
from trainrx.model.assumptions import REFUSALS, say
from trainrx.model.memory import Refusal, Workload

MOST_TOKENS = 100_000_000.0
COUNTS = (
    "world",
    "data",
    "tensor",
    "pipeline",
    "context",
    "expert",
    "device_map",
    "ranks_per_node",
    "accumulation",
)


def refused(work: Workload, model: Model) -> Refusal | None:
    """Give the reason there is no figure for a workload; None when there is one."""
    return _impossible(work, model) or _unmodelled(work)


def unknown_shape(work: Workload) -> Refusal:
    """Say that a model's layers, width or vocabulary are not known."""
    lacking = [name for name in ("layers", "hidden", "vocab") if not getattr(work.shape, name)]
    values = {"model": work.shape.id, "missing": ", ".join(lacking) or "params_b"}
    return _refusal("unknown", "model-incomplete", values, asks=("model.name",))


def _impossible(work: Workload, model: Model) -> Refusal | None:
    for name in COUNTS:
        count = getattr(work, name)
        if count < 1:
            return _no("not-positive", param=name, value=count, least=1)
    for name, size in (
        ("micro_batch", work.micro_batch),
        ("length", work.length.typical),
        ("length", work.length.high),
    ):
        if not math.isfinite(size) or not 0 < size <= MOST_TOKENS:
            return _no("not-positive", param=name, value=f"{size:g}", least=1)
    if model.heads % work.tensor:
        return _no("heads-not-divisible", heads=model.heads, tensor=work.tensor, param="tensor")
    group = work.tensor * work.pipeline * work.context
    if work.world % group:
        degrees = f"{work.tensor} x {work.pipeline} x {work.context}"
        return _no("world-not-divisible", world=work.world, group=group, degrees=degrees)
    if work.pipeline > model.layers:
        return _no("layers-fewer-than-stages", layers=model.layers, stages=work.pipeline)
    share = work.rollout.share
    if share is not None and not 0 < share <= 1:
        return _no("share-range", param="share", value=f"{share:g}")
    return None


def _unmodelled(work: Workload) -> Refusal | None:
    if work.optimizer not in STATES:
        values = {"param": "train.optimizer", "value": work.optimizer}
        return _refusal("unmodelled", "setting", values)
    if work.tuner in ("adapter", "freeze") and work.trained_b is None:
        return _refusal("unknown", "trained-unknown", {})
    if work.rollout.mode == "colocate" and not work.card_gib:
        return _refusal("unknown", "no-card", {}, asks=("hardware.gpu_gib",))
    return None


def _no(name: str, **values: object) -> Refusal:
    return _refusal("impossible", name, values)


def _refusal(
    kind: Literal["unknown", "unmodelled", "impossible"],
    name: str,
    values: Mapping[str, object],
    asks: tuple[str, ...] = (),
) -> Refusal:
    pairs = tuple((key, str(value)) for key, value in values.items())
    reason = say(REFUSALS, name, pairs, "en")
    return Refusal(kind=kind, id=name, reason=reason, asks=asks, values=pairs)
