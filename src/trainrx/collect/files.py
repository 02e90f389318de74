"""What a job has written: its output, and the dumps of recorders."""

from __future__ import annotations

import json
import os
import pwd
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from trainrx.collect.bundle import TakenItem
from trainrx.collect.processes import LiveJob
from trainrx.collect.roles import LiveProcess
from trainrx.collect.stacks import Taken, folder, host_folder, right_to_trace
from trainrx.evidence.pickles import PICKLED, UnplainError, plain_values
from trainrx.model.bundle import BundleGap, BundleItem

HEAD, TAIL = 1 << 17, 1 << 20
"""Bytes of a log that are taken from its beginning, which says how it was started, and its end."""
LARGEST_DUMP = 1 << 26
STREAMS = {1: "stdout", 2: "stderr"}
RECORDERS = ("TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE")
"""Variables that say how the files of recorders begin; the rank follows."""
_DEFAULTS = ("{home}/.cache/torch/comm_lib_trace_rank_", "{temporary}/nccl_trace_rank_")
_NAMED = "comm_lib_trace"


def output(job: LiveJob) -> Iterator[Taken]:
    """Take the ends of the files that ranks and launchers write their output to."""
    seen: set[tuple[int, int]] = set()
    nowhere: list[LiveProcess] = []
    writers = [one for one in job.processes if one.role in ("rank", "launcher", "engine")]
    for one in writers:
        files = [(name, path) for fd, name in STREAMS.items() if (path := _opened(one, fd))]
        if not files:
            nowhere.append(one)
        for name, path in files:
            yield from _log(one, name, path, job, seen)
    denied = next((one for one in nowhere if not os.access(f"/proc/{one.pid}/fd", os.R_OK)), None)
    if not seen and denied is not None:
        right = right_to_trace(denied.pid)
        yield BundleGap(kind="log", reason="not-permitted", right=right, host=job.host)
    elif not seen and nowhere:
        yield BundleGap(kind="log", reason="no-file", right="redirect", host=job.host)


def _opened(one: LiveProcess, fd: int) -> Path | None:
    """Give the file a process has open; None for a terminal, a pipe, or one that is unlinked."""
    path = Path(f"/proc/{one.pid}/fd/{fd}")
    try:
        return path if stat.S_ISREG(path.stat().st_mode) else None
    except OSError:
        return None


def _log(
    one: LiveProcess, name: str, path: Path, job: LiveJob, seen: set[tuple[int, int]]
) -> Iterator[Taken]:
    try:
        with path.open("rb") as file:
            about = os.fstat(file.fileno())
            if (about.st_dev, about.st_ino) in seen or about.st_size == 0:
                return
            seen.add((about.st_dev, about.st_ino))
            whole = about.st_size <= HEAD + TAIL
            data = file.read(HEAD if not whole else about.st_size)
            if not whole:
                file.seek(-TAIL, os.SEEK_END)
                data = data[: data.rfind(b"\n") + 1] + file.read().partition(b"\n")[2]
    except OSError as error:
        yield BundleGap(
            kind="log",
            reason="unreadable",
            name=name,
            detail=error.strerror or "",
            host=job.host,
            pid=one.pid,
            rank=one.rank,
        )
        return
    item = BundleItem(
        path=f"{folder(one, job.host)}/{name}.log",
        kind="log",
        host=job.host,
        pid=one.pid,
        rank=one.rank,
        at=about.st_mtime,
        source=_link(path),
        whole=whole,
    )
    yield TakenItem(item=item, text=data.decode("utf-8", "replace"))


def _link(path: Path) -> str:
    try:
        return str(path.readlink())
    except OSError:
        return str(path)


def recorders(job: LiveJob) -> Iterator[Taken]:
    """Take the dumps of the flight recorder that the ranks have written since they began."""
    for one in job.ranks:
        for path in _dumps(one):
            try:
                about = path.stat()
                is_new = about.st_mtime >= (one.started or 0)
                if not is_new or not 0 < about.st_size <= LARGEST_DUMP or not path.is_file():
                    continue
                data = path.read_bytes()
            except OSError:
                continue
            yield _dump(one, path, data, about.st_mtime, job)


def _dumps(one: LiveProcess) -> Iterator[Path]:
    if one.rank is None:
        return
    said = [one.variables[name] for name in RECORDERS if one.variables.get(name)]
    places = {"home": _home(one.pid), "temporary": tempfile.gettempdir()}
    for start in dict.fromkeys((*said, *(start.format(**places) for start in _DEFAULTS))):
        for end in ("", ".json"):
            yield Path(one.cwd) / f"{start}{one.rank}{end}"


def _home(pid: int) -> str:
    try:
        return pwd.getpwuid(Path(f"/proc/{pid}").stat().st_uid).pw_dir
    except (OSError, KeyError):
        return str(Path.home())


def _dump(one: LiveProcess, path: Path, data: bytes, at: float, job: LiveJob) -> Taken:
    """Take a dump as JSON, in which everything can be masked."""
    try:
        value = plain_values(data) if data.startswith(PICKLED) else json.loads(data)
        text = json.dumps(value, default=str)
    except (UnplainError, ValueError, TypeError, RecursionError) as error:
        return BundleGap(
            kind="recorder",
            reason="unreadable",
            name=str(path),
            detail=str(error)[:200],
            host=job.host,
            rank=one.rank,
        )
    item = BundleItem(
        path=f"{host_folder(job.host)}/rank{one.rank}/{_NAMED}_rank_{one.rank}.json",
        kind="recorder",
        host=job.host,
        pid=one.pid,
        rank=one.rank,
        at=at,
        source=str(path),
    )
    return TakenItem(item=item, text=text)
