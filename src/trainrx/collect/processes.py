"""Find the processes of a job on this machine."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NoReturn

import msgspec

from trainrx.collect.roles import LiveProcess, is_launcher, live_processes
from trainrx.collect.table import ProcessTable, TableRow, process_table
from trainrx.collect.variables import secret_values
from trainrx.model.bundle import BundleGap
from trainrx.model.errors import UsageError

MOST_MATCHED = 4096
"""Characters of a command line that an expression is looked for in."""
MOST_NAMED = 8


class WantedJob(msgspec.Struct, frozen=True, kw_only=True):
    """What a job is known by: a process of it, its number with Slurm, an expression, or nothing."""

    pid: int | None = None
    slurm: str = ""
    match: str = ""

    @property
    def said(self) -> str:
        """Give the words of the command line."""
        if self.pid is not None:
            return f"--pid {self.pid}"
        if self.slurm:
            return f"--job {self.slurm}"
        return f"--match {self.match}" if self.match else ""


class LiveJob(msgspec.Struct, frozen=True, kw_only=True):
    """The processes of a job on one machine; `secrets` are values that must not be shown."""

    name: str
    host: str
    processes: tuple[LiveProcess, ...]
    gaps: tuple[BundleGap, ...] = ()
    secrets: frozenset[str] = frozenset()

    @property
    def ranks(self) -> tuple[LiveProcess, ...]:
        """Give the ranks, in order."""
        found = (one for one in self.processes if one.role == "rank")
        return tuple(sorted(found, key=lambda one: (one.rank is None, one.rank or 0, one.pid)))

    @property
    def world_size(self) -> int | None:
        """Give the number of ranks of the whole job, where one says it."""
        return next((one.world_size for one in self.ranks if one.world_size), None)


def find_job(wanted: WantedJob, table: ProcessTable | None = None) -> LiveJob:
    """Find a job.

    Args:
        wanted: what it is known by; of nothing, the one job with ranks that runs here.
        table: the processes of this machine, where they were looked at already.

    Raises:
        UsageError: there is none, or there are several.
    """
    table = process_table() if table is None else table
    first = _first(wanted, table)
    common = {ranked.common for row in first if (ranked := row.ranked()) is not None}
    jobs = _jobs(table, first, common, wanted)
    if len(jobs) > 1:
        _refuse_several(wanted, jobs)
    rows = _with_ancestors(table, table.descendants([row.pid for row in jobs[0]]))
    processes = tuple(live_processes(ProcessTable(rows=rows)))
    return LiveJob(
        name=_name(wanted, processes),
        host=socket.gethostname(),
        processes=processes,
        gaps=tuple(_gaps(processes)),
        secrets=frozenset().union(*(secret_values(row.env or {}) for row in rows.values())),
    )


def _first(wanted: WantedJob, table: ProcessTable) -> list[TableRow]:
    """Give the processes by which a job is known."""
    rows = list(table.rows.values())
    if wanted.pid is not None:
        found = [row for row in rows if row.pid == wanted.pid]
    elif wanted.slurm:
        found = [row for row in rows if _is_of_slurm(row, wanted.slurm)]
    elif wanted.match:
        try:
            pattern = re.compile(wanted.match)
        except re.error as error:
            raise UsageError(f"--match {wanted.match}: is no regular expression: {error}") from None
        found = [row for row in rows if pattern.search(row.line[:MOST_MATCHED])]
    else:
        ranked = ((row, row.ranked()) for row in rows if row.is_python)
        found = [row for row, said in ranked if said is not None and said.own]
    if not found:
        _refuse_nothing(wanted, table)
    return found


def _is_of_slurm(row: TableRow, job: str) -> bool:
    env = row.env or {}
    number = env.get("SLURM_JOB_ID") or env.get("SLURM_JOBID") or ""
    array = f"{env.get('SLURM_ARRAY_JOB_ID', '')}_{env.get('SLURM_ARRAY_TASK_ID', '')}"
    return job.partition(".")[0] in {number, array} and number != ""


def _refuse_nothing(wanted: WantedJob, table: ProcessTable) -> NoReturn:
    count = sum(row.env is None for row in table.rows.values())
    hidden = (
        f"; the variables of {count} processes may not be read: run it as the user of the job"
        if count
        else ""
    )
    if wanted.pid is not None:
        raise UsageError(f"{wanted.said}: there is no such process on this machine")
    if wanted.said:
        raise UsageError(f"{wanted.said}: no process of this machine belongs to it{hidden}")
    raise UsageError(
        "no process of this machine has the variables RANK and WORLD_SIZE; name the job with "
        f"--pid PID, --job SLURM_ID or --match REGEX{hidden}"
    )


def _jobs(
    table: ProcessTable, first: Iterable[TableRow], common: set[tuple[str, ...]], wanted: WantedJob
) -> list[list[TableRow]]:
    """Put processes that have the variables of one job together, the others to them."""
    ranks: dict[tuple[str, ...], list[TableRow]] = {}
    if wanted.pid is not None and not common:
        below = (row.ranked() for row in table.descendants([wanted.pid]).values())
        common = {ranked.common for ranked in below if ranked is not None}
    for row in table.rows.values():
        ranked = row.ranked()
        if ranked is not None and ranked.own and ranked.common in common:
            ranks.setdefault(ranked.common, []).append(row)
    others = [row for row in first if (said := row.ranked()) is None or not said.own]
    if len(ranks) == 1:
        return [[*others, *next(iter(ranks.values()))]]
    if wanted.slurm and ranks:  # one allocation, whatever runs in it
        return [[*others, *(row for found in ranks.values() for row in found)]]
    return [*ranks.values()] or [others]


def _refuse_several(wanted: WantedJob, jobs: Sequence[list[TableRow]]) -> NoReturn:
    named = [f"--pid {min(row.pid for row in job)} ({job[0].line[:60]})" for job in jobs]
    more = ", ..." if len(named) > MOST_NAMED else ""
    asked = f"{wanted.said}: " if wanted.said else ""
    names = f"{', '.join(named[:MOST_NAMED])}{more}"
    raise UsageError(f"{asked}{len(jobs)} jobs run on this machine; name one of them: {names}")


def _with_ancestors(table: ProcessTable, rows: Mapping[int, TableRow]) -> dict[int, TableRow]:
    """Add what started the processes, up to a shell that somebody types into."""
    found = dict(rows)
    for pid in rows:
        for row in table.ancestors(pid):
            if row.pid in found:
                continue
            if not is_launcher(row):
                break
            found[row.pid] = row
    return found


def _name(wanted: WantedJob, processes: Iterable[LiveProcess]) -> str:
    """Name the job for its bundle."""
    if wanted.slurm:
        return re.sub(r"\W", "-", wanted.slurm, flags=re.ASCII)
    variables = (one.variables for one in processes)
    slurm = next((env["SLURM_JOB_ID"] for env in variables if env.get("SLURM_JOB_ID")), "")
    if slurm.isalnum():
        return slurm
    first = min((one.pid for one in processes if one.role in ("launcher", "rank")), default=0)
    return f"pid{wanted.pid or first}"


def _gaps(processes: Iterable[LiveProcess]) -> Iterator[BundleGap]:
    for one in processes:
        if not one.readable and one.role != "other":
            yield BundleGap(
                kind="environment",
                reason="not-permitted",
                right="owner",
                pid=one.pid,
                rank=one.rank,
            )
