"""Where a job lies: its processes, how many share a model, what is sharded and offloaded."""

from __future__ import annotations

import msgspec

from trainrx.memory.job import TrainingJob
from trainrx.model.memory import Refusal, Workload

STAGES = range(4)
SHARE_STATES = ("shard_grad_op", "hybrid_shard_zero2")
"""FSDP strategies that keep the gathered weights through the backward pass."""


def with_layout(job: TrainingJob, work: Workload) -> Workload | Refusal:
    """Fill in degrees of parallelism, sharding and offloading; refuse what cannot run."""
    gpus = job.whole("hardware.gpus")
    if gpus is not None and gpus < 1:
        return job.impossible("no-gpus", "hardware.gpus", gpus=str(gpus))
    crowded = _crowded(job)
    if crowded is not None:
        return crowded
    world = _world(job)
    work = msgspec.structs.replace(
        work,
        world=world,
        tensor=_tensor(job),
        pipeline=job.degree("parallel.pipeline") if job.megatron else 1,
        context=_context(job),
        sequence=job.megatron and job.is_on("parallel.tensor_sequence"),
        expert=job.degree("parallel.expert"),
        ranks_per_node=job.positive("parallel.processes_per_node") or min(world, 8),
    )
    refused = _indivisible(job, work)
    if refused is not None:
        return refused
    group = work.tensor * work.pipeline * work.context
    work = msgspec.structs.replace(work, data=max(1, world // group))
    return _spread(job, _sharded(job, work))


def _crowded(job: TrainingJob) -> Refusal | None:
    processes, cards = (
        job.whole("parallel.processes_per_node"),
        job.whole("hardware.gpus_per_node"),
    )
    if processes is None or cards is None or processes <= cards or job.framework.counts_by_role:
        return None
    kinds = ("parallel.processes_per_node", "hardware.gpus_per_node")
    return job.impossible(
        "processes-exceed-gpus", *kinds, processes=str(processes), gpus=str(cards)
    )


def _world(job: TrainingJob) -> int:
    """Count the processes; one where nothing tells, all cards where a launcher takes them all."""
    told = job.positive("parallel.world_size")
    if told is not None:
        return told
    cards = job.positive("hardware.gpus") or 1
    if job.framework.one_process and not job.megatron:
        cards = 1
    job.assume("processes", "parallel.processes_per_node", processes=str(cards))
    return cards


def _tensor(job: TrainingJob) -> int:
    """Give the ranks that share each matrix; trainers of Hugging Face have none."""
    if job.megatron or job.framework.splits_matrices:
        return job.degree("parallel.tensor")
    return 1


def _context(job: TrainingJob) -> int:
    """Give the ranks that share one sequence: context, Ulysses or ring parallel."""
    degree = job.degree("parallel.sequence")
    if degree > 1:
        job.assume("context-length", "parallel.sequence")
    return degree


def _indivisible(job: TrainingJob, work: Workload) -> Refusal | None:
    group = work.tensor * work.pipeline * work.context
    heads, layers = work.shape.heads, work.shape.layers
    if heads and heads % work.tensor:
        return job.impossible(
            "heads-not-divisible",
            "parallel.tensor",
            heads=str(heads),
            tensor=str(work.tensor),
            param="parallel.tensor",
        )
    if layers and work.pipeline > layers:
        return job.impossible(
            "layers-fewer-than-stages",
            "parallel.pipeline",
            layers=str(layers),
            stages=str(work.pipeline),
        )
    if work.world % group:
        degrees = f"tensor {work.tensor}, pipeline {work.pipeline}, context {work.context}"
        return job.impossible(
            "world-not-divisible",
            "parallel.world_size",
            "parallel.tensor",
            "parallel.pipeline",
            "parallel.sequence",
            world=str(work.world),
            group=str(group),
            degrees=degrees,
        )
    if work.shape.experts and work.shape.experts % work.expert:
        return job.impossible(
            "experts-not-divisible",
            "parallel.expert",
            experts=str(work.shape.experts),
            expert=str(work.expert),
        )
    return None


def _sharded(job: TrainingJob, work: Workload) -> Workload:
    """Say what ZeRO or FSDP splits, over how many cards, and what they keep off the card."""
    offloads = job.is_on("parallel.offload_optimizer"), job.is_on("parallel.offload_params")
    if job.fsdp:
        if job.framework.hybrid_engine:
            # what is off the card between turns is there while the actor trains
            offloads = False, False
        on_host = job.is_on("parallel.fsdp_offload") or offloads[1]
        return msgspec.structs.replace(
            work,
            fsdp=job.fsdp,
            zero_stage=2 if _strategy(job) in SHARE_STATES else 3,
            reshard=_strategy(job) not in SHARE_STATES,
            defers_sync=_defers_sync(job),
            shards=_fsdp_shards(job, work),
            # FSDP keeps optimizer states where the parameters are
            offload_params=on_host,
            offload_optimizer=on_host or offloads[0],
        )
    if not job.deepspeed:
        # Megatron can keep its optimizer on the host as well (--optimizer_cpu_offload)
        alone = job.megatron and job.facts.value("megatron.distributed_optimizer") is False
        return msgspec.structs.replace(
            work, offload_optimizer=offloads[0] and job.megatron, shards=int(alone)
        )
    return msgspec.structs.replace(
        work,
        zero_stage=_stage(job),
        shards=job.positive("deepspeed.hpz_partition") or 0,
        offload_optimizer=offloads[0],
        offload_params=offloads[1],
    )


def _defers_sync(job: TrainingJob) -> bool:
    """Tell whether gradients stay whole until the last micro-batch."""
    several = (job.positive("train.grad_accum") or 1) > 1
    on = job.facts.value("parallel.defer_grad_sync") is not False
    return several and on and job.may_be(job.framework.defers_sync)


def _strategy(job: TrainingJob) -> str:
    return job.text("parallel.fsdp_sharding") or job.text("parallel.fsdp")


def _fsdp_shards(job: TrainingJob, work: Workload) -> int:
    """Count the cards of one copy where hybrid sharding keeps it within a machine."""
    size = job.positive("parallel.fsdp_size")
    if size is not None and size < work.world:
        return size
    if "hybrid" in _strategy(job):
        return work.ranks_per_node if work.ranks_per_node < work.world else 0
    return 0


def _stage(job: TrainingJob) -> int:
    stage = job.whole("parallel.zero_stage")
    if stage in STAGES and stage is not None:
        return stage
    setting = job.text("parallel.deepspeed") or "deepspeed"
    job.leave_open(
        "sharding", "sharding", "parallel.deepspeed", setting=setting[:80], assumed="ZeRO-2"
    )
    return 2


def _spread(job: TrainingJob, work: Workload) -> Workload:
    """Spread the layers of a process over the cards left to it (`device_map: auto`)."""
    cards = job.positive("hardware.gpus_per_node")
    processes = job.positive("parallel.processes_per_node") or 1
    plain = not (job.deepspeed or job.fsdp or job.megatron)
    told = job.text("parallel.device_map")
    if job.framework.spreads_layers and plain and cards and cards // processes > 1:
        if told in ("", "auto", "balanced", "sequential", "balanced_low_0"):
            return msgspec.structs.replace(work, device_map=cards // processes)
    elif told == "auto" and plain and cards and processes == 1:
        return msgspec.structs.replace(work, device_map=cards)
    return work
