"""Memory of one machine: what offload, loading, saving and sleeping engines put into RAM."""

from __future__ import annotations

from trainrx.memory.model import Model, adapters_of
from trainrx.memory.use import GIB
from trainrx.model.memory import HostUse, Term, Workload

PROCESS_GIB = 3.0
"""A Python process with torch, its libraries and a CUDA context, GiB of RAM."""
OFFLOADED = 16.0
"""fp32 master and moments and an fp32 gradient per offloaded parameter (ZeRO-Offload,
arXiv 2101.06840, section 4); DeepSpeed pins all of it."""


def host_use(work: Workload, model: Model) -> HostUse:
    """Give the RAM one machine needs, GiB, without the data set and its workers."""
    ranks = max(1, work.ranks_per_node)
    share = ranks / max(1, work.world)
    trained = model.total - model.tower
    if work.tuner == "lora":
        trained = adapters_of(work.shape, work.rank, work.targets)
    elif work.tuner != "full":
        trained = (work.trained_b or 0.0) * 1e9
    resident = [Term(name="processes", gib=ranks * PROCESS_GIB)]
    if work.offload_optimizer:
        states = trained * OFFLOADED * share / GIB
        resident.append(Term(name="offloaded-optimizer", gib=states, source="arXiv 2101.06840"))
    if work.offload_params:
        weights = model.total * work.weight_bytes * share / GIB
        resident.append(Term(name="offloaded-weights", gib=weights, source="arXiv 2104.07857"))
    rollout = work.rollout
    if rollout.mode == "colocate" and rollout.sleep == 1:
        engines = ranks / max(1, rollout.tensor_parallel)
        asleep = engines * model.total * 2.0 / GIB
        resident.append(Term(name="sleeping-engine", gib=asleep, source="vLLM, sleep level 1"))
    whole = model.total * work.weight_bytes / GIB
    # ZeRO-3 and FSDP read the whole checkpoint in every process before they keep their part
    loading = whole * ranks if work.zero_stage == 3 and work.fsdp == 0 else min(whole, 5.0) * ranks
    saving = whole if work.zero_stage == 3 and work.tuner == "full" else 0.0
    steady = sum(term.gib for term in resident)
    extra = max(loading, saving)
    name = "loading" if loading >= saving else "saving"
    return HostUse(
        resident=steady,
        peak=max(steady + saving, ranks * PROCESS_GIB + loading),
        terms=(*resident, Term(name=name, gib=extra, source="transformers, from_pretrained")),
    )
