"""What the machine says: its cards, the kernel, memory, disks, limits."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from trainrx.collect.bundle import TakenItem
from trainrx.collect.commands import NOT_FOUND, TIMED_OUT, Runner
from trainrx.collect.kernel import COMMAND_LIMIT, groups_of, kernel, printed, text_of
from trainrx.collect.processes import LiveJob
from trainrx.collect.stacks import Taken, host_folder
from trainrx.model.bundle import BundleGap, BundleItem, ItemKind


class MachineCommand(NamedTuple):
    """A command that says something of a machine; `wanted`: it is missed where it is not there."""

    kind: ItemKind
    file: str
    argv: tuple[str, ...]
    wanted: bool = False


LIMITS = ("memory.max", "memory.peak", "memory.limit_in_bytes", "memory.max_usage_in_bytes")
"""Files beside the counts, of version 2 and 1."""
COMMANDS = (
    MachineCommand("gpu", "nvidia-smi.txt", ("nvidia-smi",)),
    MachineCommand("gpu", "nvidia-smi-q.txt", ("nvidia-smi", "-q")),
    MachineCommand("gpu", "npu-smi.txt", ("npu-smi", "info")),
    MachineCommand("gpu", "rocm-smi.txt", ("rocm-smi",)),
    MachineCommand("memory", "free.txt", ("free", "-b"), wanted=True),
    MachineCommand("disk", "df.txt", ("df", "-h"), wanted=True),
)


def machine(job: LiveJob, run: Runner) -> Iterator[Taken]:
    """Take what this machine says."""
    for command in COMMANDS:
        yield from _said(command, job, run)
    yield from kernel(job, run)
    yield from _control_group(job)
    for one in job.ranks[:1]:
        yield from _file("limits", "limits.txt", Path(f"/proc/{one.pid}/limits"), job)


def _said(command: MachineCommand, job: LiveJob, run: Runner) -> Iterator[Taken]:
    done = run(command.argv, COMMAND_LIMIT)
    said = " ".join(command.argv)
    if done.text.strip():
        yield printed(command.kind, command.file, done, said, job)
    if done.status == TIMED_OUT:
        yield BundleGap(kind=command.kind, reason="too-slow", name=said, host=job.host)
    elif done.status not in (0, NOT_FOUND) or (done.status == NOT_FOUND and command.wanted):
        why = (done.error.strip() or done.text.strip() or f"status {done.status}")[:200]
        yield BundleGap(kind=command.kind, reason="failed", name=said, detail=why, host=job.host)


def _control_group(job: LiveJob) -> Iterator[Taken]:
    """Take what the control group of the job counts: kills among it."""
    for one in job.ranks[:1]:
        found = next((place for place in _places(one.pid) if place.is_file()), None)
        if found is not None:
            yield from _file("memory", found.name, found, job)
            for name in LIMITS:
                if (found.parent / name).is_file():
                    yield from _file("memory", name, found.parent / name, job)


def _places(pid: int) -> Iterator[Path]:
    """Give where the kernel counts the kills of a group, of version 2 and 1, the nearest first."""
    for told in groups_of(pid):
        inside = PurePosixPath("/" + told.path.strip("/"))
        for path in (inside, *inside.parents):
            if told.version == 2:
                yield Path("/sys/fs/cgroup") / str(path).lstrip("/") / "memory.events"
            else:
                yield Path("/sys/fs/cgroup/memory") / str(path).lstrip("/") / "memory.oom_control"


def _file(kind: ItemKind, file: str, path: Path, job: LiveJob) -> Iterator[Taken]:
    text = text_of(path)
    if text is None:
        yield BundleGap(kind=kind, reason="unreadable", name=str(path), host=job.host)
        return
    item = BundleItem(
        path=f"{host_folder(job.host)}/{file}",
        kind=kind,
        host=job.host,
        at=time.time(),
        source=str(path),
    )
    yield TakenItem(item=item, text=text)
