"""`diagnose`: why did this job fail, or why will it fail, and what to change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
import typer

from trainrx.cli import commands, make_app
from trainrx.cli._options import JOB, KNOWN, Answered, Data, Display, Good, takes
from trainrx.cli._output import (
    format_option,
    platform_option,
    save,
    show,
    view,
    write,
    write_answer,
)
from trainrx.cli._progress import progress
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.launch.request import Request
from trainrx.model import __version__
from trainrx.model.errors import UsageError
from trainrx.model.figure import JobFigure
from trainrx.model.result import Diagnosis, Verdict
from trainrx.render.document import View

if TYPE_CHECKING:
    from trainrx.verdict.run import JudgedJob

HELP = """\
Say why a fine-tuning job failed, or will fail, and which parameters to change.

PATH is a run folder, a launch script, a config, a log or a whole post that holds them; - reads
standard input. The kind of each is found out from its content; the options say it for you.

\b
  diagnose --cmd launch.sh --log train.log --versions freeze.txt
  diagnose run_folder/ --gpu A100-80G --gpus 8 --lang zh
"""
EPILOG = """\
Other commands: collect (the evidence of a job that runs or hangs), fix FILE (the changed
launch, proved), plan FILE (what works on which hardware), retry LOG (does a restart help), lint
FILE (defects before it runs), dry-run FILE (the job started small, on the CPU), lsp (lint in an
editor), translate FILE (to another version), estimate FILE (the GPU memory it takes), inspect FILE
(what a launch sets), diff GOOD BAD, paste FILE (any text as a post), explain ID, kb
check|test|new|list (a file of that name: ./inspect).

Completion of the shell: diagnose --install-completion, or --show-completion to look at it first."""


FailOn = Literal["none", "unknown", "possible", "likely"]
GRADES: Mapping[FailOn, frozenset[Verdict]] = {
    "likely": frozenset({"diagnosed", "will_fail", "will_not_fit"}),
    "possible": frozenset({"suspected", "at_risk"}),
    "unknown": frozenset({"unknown"}),
}
"""The verdicts that end a run with 1: those of what is asked, and of all above it."""
FailOnOption = Annotated[
    FailOn,
    typer.Option(
        "--fail-on",
        help="Exit with 1 when something is at least likely or possible, or nothing is known.",
    ),
]
Engine = Literal["durable", "reference"]
EngineOption = Annotated[Engine, typer.Option("--engine", help="Inference engine.")]
Version = Annotated[bool, typer.Option("--version", "-V", help="Show the version and exit.")]


class AnswerOptions(msgspec.Struct):
    """How much of the answer is shown, in which form, and what is asked before."""

    form: Annotated[str, format_option("Diagnosis")] = "text"
    top: Annotated[
        int, typer.Option("--top", metavar="N", min=1, help="Name at most so many causes.")
    ] = 5
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Say all there is, with the terms of each score; paged."),
    ] = False
    ask: Annotated[
        bool, typer.Option("--ask", help="Put up to five questions on the terminal first.")
    ] = False
    platform: Annotated[str, platform_option()] = ""
    attach: Annotated[
        Path | None,
        typer.Option(
            "--attach", metavar="FILE", help="Write all of it as Markdown, to go with a message."
        ),
    ] = None
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            metavar="FILE.svg|png|html",
            help="Draw memory over steps and the last collectives; needs trainrx[plot].",
        ),
    ] = None


class HistoryOptions(msgspec.Struct):
    """What is known of earlier jobs."""

    history: Annotated[
        Path | None,
        typer.Option(
            "--history",
            metavar="FILE",
            envvar="TRAINRX_HISTORY",
            show_envvar=False,
            help="Say how often the failure was seen before, and what helped; see fleet.",
        ),
    ] = None
    remember: Annotated[
        bool, typer.Option("--remember", help="Put the answer into that history.")
    ] = False


NO_HISTORY = HistoryOptions()

app = make_app(bare=True)


@app.command(help=HELP, epilog=EPILOG)
@takes(*JOB, Good, Answered, Data, *KNOWN)
def diagnose(
    request: Request,
    shown: AnswerOptions,
    display: Display,
    past: HistoryOptions,
    *,
    engine: EngineOption = "durable",
    fail_on: FailOnOption = "none",
    version: Version = False,
) -> int:
    """Diagnose a job."""
    if version:
        return write(f"trainrx {__version__}\n")
    _refuse_nothing(request)
    _refuse_misplaced_command(request.paths)
    return answer(request, shown, display, past, engine=engine, fail_on=fail_on)


def answer(
    request: Request,
    shown: AnswerOptions,
    display: Display,
    past: HistoryOptions = NO_HISTORY,
    *,
    engine: Engine,
    fail_on: FailOn,
) -> int:
    """Diagnose what is asked, show it, and give the exit status."""
    if past.remember and past.history is None:
        raise UsageError("--remember needs a history: --history FILE, or TRAINRX_HISTORY")
    if shown.platform and shown.form != "text":
        raise UsageError(f"--for {shown.platform} is a form of its own: leave out --format")
    seen = view(request.lang, display.width, display.level, everything=shown.explain)

    if shown.plot is not None:
        from trainrx.render.figures import check_plot
        from trainrx.render.job_plot import SUFFIXES

        check_plot(shown.plot, SUFFIXES)

    from trainrx.verdict import run

    loaded = LoadedKnowledge(request.kb, request.rules)

    def diagnosed(asked: Request) -> Diagnosis:
        with progress(asked.lang, shown.form):
            judged = run.judge(asked, loaded, top=shown.top, engine=engine)
        figures[:] = [judged.figure]
        return _recalled(asked, judged, past)

    figures: list[JobFigure] = []

    if not shown.ask:
        found = diagnosed(request)
        status = _shown(found, shown, seen)
        _draw(figures, shown.plot, seen)
        return status or failing(found, fail_on)
    from trainrx.cli import _consultation as consultation

    typed = consultation.terminal()
    request, found = consultation.consult(request, diagnosed, seen, typed)
    status = _shown(found, shown, seen)
    consultation.show_options(request, seen, typed)
    _draw(figures, shown.plot, seen)
    return status or failing(found, fail_on)


def _recalled(request: Request, judged: JudgedJob, past: HistoryOptions) -> Diagnosis:
    """Add what a history knows, where there is one."""
    if past.history is None:
        return judged.answer
    from trainrx.fleet.single import recall

    return recall(past.history, request, judged, remember=past.remember)


def _draw(figures: Sequence[JobFigure], path: Path | None, seen: View) -> None:
    """Draw what was judged last, where a figure is asked for."""
    if path is not None:
        from trainrx.render.job_plot import write_job_plot
        from trainrx.render.redact import masked

        write_job_plot(masked(figures[-1], seen.redaction), path)


def _shown(found: Diagnosis, shown: AnswerOptions, seen: View) -> int:
    """Show an answer, as a message where one is asked for; give the exit status."""
    if shown.attach is not None:
        from trainrx.render import render

        save(shown.attach, render(found, "markdown", seen._replace(everything=True)))
    if not shown.platform:
        return show(found, shown.form, seen, paged=shown.explain)
    from trainrx.render.cards import card

    return write_answer(card(found, shown.platform, seen), utf8=not seen.terminal)


def failing(answer: Diagnosis, fail_on: FailOn) -> int:
    """Give 1 when the verdict is one of those asked for, else 0."""
    grades = list(GRADES)
    asked = grades[: grades.index(fail_on) + 1] if fail_on in GRADES else []
    return int(any(answer.verdict in GRADES[grade] for grade in asked))


def _refuse_nothing(request: Request) -> None:
    beside = (request.env, request.versions_file, request.good, request.model_config)
    if any((*request.files, *request.notes, *beside)):
        return
    raise UsageError(
        "nothing to read: give a launch script, a log or a run folder, for example\n"
        "  diagnose --cmd launch.sh --log train.log\n"
        "  tail -n 2000 train.log | diagnose -\n"
        "`diagnose --help` shows all options."
    )


def _refuse_misplaced_command(paths: tuple[str, ...]) -> None:
    """Notice `diagnose --gpu H20 explain ID` and `diagnose lnit`: a command, not in its place."""
    for name in paths:
        if name in commands() and not Path(name).exists():
            raise UsageError(
                f"there is no file {name!r} here; the command {name!r} must be the first word: "
                f"diagnose {name} ..."
            )
    name = paths[0] if paths else ""
    if not name.isidentifier() or Path(name).exists():
        return
    # only a word that names nothing pays for this import
    from difflib import get_close_matches

    near = get_close_matches(name, sorted(commands()), n=1)
    if near:
        raise UsageError(
            f"there is no file and no command {name!r} here; did you mean diagnose {near[0]} ...?"
        )
