"""What cannot run, or is not modelled: said before a number is worked out."""

from __future__ import annotations

import math

from trainrx.memory.model import Model
from trainrx.memory.states import STATES
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


def _impossible(work: Workload, model: Model) -> Refusal | None:
    for name in COUNTS:
        count = getattr(work, name)
        if count < 1:
            return _no("count", f"{name} {count}: expected at least 1")
    for name, size in (
        ("micro_batch", work.micro_batch),
        ("length", work.length.typical),
        ("length", work.length.high),
    ):
        if not math.isfinite(size) or not 0 < size <= MOST_TOKENS:
            return _no("count", f"{name} {size:g}: expected a positive number")
    if model.heads % work.tensor:
        return _no(
            "tensor-heads",
            f"tensor parallelism {work.tensor} does not divide {model.heads} attention heads",
        )
    degrees = work.tensor * work.pipeline * work.context
    if work.world % degrees:
        return _no(
            "tensor-world",
            f"tensor x pipeline x context = {degrees} does not divide {work.world} GPUs",
        )
    if work.pipeline > model.layers:
        return _no("pipeline-layers", f"{work.pipeline} stages for {model.layers} layers")
    share = work.rollout.share
    if share is not None and not 0 < share <= 1:
        return _no("share", f"the engine's share of the card is {share:g}: expected 0 to 1")
    return None


def _unmodelled(work: Workload) -> Refusal | None:
    if work.optimizer not in STATES:
        reason = f"optimizer {work.optimizer}: its states are not modelled"
        return Refusal(kind="unmodelled", id="optimizer", reason=reason)
    if work.tuner in ("adapter", "freeze") and work.trained_b is None:
        return Refusal(kind="unknown", id="trained", reason="how much is trained is not known")
    if work.rollout.mode == "colocate" and not work.card_gib:
        return Refusal(
            kind="unknown",
            id="card",
            reason="the engine takes a share of the card, whose size is not known",
            asks=("hardware.gpu_gib",),
        )
    return None


def _no(name: str, reason: str) -> Refusal:
    return Refusal(kind="impossible", id=name, reason=reason)
