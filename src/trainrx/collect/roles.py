"""What each process of a job is: a rank, what started it, or what works for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import msgspec

from trainrx.collect.table import ProcessTable, RankVariables, TableRow
from trainrx.collect.variables import taken_variables
from trainrx.model.bundle import ProcessRole

ENGINE = re.compile(r"(?:VLLM|sglang|SGLang)::\w|ray::\S", re.ASCII)
"""How engines and actors of Ray call their processes (setproctitle)."""
_LOADER = "pt_data_worker"
_HELPER = re.compile(r"resource_tracker|forkserver|compile_worker|tensorboard|wandb")
"""What a rank starts beside the workers that it waits for."""
_SHELL = re.compile(r"(?:.*/)?(?:ba|z|da|k|fi)?sh")
_STARTS = re.compile(
    r"(?:^|[ /])(?:torchrun|torch[./]distributed[./](?:run|launch)\S{0,20}|accelerate\S{0,40}"
    r"|deepspeed\S{0,40}|srun|mpirun|mpiexec|nohup|uv)(?: |$)"
)


class LiveProcess(msgspec.Struct, frozen=True, kw_only=True):
    """A process of a job that runs.

    Attributes:
        rank: its own, or that of the rank it works for.
        name: what the kernel calls it.
        variables: those that may be passed on.
        readable: whether its variables could be read.
    """

    pid: int
    parent: int | None = None
    role: ProcessRole = "other"
    rank: int | None = None
    local_rank: int | None = None
    world_size: int | None = None
    argv: tuple[str, ...] = ()
    name: str = ""
    exe: str = ""
    cwd: str = ""
    started: float | None = None
    is_python: bool = False
    variables: dict[str, str] = {}
    readable: bool = True


def is_shell(program: str) -> bool:
    """Tell a shell by its name."""
    return _SHELL.fullmatch(program) is not None


def is_launcher(row: TableRow) -> bool:
    """Tell what starts a job: a script, or a launcher."""
    if not row.argv:
        return False
    if is_shell(row.argv[0]):
        return len(row.argv) > 1 and any(not word.startswith("-") for word in row.argv[1:])
    return _STARTS.search(" ".join(row.argv[:4])) is not None


def live_processes(table: ProcessTable) -> Iterator[LiveProcess]:
    """Say what each process is, those that started others first."""
    rows = table.rows
    ranks = dict(_ranks(table))
    started = {row.pid for pid in ranks for row in table.ancestors(pid)}
    for pid, row in sorted(rows.items(), key=lambda item: (item[1].started or 0, item[0])):
        of = pid if pid in ranks else _nearest_rank(table, pid, ranks)
        ranked = None if of is None else ranks[of]
        role = _role(row, is_rank=of == pid, of_rank=of is not None)
        yield LiveProcess(
            pid=pid,
            parent=row.parent,
            role="launcher" if pid in started and pid not in ranks else role,
            rank=None if ranked is None else ranked.rank,
            local_rank=None if ranked is None else ranked.local,
            world_size=None if ranked is None else ranked.world,
            argv=row.argv,
            name=row.name,
            exe=row.exe,
            cwd=row.cwd,
            started=row.started,
            is_python=row.is_python,
            variables=taken_variables(row.env or {}),
            readable=row.env is not None,
        )


def _ranks(table: ProcessTable) -> Iterator[tuple[int, RankVariables | None]]:
    """Give the processes that are ranks: what they fork has their variables, what starts them may.

    Without variables the one program that no other program of the job started is the only rank.
    """
    rows = table.rows
    said = {pid: row.ranked() for pid, row in rows.items()}
    python = {pid for pid, row in rows.items() if row.is_python and not ENGINE.search(row.line)}
    below = {parent for pid in python if _is_local(said[pid]) for parent in _above(table, pid)}
    able = {
        pid
        for pid in python
        if (one := said[pid]) is not None and one.own and (_is_local(one) or pid not in below)
    }
    able = able or {pid for pid in python if not is_launcher(rows[pid])}
    yield from ((pid, said[pid]) for pid in able if not able & {*_above(table, pid)})


def _is_local(ranked: RankVariables | None) -> bool:
    return ranked is not None and ranked.local is not None


def _above(table: ProcessTable, pid: int) -> Iterator[int]:
    yield from (row.pid for row in table.ancestors(pid))


def _nearest_rank(table: ProcessTable, pid: int, ranks: Mapping[int, object]) -> int | None:
    """Give the rank a process works for."""
    return next((above for above in _above(table, pid) if above in ranks), None)


def _role(row: TableRow, *, is_rank: bool, of_rank: bool) -> ProcessRole:
    if is_rank:
        return "rank"
    if ENGINE.search(row.line) or ENGINE.search(row.name):
        return "engine"
    if row.name == _LOADER or (of_rank and row.is_python and not _HELPER.search(row.line)):
        return "worker"
    return "launcher" if not of_rank and is_launcher(row) else "other"
