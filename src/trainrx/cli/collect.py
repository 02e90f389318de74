"""`diagnose collect`: the evidence of a job that runs, in one file, and what it says."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from trainrx.cli import make_app
from trainrx.cli._options import JOB, KNOWN, Answered, Display, takes
from trainrx.cli._output import is_terminal, note, show, view
from trainrx.cli._progress import progress
from trainrx.cli.diagnose import AnswerOptions, EngineOption, FailOnOption, answer
from trainrx.launch.request import Request
from trainrx.model.errors import UsageError

if TYPE_CHECKING:
    from trainrx.collect.processes import WantedJob
    from trainrx.collect.take import Collected

HELP = """\
Take the evidence of a job that runs or hangs, write it into one file, and say what it shows.

Stacks of all ranks and their workers (py-spy, twice with a pause), NCCL's own report, dumps of
the flight recorder, cards, kernel, memory, disks, limits, versions, command line, script,
configs, variables and the ends of logs. Secrets are masked. The job goes on. Without an option
it is the one job with ranks on this machine. The file is an input: diagnose trainrx-JOB.tar.zst.

\b
  diagnose collect --pid 12345
  diagnose collect --job 4711 --via srun
  diagnose collect --match train.py --via ssh=node1,node2 --out /tmp
"""
EPILOG = """\
--via reaches the other machines: srun (all nodes of --job, or srun=node1,node2),
ssh=node1,node2, or kubectl=pod-0,pod-1 (namespace/pod); diagnose is installed there, too."""

STDOUT = Path("-")


class Which(msgspec.Struct):
    """Which job it is."""

    pid: Annotated[
        int | None,
        typer.Option("--pid", metavar="PID", min=1, help="A process of the job: any of them."),
    ] = None
    job: Annotated[
        str | None, typer.Option("--job", metavar="ID", help="The number of the job with Slurm.")
    ] = None
    match: Annotated[
        str | None,
        typer.Option("--match", metavar="REGEX", help="What its command line has in it."),
    ] = None

    @property
    def words(self) -> tuple[str, ...]:
        """Write it as on a command line."""
        said = (("--pid", self.pid), ("--job", self.job), ("--match", self.match))
        return tuple(
            word for name, value in said if value is not None for word in (name, str(value))
        )

    def wanted(self) -> WantedJob:
        """Give what the job is known by.

        Raises:
            UsageError: it is named twice.
        """
        from trainrx.collect.processes import WantedJob

        if sum(item is not None for item in (self.pid, self.job, self.match)) > 1:
            raise UsageError("name the job once: with --pid, --job or --match")
        return WantedJob(pid=self.pid, slurm=self.job or "", match=self.match or "")


class Taking(msgspec.Struct):
    """How it is taken, and where it goes."""

    out: Annotated[
        Path,
        typer.Option(
            "--out", metavar="FILE|DIR", help="Where the bundle goes; - is standard output."
        ),
    ] = Path()
    rounds: Annotated[
        int, typer.Option("--rounds", metavar="N", min=1, max=20, help="How often to take stacks.")
    ] = 2
    interval: Annotated[
        float,
        typer.Option("--interval", metavar="S", min=0, max=600, help="Seconds between rounds."),
    ] = 2.0
    via: Annotated[
        str | None,
        typer.Option(
            "--via",
            metavar="srun|ssh=HOST,...|kubectl=POD,...",
            help="How to reach the other machines of the job.",
        ),
    ] = None
    remote: Annotated[
        str,
        typer.Option("--remote", metavar="COMMAND", help="What runs this program there."),
    ] = "diagnose"
    no_answer: Annotated[bool, typer.Option("--no-answer", help="Only write the bundle.")] = False


app = make_app(bare=True)


@app.command(help=HELP, epilog=EPILOG)
@takes(*JOB, Answered, *KNOWN)
def collect(
    request: Request,
    which: Which,
    taking: Taking,
    shown: AnswerOptions,
    display: Display,
    *,
    engine: EngineOption = "durable",
    fail_on: FailOnOption = "none",
) -> int:
    """Collect the evidence of a job."""
    with progress(request.lang, shown.form):
        found = _collected(which, taking, display)
    if taking.out == STDOUT:
        return _write_bundle(found)
    seen = view(request.lang, display.width, display.level)
    if taking.no_answer or shown.form == "text":
        status = show(found.report, "json" if shown.form == "json" else "text", seen)
    else:  # what is on standard output is the answer
        status = note(f"{found.path}: what was taken of the job", request.lang)
    if taking.no_answer or status:
        return status
    asked = msgspec.structs.replace(request, paths=(*request.paths, str(found.path)))
    return answer(asked, shown, display, engine=engine, fail_on=fail_on)


def _collected(which: Which, taking: Taking, display: Display) -> Collected:
    from trainrx.collect.remote import Via, collect_job
    from trainrx.collect.take import TakeOptions

    options = TakeOptions(
        out=None if taking.out == STDOUT else taking.out,
        rounds=taking.rounds,
        interval=taking.interval,
        level=display.level,
    )
    if taking.via is None:
        return collect_job(which.wanted(), options)
    words = (*shlex.split(taking.remote), "collect", *which.words, "--out", "-")
    rounds = ("--rounds", str(taking.rounds), "--interval", str(taking.interval))
    masks = ("--no-redact",) if display.no_redact else ("--redact", display.redact)
    via = Via.parse(taking.via)
    return collect_job(which.wanted(), options, via, (*words, *rounds, *masks))


def _write_bundle(found: Collected) -> int:
    """Write a bundle to standard output.

    Raises:
        UsageError: a terminal is no place for it.
    """
    from trainrx.collect.bundle import packed

    if is_terminal():
        raise UsageError("--out -: a bundle is no text for a terminal: give a file, or a pipe")
    sys.stdout.buffer.write(packed(found.bundle))
    sys.stdout.buffer.flush()
    return 0
