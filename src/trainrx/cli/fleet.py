"""`diagnose fleet`: thousands of jobs, answered on an existing engine."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
import typer

from trainrx.cli import make_app
from trainrx.cli._history import add_history_commands, moment
from trainrx.cli._options import KNOWN, Display, takes
from trainrx.cli._output import INTERRUPTED, complain, note, write, write_answer
from trainrx.cli._progress import progress
from trainrx.launch.request import Request
from trainrx.model.errors import UsageError
from trainrx.model.text import Lang, Text

if TYPE_CHECKING:
    from trainrx.fleet.engines import FleetEngine
    from trainrx.fleet.record import JobAnswer, JobLimits
    from trainrx.fleet.run import FleetRun, Listed
    from trainrx.sanitizer import Level

HELP = """\
Say why thousands of jobs failed: on the processors of this machine, or of a cluster.

PATH is a folder of jobs, a job, a bundle, a pattern of them, or what `sacct --json` printed; sacct
asks the accounting of Slurm, k8s or k8s:NAMESPACE a Kubernetes cluster. With --history what is done
is not done again unless its inputs or the knowledge changed, so a run that was ended goes on. Needs
trainrx[fleet].

\b
  diagnose fleet /scratch/runs --history fleet.db
  diagnose fleet sacct --since 7d --scheduler tcp://head:8786 --history fleet.db
  diagnose fleet '/runs/*/job-*' --format jsonl > answers.jsonl
"""
SOME_JOBS = 100
NOT_KEPT = Text(
    en="nothing is kept: with --history FILE a later run goes on where this one ended",
    zh="结果未保存：加上 --history FILE，之后的运行会接着这次继续",
)
GO_ON = Text(
    en="{why}\nAnswered and kept in {history}: {done} jobs. To go on, run the same command "
    "again{where}: these are passed over.",
    zh="{why}\n已分析并保存到 {history}：{done} 个任务。要继续，请再次运行同一命令{where}："
    "这些任务会跳过。",
)
ANOTHER = Text(
    en=" with the --scheduler of a cluster that runs", zh="（--scheduler 改为正在运行的集群）"
)
FROM_START = Text(
    en="{why}\nAnswered: {done} jobs. Nothing is kept: with --history FILE a run that was ended "
    "goes on.",
    zh="{why}\n已分析：{done} 个任务。结果未保存：加上 --history FILE，中断的运行可以继续。",
)
_SIZE = re.compile(r"(\d{1,9}(?:\.\d{1,3})?)\s?([MG])(?:iB|B)?", re.IGNORECASE)


class EngineOptions(msgspec.Struct):
    """Where jobs are answered."""

    engine: Annotated[
        Literal["dask", "ray"],
        typer.Option("--engine", help="Who hands jobs out; ray needs trainrx[ray]."),
    ] = "dask"
    scheduler: Annotated[
        str,
        typer.Option(
            "--scheduler", metavar="ADDRESS", help="Of a cluster that runs; else this machine."
        ),
    ] = ""
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", metavar="N", min=1, help="Processes on this machine."),
    ] = None


class LimitOptions(msgspec.Struct):
    """What a job may take."""

    timeout: Annotated[
        float, typer.Option("--timeout", metavar="SECONDS", min=1, help="A job may take so long.")
    ] = 60.0
    memory: Annotated[
        str, typer.Option("--memory", metavar="4GiB", help="A job may take so much memory.")
    ] = "4GiB"


class ChosenOptions(msgspec.Struct):
    """Which jobs are answered, and where answers go."""

    since: Annotated[
        str | None,
        typer.Option(
            "--since", metavar="7d|DATE", help="Jobs that ended since then, or run; 24h, 7d, 4w."
        ),
    ] = None
    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="N", min=1, help="The newest so many of them."),
    ] = None
    history: Annotated[
        Path | None,
        typer.Option(
            "--history",
            metavar="FILE",
            envvar="TRAINRX_HISTORY",
            show_envvar=False,
            help="Remember answers there, and pass over what is answered.",
        ),
    ] = None


Words = Annotated[
    list[str] | None,
    typer.Argument(metavar="PATH|GLOB|sacct|k8s...", show_default=False, help="Jobs."),
]
Form = Annotated[
    Literal["text", "json", "jsonl"],
    typer.Option("--format", help="Form of the answer; jsonl is written as jobs are answered."),
]

app = make_app()
DEFAULT = "run"
"""The command that is meant where none is named."""


@app.command(DEFAULT, help=HELP)
@takes(*KNOWN)
def run(
    request: Request,
    where: EngineOptions,
    limited: LimitOptions,
    chosen: ChosenOptions,
    display: Display,
    words: Words = None,
    *,
    form: Form = "text",
) -> int:
    """Answer many jobs."""
    if not words:
        raise UsageError("no jobs: give a folder of them, e.g. `diagnose fleet /scratch/runs`")
    from trainrx.fleet.engines import EngineLostError, open_engine
    from trainrx.fleet.history.store import Store
    from trainrx.fleet.overview import Overview, following, lines
    from trainrx.fleet.run import FleetRun

    listed = listing(words, chosen)
    count, kept = sum(len(one.jobs) for one in listed), chosen.history
    overview, ended, status = Overview(), "", 0
    with ExitStack() as opened:
        store = None if kept is None else opened.enter_context(Store.open(kept))
        slots = where.jobs or len(os.sched_getaffinity(0))

        def engine() -> FleetEngine:
            reached = open_engine(where.engine, where.scheduler, max(1, min(slots, count)))
            return opened.enter_context(closing(reached))

        opened.enter_context(progress(request.lang, "text"))
        fleet = FleetRun(engine, _limits(request, limited), store)
        try:
            for answer in _shown(fleet, listed, form, display.level):
                overview.add(answer)
        except EngineLostError as error:
            ended, status = str(error), 2
        except KeyboardInterrupt:
            ended, status = "interrupted", INTERRUPTED
        done = overview.count + len(fleet.passed_over)
        if store is not None and form == "text":
            overview.remember(store.newest(fleet.passed_over))
    if ended:
        why = _unfinished(ended, f"{done} / {count}", kept, where.scheduler, request.lang)
        return complain(why, request.lang, display.level) and status
    if kept is None and count >= SOME_JOBS:
        note(NOT_KEPT.in_(request.lang), request.lang, display.level)
    if form != "text":
        return 0
    said = [*lines(overview, request.lang), *following(overview, str(kept or ""), request.lang)]
    return write("\n".join(said) + "\n", display.level)


def _unfinished(ended: str, done: str, history: Path | None, scheduler: str, lang: Lang) -> str:
    """Say of a run that was ended how far it came, and how to go on."""
    from trainrx.render.chinese import said

    why = said(ended, lang)
    if history is None:
        return FROM_START.in_(lang).format(why=why, done=done)
    where = ANOTHER.in_(lang) if scheduler else ""
    return GO_ON.in_(lang).format(why=why, done=done, history=history, where=where)


def listing(words: Sequence[str], chosen: ChosenOptions) -> list[Listed]:
    """List the jobs some words mean, the newest first where only some are wanted.

    Raises:
        UsageError: there are none, or they cannot be listed.
    """
    from trainrx.fleet.run import Listed
    from trainrx.fleet.sources import sources_of

    since = None if chosen.since is None else moment(chosen.since, datetime.now(timezone.utc))
    found = [Listed(source=s, jobs=tuple(s.jobs(since))) for s in sources_of(words)]
    if chosen.limit is not None:
        every = sorted((j.ended or float("inf") for one in found for j in one.jobs), reverse=True)
        least = every[chosen.limit - 1] if len(every) > chosen.limit else float("-inf")
        found = [
            msgspec.structs.replace(
                one, jobs=tuple(j for j in one.jobs if (j.ended or float("inf")) >= least)
            )
            for one in found
        ]
    if not any(one.jobs for one in found):
        raise UsageError(f"{' '.join(words)}: no job is there, or none so new")
    return found


def _limits(request: Request, limited: LimitOptions) -> JobLimits:
    from trainrx.fleet.record import JobLimits

    size = _SIZE.fullmatch(limited.memory.strip())
    if size is None:
        raise UsageError(f"--memory {limited.memory}: expected an amount, e.g. 4GiB or 900MiB")
    unit = 1 << (30 if size[2].upper() == "G" else 20)
    return JobLimits(
        seconds=limited.timeout,
        memory=int(float(size[1]) * unit),
        kb=tuple(str(Path(folder).absolute()) for folder in request.kb),
        rules=tuple(str(Path(folder).absolute()) for folder in request.rules),
    )


def _shown(
    fleet: FleetRun, listed: Sequence[Listed], form: str, level: Level
) -> Iterator[JobAnswer]:
    """Give the answers; for a program they are written as well."""
    from trainrx.render.redact import masked

    answers: list[JobAnswer] = []
    for answer in fleet.answers(listed):
        if form == "jsonl":
            text = _json(masked(answer, level)) + "\n"
            write_answer(text, utf8=True)
        elif form == "json":
            answers.append(masked(answer, level))
        yield answer
    if form == "json":
        said = {"schema_version": 1, "passed_over": len(fleet.passed_over), "jobs": answers}
        text = _json(said) + "\n"
        write_answer(text, utf8=True)


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


add_history_commands(app)
