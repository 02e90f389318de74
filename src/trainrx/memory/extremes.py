"""The ends of what a job may be where its launch leaves terms open."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import gcd

import msgspec

from trainrx.model.memory import OpenTerm, Workload

MOST_SAMPLES = 64.0
"""Samples of a micro-batch at most, where nothing tells their number."""
_Change = Callable[[Workload], Workload]


def easiest(work: Workload) -> Workload:
    """Give the job with every open term as it takes the least memory."""
    return _with(work, _EASIEST)


def hardest(work: Workload) -> Workload:
    """Give the job with every open term as it takes the most."""
    return _with(work, _HARDEST)


def may_raise(term: OpenTerm) -> bool:
    """Tell whether a term that is open may take more than what is taken for granted."""
    return term == "length" or term in _HARDEST


def _with(work: Workload, changes: Mapping[OpenTerm, _Change]) -> Workload:
    for term, change in changes.items():
        if term in work.open_terms:
            work = change(work)
    return msgspec.structs.replace(work, open_terms=())


def _sharded(work: Workload) -> Workload:
    """Split everything over all ranks, and keep weights and states on the host."""
    if work.precision == "megatron":
        tensor = gcd(work.shape.heads or 1, work.world)
        return msgspec.structs.replace(
            work,
            tensor=tensor,
            data=work.world // tensor,
            pipeline=1,
            context=1,
            sequence=True,
            offload_optimizer=True,
        )
    return msgspec.structs.replace(
        work,
        zero_stage=3,
        fsdp=0,
        shards=0,
        device_map=1,
        reshard=True,
        defers_sync=False,
        offload_optimizer=True,
        offload_params=True,
        precision="fp32" if work.precision == "fp32" else "deepspeed",
    )


def _whole(work: Workload) -> Workload:
    """Keep all of it in every process."""
    if work.precision == "megatron":
        return msgspec.structs.replace(work, offload_optimizer=False)
    return msgspec.structs.replace(
        work,
        zero_stage=0,
        fsdp=0,
        shards=0,
        device_map=1,
        offload_optimizer=False,
        offload_params=False,
        precision="autocast" if work.precision == "deepspeed" else work.precision,
    )


def _offloaded(work: Workload) -> Workload:
    params = work.zero_stage == 3
    return msgspec.structs.replace(work, offload_optimizer=True, offload_params=params)


def _small_adapters(work: Workload) -> Workload:
    """Train adapters of two matrices on weights of 4 bits."""
    return msgspec.structs.replace(
        work,
        tuner="lora",
        rank=min(work.rank, 8),
        targets=("q", "v"),
        modules_b=0.0,
        trained_b=None,
        quant_bits=4,
        quant_method="bnb",
        embeddings_upcast=False,
    )


def _full(work: Workload) -> Workload:
    return msgspec.structs.replace(
        work, tuner="full", quant_bits=None, trained_b=None, freeze_llm=False
    )


def _computed_again(work: Workload) -> Workload:
    return msgspec.structs.replace(work, checkpointing=True, recompute="full")


def _kept(work: Workload) -> Workload:
    return msgspec.structs.replace(work, checkpointing=False, recompute="none")


def _two_bytes(work: Workload) -> Workload:
    own = work.precision in ("deepspeed", "megatron")
    return msgspec.structs.replace(
        work, weight_bytes=2.0, precision=work.precision if own else "pure"
    )


def _four_bytes(work: Workload) -> Workload:
    return msgspec.structs.replace(work, weight_bytes=4.0, precision="fp32")


def _fused(work: Workload) -> Workload:
    return msgspec.structs.replace(
        work, attention="flash", loss="linear", optimizer="adamw_8bit", foreach=False
    )


def _unfused(work: Workload) -> Workload:
    return msgspec.structs.replace(work, optimizer="adamw_torch", foreach=True)


def _one_sample(work: Workload) -> Workload:
    return msgspec.structs.replace(work, micro_batch=1.0)


def _many_samples(work: Workload) -> Workload:
    return msgspec.structs.replace(work, micro_batch=max(work.micro_batch, MOST_SAMPLES))


_EASIEST: Mapping[OpenTerm, _Change] = {
    "precision": _two_bytes,
    "sharding": _sharded,
    "offload": _offloaded,
    "tuner": _small_adapters,
    "checkpointing": _computed_again,
    "kernels": _fused,
    "batch": _one_sample,
}
"""The length has an interval of its own; sharding decides how weights are kept, so it comes after
their precision."""
_HARDEST: Mapping[OpenTerm, _Change] = {
    "sharding": _whole,
    "tuner": _full,
    "checkpointing": _kept,
    "precision": _four_bytes,
    "kernels": _unfused,
    "batch": _many_samples,
}
