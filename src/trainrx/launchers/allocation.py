"""What containers and schedulers give a launch: nodes, GPUs, memory, shared memory.

https://docs.docker.com/reference/cli/docker/container/run/
https://slurm.schedmd.com/sbatch.html
https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from trainrx.launchers.batch import PREFIXES
from trainrx.model.facts import Fact, How, Origin, fact
from trainrx.model.job import RawArg, RawLaunch
from trainrx.model.pattern import late

NODES, GPUS_PER_NODE = "allocation.nodes", "allocation.gpus_per_node"
TASKS_PER_NODE = "allocation.tasks_per_node"
HOST_RAM, SHARED_MEMORY = "hardware.host_ram_gib", "hardware.shm_gib"
SLURM = "slurm_"
"""What the names of `#SBATCH` lines begin with where no srun takes them over."""
SCHEDULERS = (SLURM, *PREFIXES.values())
DEFAULT_SHARED = "64m"
"""What a container gets of /dev/shm where nobody says more."""
_COUNT = late(r"[1-9]\d{0,5}")
_GRES = late(r"(?:gres/)?gpu(?::[A-Za-z][\w.-]{0,40})?(?:[:=](\d{1,4}))?(?:\(.{0,40}\))?")
_TYPED = late(r"(?:[A-Za-z][\w.-]{0,40}:)?(\d{1,6})")
_DEVICES = late(r"(?:device=|nvidia\.com/gpu=)?([\w,:-]{1,400})")
_DEVICE = late(r"\d{1,3}(?::\d{1,2})?|(?:GPU|MIG)-[\w-]{4,60}")
_NPU = late(r"/dev/davinci\d{1,3}(?::.{0,80})?")
_AMOUNT = late(r"(\d{1,15}(?:\.\d{1,6})?)\s{0,2}([bkmgtp]?)(?:i?b?)", re.IGNORECASE)
_POWERS = {"b": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_DEVICES_OF = ("gpus", "device", "runtime", "privileged")
"""Options by which a container gets cards."""
_OF_THE_HOST = frozenset({"nv", "rocm", "nvccli", "bind", "overlay"})
"""Options of apptainer, which runs a program with the host's own /dev/shm."""


class _Told(msgspec.Struct, frozen=True):
    """The values of options by name, the decisive one, and where they stand."""

    options: dict[str, RawArg]

    def text(self, *names: str) -> str:
        """Give the value of the first of some options that is told; "" without."""
        found = self.at(*names)
        return found.values[-1].strip() if found is not None and found.values else ""

    def at(self, *names: str) -> RawArg | None:
        """Give the first of some options that is told."""
        return next((self.options[name] for name in names if name in self.options), None)

    def count(self, *names: str) -> int | None:
        """Give a plain number of one or more."""
        text = self.text(*names)
        return int(text) if _COUNT.fullmatch(text) else None

    def origin(self, *names: str) -> tuple[Origin, ...]:
        """Give where these stand."""
        return tuple(self.options[name].origin for name in names if name in self.options)


def allocation_facts(launch: RawLaunch) -> Iterator[Fact]:
    """Give what the launch runs on, as far as what stands around it says so."""
    if not (launch.container or launch.launcher):
        return
    container = _Told({item.name: item for item in (*_devices(launch), *launch.container)})
    slurm = _slurm(launch)
    for told, facts in ((container, _of_container), (slurm, _of_slurm)):
        yield from facts(told)


def _devices(launch: RawLaunch) -> Iterator[RawArg]:
    """Count the NPUs that are handed on one by one: `--device=/dev/davinci0`."""
    named = [
        item
        for item in launch.container
        if item.name == "device" and item.values and _NPU.fullmatch(item.values[-1])
    ]
    if named:
        yield RawArg(name="gpus", values=(str(len(named)),), origin=named[0].origin)


def _slurm(launch: RawLaunch) -> _Told:
    """Give what Slurm was asked for: of options given twice, those of the job, then of srun."""
    found: dict[str, RawArg] = {}
    for item in (*launch.container, *launch.launcher):
        own = next((start for start in SCHEDULERS if item.name.startswith(start)), "")
        if own or item in launch.launcher:
            found.setdefault(item.name.removeprefix(own), item)
    asked = {"gres", "gpus_per_node", "gpus_per_task", "ntasks", "ntasks_per_node", "mem"}
    named = any(item.name.startswith(SCHEDULERS) for item in launch.container)
    return _Told(found if named or asked & set(found) else {})


def _of_container(told: _Told) -> Iterator[Fact]:
    nodes = told.count("replicas")
    if nodes is not None:
        yield fact(NODES, nodes, *told.origin("replicas"))
    gpus = device_count(told.text("gpus")) or device_count(told.text("device"))
    if gpus is not None:
        yield fact(GPUS_PER_NODE, gpus, *told.origin("gpus", "device")[:1])
    if told.at(*_DEVICES_OF) is None:  # the work is done elsewhere, as behind a driver of Ray
        return
    memory = amount_gib(told.text("memory"))
    if memory:
        yield fact(HOST_RAM, memory, *told.origin("memory"))
    yield from _shared(told)


def _shared(told: _Told) -> Iterator[Fact]:
    """Say how large /dev/shm is; of a container that was started before, nobody knows."""
    how: How = "read"
    text, names = told.text("shm_size"), ("shm_size",)
    mounted = "/dev/shm" in " ".join(told.text(name) for name in ("volume", "mount", "tmpfs"))  # noqa: S108  # the path is what is looked for
    if told.at("shm_size") is None:
        if told.text("ipc") not in ("", "private", "shareable", "none") or mounted:
            return
        if told.at("image") is None or told.options.keys() & _OF_THE_HOST:
            return
        text, names, how = DEFAULT_SHARED, ("image",), "default"
    size = amount_gib(text)
    if size:
        yield fact(SHARED_MEMORY, size, *told.origin(*names), how=how)


def _of_slurm(told: _Told) -> Iterator[Fact]:
    nodes = told.count("nnodes")
    if nodes is not None:
        yield fact(NODES, nodes, *told.origin("nnodes"))
    tasks = told.count("ntasks_per_node")
    total = told.count("ntasks")
    counted = nodes if told.at("nnodes") is not None else 1
    if tasks is None and total is not None and counted and total % counted == 0:
        tasks = total // counted
    if tasks is not None:
        yield fact(TASKS_PER_NODE, tasks, *told.origin("ntasks_per_node", "ntasks")[:1])
    yield from _slurm_gpus(told, nodes, tasks)
    yield from _slurm_memory(told, tasks)


def _slurm_gpus(told: _Told, nodes: int | None, tasks: int | None) -> Iterator[Fact]:
    each = _gres_count(told.text("gres")) or _typed_count(told.text("gpus_per_node"))
    names: tuple[str, ...] = ("gres", "gpus_per_node")
    if each is None and (per_task := _typed_count(told.text("gpus_per_task"))) is not None:
        each, names = per_task * (tasks or 1), ("gpus_per_task",)
    total = _typed_count(told.text("gpus"))
    if each is None and total is not None and total % (nodes or 1) == 0:
        each, names = total // (nodes or 1), ("gpus",)
    if each:
        yield fact(GPUS_PER_NODE, each, *told.origin(*names)[:1])


def _slurm_memory(told: _Told, tasks: int | None) -> Iterator[Fact]:
    """Give the memory of a node; `--mem=0` asks for all there is."""
    memory, names = amount_gib(told.text("mem"), bare="m"), ("mem",)
    per_cpu = amount_gib(told.text("mem_per_cpu"), bare="m")
    cpus = told.count("cpus_per_task")
    if memory is None and per_cpu is not None and cpus is not None and tasks is not None:
        memory, names = per_cpu * cpus * tasks, ("mem_per_cpu",)
    if memory:
        yield fact(HOST_RAM, round(memory, 3), *told.origin(*names))


def _gres_count(text: str) -> int | None:
    """Count the GPUs among generic resources: `gpu:a100:8,nvme:1`."""
    for part in text.split(","):
        found = _GRES.fullmatch(part.strip())
        if found is not None:
            return int(found[1] or 1)
    return None


def _typed_count(text: str) -> int | None:
    found = _TYPED.fullmatch(text)
    return int(found[1]) if found is not None else None


def device_count(text: str) -> int | None:
    """Count the devices `--gpus` names (`8`, `device=0,1`); None for all of them."""
    plain = text.strip("\"' ")
    if _COUNT.fullmatch(plain):
        return int(plain)
    found = _DEVICES.fullmatch(plain)
    names = found[1].split(",") if found is not None and plain != found[1] else []
    return len(set(names)) if names and all(_DEVICE.fullmatch(name) for name in names) else None


def amount_gib(text: str, bare: str = "b") -> float | None:
    """Read an amount of memory in GiB; a number without a unit counts in `bare`."""
    found = _AMOUNT.fullmatch(text.strip())
    if found is None:
        return None
    unit = found[2].lower() or bare
    return round(float(found[1]) * 1024.0 ** (_POWERS[unit] - 3), 6)
