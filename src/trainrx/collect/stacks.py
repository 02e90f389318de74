"""Take the stacks of the processes of a job with py-spy, and what they computed meanwhile.

py-spy stops a process while it looks at it. It runs once at a time for each, ends after a time
limit, and a process it left stopped is resumed.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from trainrx.collect.bundle import TakenItem
from trainrx.collect.commands import NOT_FOUND, TIMED_OUT, CommandOutput, Runner
from trainrx.collect.processes import LiveJob
from trainrx.collect.roles import LiveProcess
from trainrx.model.bundle import BundleGap, BundleItem, GapReason, GapRight

STACK_LIMIT = 6.0
"""Seconds py-spy has for one process; with the libraries of torch it takes less than one."""
AT_ONCE = 8
"""Processes that are looked at at the same time."""
MOST_WORKERS = 8
"""Workers of one rank that are looked at; what they do is the same."""
FAILED = 1
"""The status of py-spy that could not read a process."""
STOPPED = ("T", "t")
"""States of `/proc/PID/stat`: stopped by a signal, stopped by a tracer."""
Taken = TakenItem | BundleGap


class StackTaker:
    """Takes the stacks of the processes of one job, in several rounds."""

    def __init__(self, job: LiveJob, run: Runner, binary: str | None = None) -> None:
        self.job = job
        self.run = run
        self.binary = binary or py_spy()
        self.refused: set[int] = set()

    def round(self, number: int) -> Iterator[Taken]:
        """Look at all processes once."""
        targets = tuple(self.targets())
        if not self.binary:
            yield self._gap("not-installed", "install", name="py-spy")
        for one in targets:
            yield from usage_of(one, self.job.host, number)
        if self.binary:
            with ThreadPoolExecutor(min(AT_ONCE, os.cpu_count() or 1)) as pool:
                yield from pool.map(lambda one: self.taken(one, number), targets)

    def targets(self) -> Iterator[LiveProcess]:
        """Give the processes that are looked at, without those that could not be before."""
        workers: dict[int | None, int] = {}
        for one in self.job.processes:
            if one.role == "worker":
                workers[one.rank] = workers.get(one.rank, 0) + 1
                if workers[one.rank] > MOST_WORKERS:
                    continue
            is_target = one.role in ("rank", "worker") or (one.role == "engine" and one.is_python)
            if is_target and one.pid not in self.refused:
                yield one

    def taken(self, one: LiveProcess, number: int) -> Taken:
        """Dump the stacks of a process."""
        command = [self.binary, "dump", "--json", "--pid", str(one.pid)]
        was_stopped = _state(one.pid) in STOPPED
        done = self.run(command, STACK_LIMIT)
        if done.status == FAILED:  # it moved on while it was read
            done = self.run(command, STACK_LIMIT)
        if done.status != 0 and not was_stopped:
            resume(one.pid)
        if done.status == 0 and done.out.lstrip()[:1] == b"[":
            item = BundleItem(
                path=f"{folder(one, self.job.host)}/py-spy-{number}.json",
                kind="stacks",
                host=self.job.host,
                pid=one.pid,
                parent=one.parent,
                rank=one.rank,
                at=done.at,
                round=number,
                command=f"py-spy dump --json --pid {one.pid}",
            )
            return TakenItem(item=item, text=done.text)
        gap = self._refused(one, done)
        if gap.right or gap.reason == "too-slow":
            self.refused.add(one.pid)
        return gap

    def _refused(self, one: LiveProcess, done: CommandOutput) -> BundleGap:
        """Say why a process could not be looked at, and which right would help."""
        error = done.error
        if not Path(f"/proc/{one.pid}").exists():
            return self._gap("ended", one=one)
        if done.status == TIMED_OUT:
            return self._gap("too-slow", one=one)
        if done.status == NOT_FOUND:
            return self._gap("not-installed", "install", one=one, name="py-spy")
        if "ermission" in error or "EPERM" in error or "not permitted" in error:
            return self._gap("not-permitted", right_to_trace(one.pid), one=one)
        said = error.strip().splitlines()[0] if error.strip() else f"status {done.status}"
        return self._gap("failed", one=one, name="py-spy", detail=said[:200])

    def _gap(
        self,
        reason: GapReason,
        right: GapRight | None = None,
        *,
        one: LiveProcess | None = None,
        name: str = "",
        detail: str = "",
    ) -> BundleGap:
        return BundleGap(
            kind="stacks",
            reason=reason,
            right=right,
            name=name,
            detail=detail,
            host=self.job.host,
            pid=None if one is None else one.pid,
            rank=None if one is None else one.rank,
        )


def host_folder(host: str) -> str:
    """Name the place of a machine in a bundle."""
    return re.sub(r"[^\w.-]|^\.+", "-", host, flags=re.ASCII) or "host"


def folder(one: LiveProcess, host: str) -> str:
    """Name the place of a process in a bundle."""
    safe = host_folder(host)
    if one.role == "rank" and one.rank is not None:
        return f"{safe}/rank{one.rank}"
    of = f"rank{one.rank}/" if one.rank is not None else ""
    return f"{safe}/{of}{one.role}-{one.pid}"


def py_spy() -> str:
    """Give the binary of py-spy: beside this interpreter, as its package puts it, or on PATH."""
    beside = Path(sys.executable).parent / "py-spy"
    return str(beside) if beside.is_file() else shutil.which("py-spy") or ""


def usage_of(one: LiveProcess, host: str, number: int) -> Iterator[TakenItem]:
    """Read the processor time and the state of each thread, as the kernel writes them."""
    at = time.time()
    lines = [line for path in _threads(one.pid) if (line := _read(path))]
    if lines:
        item = BundleItem(
            path=f"{folder(one, host)}/usage-{number}.txt",
            kind="usage",
            host=host,
            pid=one.pid,
            parent=one.parent,
            rank=one.rank,
            at=at,
            round=number,
            source=f"/proc/{one.pid}/task/*/stat",
        )
        yield TakenItem(item=item, text="".join(lines))


def _threads(pid: int) -> Sequence[Path]:
    try:
        return sorted(Path(f"/proc/{pid}/task").glob("*/stat"), key=lambda path: int(path.parts[4]))
    except (OSError, ValueError):
        return ()


def _read(path: Path) -> str:
    try:
        text = path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""
    # a thread may be called anything, a new line too
    return text.strip("\n").replace("\n", " ") + "\n"


def _state(pid: int) -> str:
    """Give the state of a process, "" when it is gone."""
    return _read(Path(f"/proc/{pid}/stat")).rpartition(")")[2].strip()[:1]


def resume(pid: int) -> None:
    """Let a process go on that was left stopped by what looked at it."""
    for _ in range(10):
        if _state(pid) not in STOPPED:
            return
        try:
            os.kill(pid, signal.SIGCONT)
        except OSError:
            return
        time.sleep(0.05)


def right_to_trace(pid: int) -> GapRight:
    """Say which right lets this user look at a process."""
    if os.geteuid() != 0 and _owner(pid) not in (None, os.geteuid()):
        return "owner"
    scope = _read(Path("/proc/sys/kernel/yama/ptrace_scope")).strip()
    if scope == "3":
        return "yama-locked"
    in_container = Path("/.dockerenv").exists() or "KUBERNETES_SERVICE_HOST" in os.environ
    if in_container or os.geteuid() == 0:
        return "container"
    return "yama" if scope in ("1", "2") else "sudo"


def _owner(pid: int) -> int | None:
    try:
        return Path(f"/proc/{pid}").stat().st_uid
    except OSError:
        return None
