"""What a launch asks for against what its container or scheduler gives it."""

from __future__ import annotations

from collections.abc import Iterator

from trainrx.launchers.allocation import (
    GPUS_PER_NODE,
    NODES,
    SHARED_MEMORY,
    TASKS_PER_NODE,
)
from trainrx.linter.finders.conditions import place
from trainrx.linter.job import LintedJob, RuleHit
from trainrx.linter.places import LineRange

_PROCESSES, _NODES = "parallel.processes_per_node", "parallel.nodes"
_TENSOR, _PIPELINE = "vllm.tensor_parallel", "vllm.pipeline_parallel"
_OF_ALL_NODES = ("num_processes", "num-processes")
"""Options that count the processes of the whole job."""
_WORKERS = "train.dataloader_workers"
ROOM_GIB = 1.0
"""NCCL's own guide gives a container so much."""
_TASKS = frozenset({"ntasks", "ntasks_per_node"})
_BY_SRUN = _TASKS | {"nodelist", "exclusive", "gres", "gpus_per_node"}


def find(job: LintedJob) -> Iterator[RuleHit]:
    """Compare processes, nodes, tasks and shared memory with what is given."""
    if job.launch.role == "trainer":
        yield from _tasks(job)
        yield from _processes(job)
        yield from _nodes(job)
        yield from _shared_memory(job)
    else:
        yield from _engine(job)


def _engine(job: LintedJob) -> Iterator[RuleHit]:
    """Compare the cards an engine splits its model over with those of its pods."""
    gpus, nodes = job.facts.whole(GPUS_PER_NODE), job.facts.whole(NODES) or 1
    ranks = (job.facts.whole(_TENSOR) or 1) * (job.facts.whole(_PIPELINE) or 1)
    if gpus is None or ranks <= gpus * nodes or not _is_read(job, _TENSOR):
        return
    values = {"processes": str(ranks), "gpus": str(gpus * nodes), "at": _cited(job, GPUS_PER_NODE)}
    yield RuleHit("processes-exceed-allocation", _at(job, _TENSOR), values)


def _tasks(job: LintedJob) -> Iterator[RuleHit]:
    """Tell when srun starts a launcher once for each process that launcher starts itself."""
    tasks, processes = job.facts.whole(TASKS_PER_NODE), job.facts.get(_PROCESSES)
    started = any(item.name in _TASKS for item in job.launch.launcher)
    if not started or tasks is None or tasks < 2 or processes is None or processes.how != "read":
        return
    count = job.facts.whole(_PROCESSES)
    # a program srun starts itself has as many processes as there are tasks
    if count is None or set(processes.origins) & set(job.facts.origins(TASKS_PER_NODE)):
        return
    values = {"tasks": str(tasks), "processes": str(count), "all": str(tasks * count)}
    yield RuleHit("launcher-per-task", _at(job, TASKS_PER_NODE), values)


def _processes(job: LintedJob) -> Iterator[RuleHit]:
    gpus, processes = job.facts.whole(GPUS_PER_NODE), job.facts.whole(_PROCESSES)
    if gpus is None or processes is None or processes <= gpus or not _is_read(job, _PROCESSES):
        return
    setting = job.resolved.settings.get(_PROCESSES)
    if setting is not None and setting.spelled_as in _OF_ALL_NODES:
        nodes = job.facts.whole("hardware.nodes") or 1
        if processes * nodes <= gpus * (job.facts.whole(NODES) or 1):
            return
    values = {"processes": str(processes), "gpus": str(gpus), "at": _cited(job, GPUS_PER_NODE)}
    yield RuleHit("processes-exceed-allocation", _at(job, _PROCESSES), values)


def _nodes(job: LintedJob) -> Iterator[RuleHit]:
    """Compare the nodes of a rendezvous with those of the job; a driver of Ray starts on one."""
    given, told = job.facts.whole(NODES), job.facts.whole("hardware.nodes")
    if given is None or told is None or given == told or job.launch.host:
        return
    if not job.framework.training_arguments or _is_step(job):
        return
    named = _is_read(job, _NODES)
    if not named and (not job.launch.env_complete or told > 1):
        return
    values = {"nodes": str(told), "given": str(given), "at": _cited(job, NODES)}
    severity = "" if told > given else "warning"
    at = _at(job, _NODES if named else NODES)
    yield RuleHit("nodes-differ-from-allocation", at, values, severity=severity)


def _is_step(job: LintedJob) -> bool:
    """Tell whether srun itself says how many of the job's nodes it starts this on."""
    named = [item.origin for item in job.launch.launcher if item.name == "nnodes"]
    by_srun = any(item.name in _BY_SRUN for item in job.launch.launcher)
    return by_srun and len(named) == 1 and named[0] in job.facts.origins(_NODES)


def _shared_memory(job: LintedJob) -> Iterator[RuleHit]:
    room = job.facts.number(SHARED_MEMORY)
    if room is None or room >= ROOM_GIB:
        return
    workers = job.facts.number(_WORKERS) or 0
    processes = job.facts.whole("parallel.world_size") or 1
    if workers < 1 and processes < 2:
        return
    values = {"size": f"{room * 1024:.0f}"}
    yield RuleHit("shared-memory-small", _at(job, SHARED_MEMORY), values)


def _is_read(job: LintedJob, name: str) -> bool:
    item = job.facts.get(name)
    return item is not None and item.how == "read"


def _at(job: LintedJob, name: str) -> LineRange:
    item = job.facts.get(name)
    return place([] if item is None else [item], job)


def _cited(job: LintedJob, name: str) -> str:
    return ", ".join(str(origin) for origin in job.facts.origins(name)[:1])
