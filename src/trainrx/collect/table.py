"""The processes of this machine at one moment, as far as they may be looked at."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from trainrx.model.errors import UsageError

LONGEST_ARGUMENT = 8192
MOST_ARGUMENTS = 4096
"""Of a command line so much is kept."""
_PYTHON = re.compile(r"(?:python|pypy|graalpy)[\d.]*[tdm]*(?: \(deleted\))?")
_RANK = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")
_LOCAL_RANK = ("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID")
_WORLD_SIZE = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS")
_COMMON = ("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "TORCHELASTIC_RUN_ID")


class RankVariables(NamedTuple):
    """What the variables of a process say of its rank; `common` is the same in the whole job."""

    rank: int
    local: int | None
    world: int
    common: tuple[str, ...]
    own: bool


class TableRow(msgspec.Struct, frozen=True, kw_only=True):
    """A process; `env` is None where it may not be read, `name` is what the kernel calls it."""

    pid: int
    parent: int | None = None
    name: str = ""
    argv: tuple[str, ...] = ()
    exe: str = ""
    cwd: str = ""
    started: float | None = None
    env: Mapping[str, str] | None = None

    @property
    def is_python(self) -> bool:
        """Tell whether it runs an interpreter of Python."""
        words = (self.exe, *self.argv[:1])
        return any(_PYTHON.fullmatch(os.path.basename(word)) for word in words)  # noqa: PTH119

    @property
    def line(self) -> str:
        """Give its command line in one line."""
        return " ".join(self.argv)

    def ranked(self) -> RankVariables | None:
        """Read the rank off its variables, of several launchers the innermost."""
        env = self.env or {}
        names = zip(_RANK, _LOCAL_RANK, _WORLD_SIZE, strict=True)
        for rank_name, local_name, world_name in names:
            rank, world = _number(env, rank_name), _number(env, world_name)
            if rank is not None and world:
                common = tuple(env.get(name, "") for name in _COMMON)
                own = rank_name == _RANK[0] or world > 1
                return RankVariables(rank, _number(env, local_name), world, common, own)
        return None


class ProcessTable(msgspec.Struct, frozen=True, kw_only=True):
    """All processes by number, without this one and those that started it."""

    rows: dict[int, TableRow]

    def ancestors(self, pid: int) -> Iterator[TableRow]:
        """Give what started a process, the nearest first."""
        seen = {pid}
        row = self.rows.get(pid)
        while row is not None and row.parent is not None and row.parent not in seen:
            seen.add(row.parent)
            row = self.rows.get(row.parent)
            if row is not None:
                yield row

    def descendants(self, pids: Iterable[int]) -> dict[int, TableRow]:
        """Give some processes and all they started."""
        below: dict[int | None, list[TableRow]] = {}
        for row in self.rows.values():
            below.setdefault(row.parent, []).append(row)
        open_pids, found = list(pids), dict[int, TableRow]()
        while open_pids:
            pid = open_pids.pop()
            if pid in self.rows and pid not in found:
                found[pid] = self.rows[pid]
                open_pids += [row.pid for row in below.get(pid, ())]
        return found


def _number(env: Mapping[str, str], name: str) -> int | None:
    text = env.get(name, "")
    return int(text) if text.isdecimal() and text.isascii() and len(text) < 8 else None


def process_table() -> ProcessTable:
    """Look at all processes; those that end meanwhile are left out.

    Raises:
        UsageError: psutil is not installed.
    """
    try:
        import psutil
    except ImportError as error:
        raise UsageError(
            "finding the processes of a job needs the package psutil: "
            "pip install 'trainrx[collect]'"
        ) from error
    asked = ["pid", "ppid", "name", "cmdline", "exe", "cwd", "create_time", "environ"]
    rows = (_row(process.info) for process in psutil.process_iter(asked))
    table = ProcessTable(rows={row.pid: row for row in rows})
    own = {os.getpid(), *(row.pid for row in table.ancestors(os.getpid()))}
    return ProcessTable(rows={pid: row for pid, row in table.rows.items() if pid not in own})


def _row(seen: Mapping[str, object]) -> TableRow:
    words, env = seen.get("cmdline"), seen.get("environ")
    argv = words if isinstance(words, list) else []
    return TableRow(
        pid=int(str(seen["pid"])),
        parent=parent if isinstance(parent := seen.get("ppid"), int) else None,
        name=_readable(str(seen.get("name") or "")),
        argv=tuple(_readable(str(word)[:LONGEST_ARGUMENT]) for word in argv[:MOST_ARGUMENTS]),
        exe=str(seen.get("exe") or ""),
        cwd=str(seen.get("cwd") or ""),
        started=at if isinstance(at := seen.get("create_time"), float) else None,
        env=_readable_values(env) if isinstance(env, dict) else None,
    )


def _readable(text: str) -> str:
    """Replace bytes that are no UTF-8: what is taken is passed on as text."""
    return (
        text
        if text.isascii()
        else text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    )


def _readable_values(env: Mapping[object, object]) -> dict[str, str]:
    return {_readable(str(name)): _readable(str(value)) for name, value in env.items()}
