"""Candidates as differences from a workload: what a search combines without deriving anew.

Each move's effect is measured once, by working the job out with its values; a candidate puts the
differences together. What depends on several of them (replicas, accumulation) is computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from trainrx.model.memory import Images, Length, Rollout, Workload
from trainrx.model.planning import Move

PARTS = ("images", "rollout", "length")
COMPUTED = ("data", "accumulation")
SHORTEST = 16.0
"""Tokens: differences of lengths add up, but no sample vanishes."""


class Pull(NamedTuple):
    """A move with what it changes of the workload; `excludes` are levers it does not go with."""

    move: Move
    flat: Mapping[str, Any]
    images: Mapping[str, Any]
    rollout: Mapping[str, Any]
    length: tuple[float, float, float]
    how: str
    excludes: tuple[str, ...] = ()


class BatchSplit(NamedTuple):
    """How the effective batch is made up: `total` samples = micro-batch x accumulation x replicas.

    `total` None: the framework takes it as a whole, or nobody knows it.
    """

    total: int | None = None


def pull_of(move: Move, base: Workload, work: Workload, excludes: Sequence[str] = ()) -> Pull:
    """Compare the workload a move gives with the base."""
    flat = {
        name: getattr(work, name)
        for name in Workload.__struct_fields__
        if name not in (*PARTS, *COMPUTED) and getattr(work, name) != getattr(base, name)
    }
    if work.images is None or base.images is None:
        if work.images is not base.images:
            flat["images"] = work.images
        images: dict[str, Any] = {}
    else:
        images = _parts(base.images, work.images)
    one, other = work.length, base.length
    return Pull(
        move=move,
        flat=flat,
        images=images,
        rollout=_parts(base.rollout, work.rollout),
        length=(one.low - other.low, one.typical - other.typical, one.high - other.high),
        how=one.how if one.how != other.how else "",
        excludes=tuple(excludes),
    )


def _parts(base: Images | Rollout, work: Images | Rollout) -> dict[str, Any]:
    return {
        name: getattr(work, name)
        for name in base.__struct_fields__
        if getattr(work, name) != getattr(base, name)
    }


def is_void(pull: Pull) -> bool:
    """Tell whether a move changes nothing the memory model sees."""
    return not (pull.flat or pull.images or pull.rollout or any(pull.length))


def combine(base: Workload, pulls: Iterable[Pull], batch: BatchSplit) -> Workload:
    """Put moves together into the workload of a candidate."""
    flat: dict[str, Any] = {}
    images: dict[str, Any] = {}
    rollout: dict[str, Any] = {}
    low = typical = high = 0.0
    how = ""
    for pull in pulls:
        flat.update(pull.flat)
        images.update(pull.images)
        rollout.update(pull.rollout)
        low, typical = low + pull.length[0], typical + pull.length[1]
        high += pull.length[2]
        how = pull.how or how
    if images and base.images is not None:
        flat["images"] = msgspec.structs.replace(base.images, **images)
    if rollout:
        flat["rollout"] = msgspec.structs.replace(base.rollout, **rollout)
    if low or typical or high or how:
        flat["length"] = _length(base.length, (low, typical, high), how)
    get = flat.get
    group = get("tensor", base.tensor) * get("pipeline", base.pipeline)
    group *= get("context", base.context)
    data = max(1, get("world", base.world) // max(1, group))
    flat["data"] = data
    if batch.total is not None:
        micro = get("micro_batch", base.micro_batch)
        flat["accumulation"] = max(1, round(batch.total / max(1.0, micro * data)))
    return msgspec.structs.replace(base, **flat)


def _length(base: Length, more: tuple[float, float, float], how: str) -> Length:
    low = max(SHORTEST, base.low + more[0])
    typical = max(low, base.typical + more[1])
    return msgspec.structs.replace(
        base,
        low=low,
        typical=typical,
        high=max(typical, base.high + more[2]),
        how=how or base.how,
    )


def keeps_batch(work: Workload, batch: BatchSplit) -> bool:
    """Tell whether micro-batch x accumulation x replicas is still the effective batch."""
    if batch.total is None:
        return True
    return work.micro_batch * work.data * work.accumulation == batch.total


def nearly_keeps_batch(work: Workload, batch: BatchSplit) -> bool:
    """Tell whether the effective batch stays within a quarter of what it was."""
    if batch.total is None:
        return True
    now = work.micro_batch * work.data * work.accumulation
    return 0.75 * batch.total <= now <= 1.25 * batch.total


def divides(work: Workload) -> bool:
    """Tell whether the layout can run at all: degrees divide heads, experts and processes."""
    group = work.tensor * work.pipeline * work.context
    if work.world % group or (work.shape.heads or group) % work.tensor:
        return False
    if work.context > 1 and (work.shape.heads or 0) % work.context:
        return False
    if work.rollout.mode == "colocate" and work.world % work.rollout.tensor_parallel:
        return False
    if (work.shape.heads or 0) % max(1, work.rollout.tensor_parallel):
        return False
    experts = work.shape.experts or 0
    return not (work.expert > 1 and experts % work.expert)
