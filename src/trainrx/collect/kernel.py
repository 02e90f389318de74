"""What the kernel wrote since a job began, without what it did to others."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from trainrx.collect.bundle import TakenItem
from trainrx.collect.commands import CommandOutput, Runner
from trainrx.collect.processes import LiveJob
from trainrx.collect.stacks import Taken, host_folder
from trainrx.model.bundle import BundleGap, BundleItem, ItemKind

COMMAND_LIMIT = 5.0
"""Seconds a command has; nvidia-smi of a card that fell off the bus does not come back."""
MOST_LINES = 3000
_SINCE_BOOT = re.compile(r"^(?:<\d+>)?\[\s*(\d+\.\d+)\]")
_KILL_BEGINS, _KILL_ENDS = "invoked oom-killer", "Killed process"
_GROUP = re.compile(r"\boom_memcg=(/[^,\s]*)")


class ControlGroup(NamedTuple):
    """A control group of a process that counts memory."""

    version: int
    path: str


def kernel(job: LiveJob, run: Runner) -> Iterator[Taken]:
    """Take the lines of the kernel since a job began."""
    began = min((one.started for one in job.processes if one.started), default=time.time())
    journal = ("journalctl", "--dmesg", "--no-pager", "--output=short-iso", f"--since=@{began:.0f}")
    for argv, file in ((("dmesg",), "dmesg.txt"), (journal, "journal.txt")):
        done = run(argv, COMMAND_LIMIT)
        if done.status == 0:
            lines = done.text.splitlines()
            lines = since(lines, began) if argv == ("dmesg",) else lines
            kept = of_job(lines, [told.path for one in job.ranks for told in groups_of(one.pid)])
            text = "".join(f"{line}\n" for line in kept[-MOST_LINES:])
            done = msgspec.structs.replace(done, out=text.encode())
            yield printed("kernel", file, done, " ".join(argv), job)
            return
    yield BundleGap(
        kind="kernel", reason="not-permitted", right="kernel-log", name="dmesg", host=job.host
    )


def since(lines: Sequence[str], at: float) -> list[str]:
    """Give the lines of `dmesg` since some time; one without a stamp belongs to that above it."""
    boot = time.time() - float((text_of(Path("/proc/uptime")) or "0").split()[0])
    kept: list[str] = []
    is_new = True
    for line in lines:
        stamp = _SINCE_BOOT.match(line)
        is_new = is_new if stamp is None else boot + float(stamp[1]) >= at
        if is_new:
            kept.append(line)
    return kept


def of_job(lines: Sequence[str], groups: Sequence[str]) -> list[str]:
    """Leave out the kills for want of memory in control groups that the job is not in.

    Where its groups are not seen from outside of its container, any may be its own.
    """
    if not any(group != "/" for group in groups):
        return list(lines)
    kept: list[str] = []
    report: list[str] = []
    for line in lines:
        if _KILL_BEGINS in line:
            kept += report
            report = [line]
        elif report:
            report.append(line)
            if _KILL_ENDS in line:
                kept += report if _is_own(report, groups) else ()
                report = []
        else:
            kept.append(line)
    return [*kept, *report]


def _is_own(report: Sequence[str], groups: Sequence[str]) -> bool:
    named = [found[1] for line in report if (found := _GROUP.search(line)) is not None]
    return not named or any(
        f"{group.rstrip('/')}/".startswith(f"{named[0].rstrip('/')}/") for group in groups
    )


def groups_of(pid: int) -> Iterator[ControlGroup]:
    """Give the control groups of a process that count its memory."""
    for line in (text_of(Path(f"/proc/{pid}/cgroup")) or "").splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if "memory" in controllers.split(","):
            yield ControlGroup(1, path)
        elif number == "0" and not controllers:
            yield ControlGroup(2, path)


def printed(kind: ItemKind, file: str, done: CommandOutput, said: str, job: LiveJob) -> TakenItem:
    """Give what a command printed as an item."""
    item = BundleItem(
        path=f"{host_folder(job.host)}/{file}", kind=kind, host=job.host, at=done.at, command=said
    )
    return TakenItem(item=item, text=done.text)


def text_of(path: Path) -> str | None:
    """Read a file of the kernel; None where it may not be read."""
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return None
