"""`diagnose fleet confirm|report|export|compare`: what a history of jobs is asked."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from datetime import datetime, timezone
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
import typer

from trainrx.cli._options import KNOWN, Display, Language, takes
from trainrx.cli._output import save, view, write, write_answer
from trainrx.cli._progress import progress
from trainrx.launch.request import Request
from trainrx.model.errors import UsageError
from trainrx.model.text import Text

if TYPE_CHECKING:
    from trainrx.fleet.history.store import Store, ToldOutcome
    from trainrx.fleet.record import AnswerSummary, JobAnswer

CONFIRM = """\
Remember what came of a job: whether it went well after a change.

JOB is the key, the name, or an unmistakable part of the key. Without --by it is said of the changes
of the first fix of its answer.

\b
  diagnose fleet confirm job-4711 --worked --by MAX_PIXELS=602112 --history fleet.db
"""
REPORT = """\
Say what failed, what it cost in GPU hours, which nodes, cards, versions and images are suspected.

jsonl and parquet have one row a job, the other forms sum up. html, parquet and prometheus need
trainrx[report].

\b
  diagnose fleet report --history fleet.db --since 7d --group-by user
  diagnose fleet report --history fleet.db --format html --output report.html
"""
EXPORT = """\
Write jobs of which people said what helped as labelled cases, masked: `make fit` learns from them.

\b
  diagnose fleet export cases/ --history fleet.db
"""
COMPARE = """\
Say what tells bad runs from good ones: the first bad version, the first bad line of the launch.

Runs are folders, bundles, patterns, or jobs of the history.

\b
  diagnose fleet compare runs/mon-* --bad 'runs/fri-*'
"""
CONFIRMED = Text(en="{job}: remembered of {changes}", zh="{job}：已记录（{changes}）")
THE_JOB = Text(en="the job", zh="该任务")
EXPORTED = Text(en="{count} cases written to {folder}", zh="已将 {count} 个案例写入 {folder}")
DAY = 86400
LINES = 1000
SPANS = {"m": 60, "h": 3600, "d": DAY, "w": 7 * DAY}
_SPAN = re.compile(r"(\d{1,6})\s?([mhdw])")
History = Annotated[
    Path | None,
    typer.Option(
        "--history",
        metavar="FILE",
        envvar="TRAINRX_HISTORY",
        show_envvar=False,
        help="The history of jobs.",
    ),
]


class ReportOptions(msgspec.Struct):
    """Which jobs are reported on, and how."""

    since: Annotated[
        str | None,
        typer.Option("--since", metavar="7d|DATE", help="Jobs that ended since then; 24h, 7d, 4w."),
    ] = None
    by: Annotated[
        Literal["cause", "user", "framework", "node", "version"],
        typer.Option("--group-by", help="What jobs have in common."),
    ] = "cause"
    form: Annotated[
        Literal["text", "markdown", "json", "jsonl", "parquet", "html", "prometheus"],
        typer.Option("--format", help="Form of the report."),
    ] = "text"
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write it there."),
    ] = None


def add_history_commands(app: typer.Typer) -> None:
    """Give a program the commands that ask a history."""
    app.command("confirm", help=CONFIRM)(confirm)
    app.command("report", help=REPORT)(report)
    app.command("export", help=EXPORT)(export_cases)
    app.command("compare", help=COMPARE)(compare)


@takes(Language)
def confirm(
    request: Request,
    job: Annotated[str, typer.Argument(metavar="JOB", show_default=False, help="The job.")],
    *,
    worked: Annotated[
        bool | None, typer.Option("--worked/--failed", help="Whether it went well afterwards.")
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option("--by", metavar="PARAM=VALUE", help="What was changed; may be repeated."),
    ] = None,
    history: History = None,
) -> int:
    """Remember what came of a job."""
    if worked is None:
        raise UsageError("say what came of it: --worked or --failed")
    changes = tuple(_change(text) for text in by or ())
    with closing(_opened(history)) as store:
        done = store.confirm(job, worked=worked, by=changes)
    named = ", ".join(param for param, _ in done if param) or THE_JOB.in_(request.lang)
    return write(CONFIRMED.in_(request.lang).format(job=job, changes=named) + "\n")


@takes(Language)
def report(
    request: Request, asked: ReportOptions, display: Display, *, history: History = None
) -> int:
    """Report on a history."""
    from trainrx.fleet.report.forms import check, written
    from trainrx.fleet.report.summary import report_on

    check(asked.form)
    if asked.form == "parquet" and asked.output is None:
        raise UsageError("--format parquet is no text: --output FILE says where it goes")
    now = datetime.now(timezone.utc)
    since = None if asked.since is None else moment(asked.since, now)
    with closing(_opened(history)) as store:
        told = list(store.outcomes())
        if asked.form in ("jsonl", "parquet"):
            return _rows_given(store.summaries(since), told, asked)
        answers = list(store.summaries(since))
    found = report_on(answers, told, asked.by, now=now.timestamp(), since=since, lang=request.lang)
    seen = view(request.lang, display.width, display.level)
    return _given(written(found, asked.form, seen), asked)


def _rows_given(
    answers: Iterable[AnswerSummary], told: Sequence[ToldOutcome], asked: ReportOptions
) -> int:
    """Write a row a job, as they are read."""
    from trainrx.fleet.report.rows import rows, write_parquet

    if asked.form == "parquet" and asked.output is not None:
        write_parquet(rows(answers, told), asked.output)
        return 0
    lines = (msgspec.json.encode(row).decode() + "\n" for row in rows(answers, told))
    if asked.output is not None:
        return _given("".join(lines), asked)
    # of a million jobs what is written is not all held
    parts = iter(lambda: "".join(islice(lines, LINES)), "")
    return max((write_answer(part, utf8=True) for part in parts), default=0)


@takes(Language)
def export_cases(
    request: Request,
    folder: Annotated[Path, typer.Argument(metavar="DIR", show_default=False, help="Where to.")],
    *,
    history: History = None,
) -> int:
    """Write labelled cases."""
    from trainrx.fleet.export import export

    with closing(_opened(history)) as store:
        files = export(store.answers(), store.outcomes(), folder)
    return write(EXPORTED.in_(request.lang).format(count=len(files), folder=folder) + "\n")


@takes(*KNOWN)
def compare(
    request: Request,
    display: Display,
    good: Annotated[
        list[str], typer.Argument(metavar="GOOD...", show_default=False, help="Runs that worked.")
    ],
    bad: Annotated[
        list[str], typer.Option("--bad", metavar="BAD", help="Runs that did not; may be repeated.")
    ],
    *,
    form: Annotated[Literal["text", "json"], typer.Option("--format", help="Its form.")] = "text",
    history: History = None,
) -> int:
    """Compare good and bad runs."""
    from trainrx.fleet.across.regression import regression
    from trainrx.fleet.report.comparison import document
    from trainrx.render.formats.text import write as written
    from trainrx.render.redact import masked

    kept = {}
    if history is not None and history.exists():
        with closing(_opened(history)) as store:
            kept = {answer.key: answer for answer in store.answers()}
    with progress(request.lang, form):
        runs = [[*_runs(words, kept, request)] for words in (good, bad)]
    seen = view(request.lang, display.width, display.level)
    found = masked(regression(runs[0], runs[1], request.lang), seen.redaction)
    if form == "json":
        text = msgspec.json.encode(found).decode() + "\n"
        return write_answer(text, utf8=True)
    text = written(document(found, seen), seen)
    return write_answer(text)


def moment(text: str, now: datetime) -> float:
    """Read `7d`, `24h` or a date as seconds since the epoch.

    Raises:
        UsageError: it is neither.
    """
    span = _SPAN.fullmatch(text.strip())
    if span is not None:
        return now.timestamp() - int(span[1]) * SPANS[span[2]]
    try:
        return datetime.fromisoformat(text.strip()).astimezone().timestamp()
    except ValueError as error:
        raise UsageError(
            f"--since {text}: expected a span (24h, 7d, 4w) or a date (2026-11-01)"
        ) from error


def _runs(
    words: Sequence[str], kept: dict[str, JobAnswer], request: Request
) -> Iterator[JobAnswer]:
    """Answer the runs some words mean; what the history has is not answered again."""
    from trainrx.fleet.record import JobLimits
    from trainrx.fleet.sources import sources_of
    from trainrx.fleet.work import examine

    limits = JobLimits(kb=tuple(map(str, request.kb)), rules=tuple(map(str, request.rules)))
    yield from (kept[word] for word in words if word in kept)
    paths = [word for word in words if word not in kept]
    for source in sources_of(paths) if paths else ():
        for job in source.jobs(None):
            yield examine(source.prepared(job), limits)


def _change(text: str) -> tuple[str, str]:
    param, _, value = text.partition("=")
    if not param.strip():
        raise UsageError(f"--by {text}: expected PARAM=VALUE")
    return param.strip().lstrip("-"), value.strip()


def _opened(history: Path | None) -> Store:
    from trainrx.fleet.history.store import Store

    if history is None:
        raise UsageError("which history? --history FILE, or TRAINRX_HISTORY")
    if not history.exists():
        raise UsageError(f"{history}: there is no such history; `diagnose fleet` begins one")
    return Store.open(history, clock=time.time)


def _given(text: str, asked: ReportOptions) -> int:
    if asked.output is None:
        return write_answer(text, utf8=asked.form not in ("text", "markdown"))
    save(asked.output, text)
    return 0
