"""`diagnose lint`: what is wrong with a launch, before it runs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import typer

from trainrx.cli import make_app
from trainrx.cli._options import (
    Data,
    Display,
    Folders,
    Installed,
    LangOption,
    LaunchOptions,
    Machine,
    names_of,
    takes,
)
from trainrx.cli._output import (
    complain,
    format_option,
    is_terminal,
    write,
    write_answer,
    write_file,
    write_patch,
)
from trainrx.cli._progress import progress
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.launch.request import Request
from trainrx.linter.check import Linter
from trainrx.linter.files import File, lint_files
from trainrx.linter.jobs import around
from trainrx.linter.run import groups, lint, report_of
from trainrx.linter.settings import FailOn, Settings, chooser
from trainrx.model.errors import UsageError
from trainrx.model.findings import Finding
from trainrx.model.job import NO_FILES
from trainrx.model.lint import LintReport
from trainrx.render import render
from trainrx.render.document import View
from trainrx.render.formats import load
from trainrx.render.lint import titles

HELP = """\
Say what is wrong with launches before they run: arguments this version does not take, values it
refuses, traps of the shell, layouts that do not add up, memory that will not do.

PATH is a launch script, a configuration or a folder (default: this one); - reads standard input.

\b
  diagnose lint launch.sh --versions ms-swift==3.2.1
  diagnose lint scripts/ --fix
  diagnose lint launch.sh --data
  diagnose lint - --format json < launch.sh

Rules are named by id, by group (arguments, guards, shell, config, layout, environment, versions,
memory, time, data, lint) or all. Exit status: 0 nothing found, 1 something found, 2 wrong use. A
finding is held back by `# diagnose: ignore=RULE reason` at the end of its line, or on a line of its
own above the command; `diagnose explain RULE` says what a rule is about.
"""
Names = list[str] | None


class Choice(msgspec.Struct):
    """Which rules are wanted, and of which files."""

    select: Annotated[
        Names, typer.Option("--select", metavar="RULE,...", help="Only these rules.")
    ] = None
    ignore: Annotated[
        Names, typer.Option("--ignore", metavar="RULE,...", help="All rules but these.")
    ] = None
    extend_select: Annotated[
        Names, typer.Option("--extend-select", metavar="RULE,...", help="These rules as well.")
    ] = None
    exclude: Annotated[
        Names,
        typer.Option("--exclude", metavar="PATTERN,...", help="Files of folders to leave out."),
    ] = None
    settings: Annotated[
        str | None,
        typer.Option(
            "--settings",
            metavar="FILE",
            help="Default: trainrx.toml or [tool.trainrx] of pyproject.toml above PATH.",
        ),
    ] = None
    only_launches: Annotated[
        bool, typer.Option("--only-launches", help="Say nothing of files that hold no launch.")
    ] = False
    isolated: Annotated[bool, typer.Option("--isolated", help="Read no settings.")] = False


class Known(msgspec.Struct):
    """What is put up with."""

    baseline: Annotated[
        str | None,
        typer.Option("--baseline", metavar="FILE", help="Tell only what this file does not hold."),
    ] = None
    write_baseline: Annotated[
        str | None,
        typer.Option(
            "--write-baseline", metavar="FILE", help="Write what is found into such a file."
        ),
    ] = None


class Mending(msgspec.Struct):
    """What becomes of the files."""

    fix: Annotated[
        bool, typer.Option("--fix", help="Make safe fixes: names, spelling, shell traps.")
    ] = False
    unsafe_fixes: Annotated[
        bool, typer.Option("--unsafe-fixes", help="Make those that change results as well.")
    ] = False
    diff: Annotated[
        bool, typer.Option("--diff", help="Show what would be changed, change nothing.")
    ] = False

    @property
    def asked(self) -> bool:
        """Tell whether something is to be mended."""
        return self.fix or self.unsafe_fixes or self.diff


class LintOutput(msgspec.Struct):
    """How the answer is given."""

    form: Annotated[str, format_option("LintReport")] = "text"
    statistics: Annotated[
        bool, typer.Option("--statistics", help="Count the findings of each rule.")
    ] = False
    fail_on: Annotated[
        FailOn | None,
        typer.Option("--fail-on", help="Exit with 1 from this severity on; default warning."),
    ] = None
    exit_zero: Annotated[
        bool, typer.Option("--exit-zero", help="Exit with 0 whatever is found.")
    ] = False
    lang: LangOption = None
    color: Annotated[
        Literal["auto", "always", "never"], typer.Option("--color", help="Colour the text.")
    ] = "auto"
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the answer into a file."),
    ] = None


ListOption = Annotated[bool, typer.Option("--list", help="List all rules.")]

app = make_app(bare=True)


class LintRun(msgspec.Struct, frozen=True):
    """One run: what is asked, the settings that hold, the rules."""

    request: Request
    settings: Settings
    loaded: LoadedKnowledge
    answer: LintOutput
    known: Known
    view: View


@app.command("lint", help=HELP)
@takes(LaunchOptions, Installed, Machine, Data, Folders)
def run_lint(
    request: Request,
    choice: Choice,
    known: Known,
    mending: Mending,
    answer: LintOutput,
    display: Display,
    *,
    listed: ListOption = False,
) -> int:
    """Lint some files."""
    if any(name.endswith(".toml") for name in request.config):
        raise UsageError("--config is a configuration of the launch; settings go with --settings")
    paths = request.paths or (() if request.cmd or request.config else (".",))
    settings = _settings(choice, paths)
    lang = answer.lang or settings.lang or request.lang
    request = msgspec.structs.replace(request, paths=paths, lang=lang)
    seen = View(
        lang,
        display.width or 80,
        colour=_colour(answer),
        terminal=is_terminal() and not answer.output,
        redaction=display.level,
    )
    run = LintRun(
        request, settings, LoadedKnowledge(request.kb, request.rules), answer, known, seen
    )
    if listed:
        from trainrx.render.lint import as_list

        return write(as_list(run.loaded.lint, request.lang))
    if mending.asked:
        return mend(run, mending)
    with progress(lang, answer.form):
        report = lint(request, run.loaded, settings=settings)
    return told(report, run)


def told(report: LintReport, run: LintRun) -> int:
    """Print a report in the form asked for; give the exit status."""
    report, written = _against_baseline(report, run)
    if written:
        return write(written, run.view.redaction)
    for name, reason in report.unread:
        complain(f"{name}: {reason}", run.view.lang, run.view.redaction)
    text, answer = _rendered(report, run), run.answer
    if run.settings.only_launches and answer.form == "text" and not report.findings:
        text = ""
    if answer.output:
        Path(answer.output).write_text(text, encoding="utf-8")
        status = 0
    else:
        status = write_answer(text, utf8=load(answer.form).utf8)
    if status or answer.exit_zero:
        return status
    return int(fails(report.findings, answer.fail_on or run.settings.fail_on or "warning"))


def fails(findings: tuple[Finding, ...], threshold: FailOn) -> bool:
    """Tell whether a finding is at or above a severity."""
    order = ("error", "warning", "info")
    if threshold == "none":
        return False
    wanted = order[: order.index(threshold) + 1]
    return any(item.severity in wanted for item in findings)


POSTED = "is a post: nothing is written into it"


def mend(run: LintRun, mending: Mending) -> int:
    """Mend the files; what is left is the answer. With --diff only the differences are shown."""
    from trainrx.linter.mend import mended

    request, settings = run.request, run.settings
    linter = Linter(run.loaded.lint, chooser(settings, groups(run.loaded.lint)), request.lang)
    beside = around(settings, run.loaded, request)
    unread: list[tuple[str, str]] = []
    diffs: list[str] = []
    left: list[File] = []
    made = 0
    paths = (*request.paths, *request.cmd, *request.config)
    only = settings.only_launches
    for file in lint_files(paths, request.stdin, settings.exclude, unread, only_launches=only):
        if file.posted:
            left.append(file)
            unread.append((file.name, POSTED))
            continue
        done = mended(file, linter, beside, unsafe=mending.unsafe_fixes)
        made += done.made
        left.append(msgspec.structs.replace(file, text=done.text))
        if done.made and mending.diff:
            diffs.append(_diff(file, done.text))
        elif done.made and file.name not in NO_FILES and not _written(file, done.text):
            return 2
    if mending.diff:
        status = write_patch("".join(diffs), run.view)
        return status or int(bool(diffs) and not run.answer.exit_zero)
    piped = [file for file in left if file.name in NO_FILES and not file.posted]
    if piped:
        return write_file("".join(file.text for file in piped), run.view)
    report = report_of(left, linter, beside, settings, unread)
    if made:
        complain(f"mended {made} finding{'' if made == 1 else 's'}", request.lang)
    return told(report, run)


def _written(file: File, text: str) -> bool:
    """Write a file back in UTF-8, with the line ends it has now."""
    try:
        with Path(file.name).open("w", encoding="utf-8", newline="") as handle:
            handle.write(text)
    except OSError as error:
        complain(f"{file.name}: cannot be written: {error.strerror or error}")
        return False
    return True


def _diff(file: File, text: str) -> str:
    from difflib import unified_diff

    before, after = file.text.splitlines(keepends=True), text.splitlines(keepends=True)
    lines = unified_diff(before, after, f"a/{file.name}", f"b/{file.name}")
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def _rendered(report: LintReport, run: LintRun) -> str:
    if run.answer.statistics:
        from trainrx.render.lint import statistics

        return statistics(report)
    report = msgspec.structs.replace(report, titles=titles(run.loaded.lint))
    return render(report, run.answer.form, run.view)


def _against_baseline(report: LintReport, run: LintRun) -> tuple[LintReport, str]:
    """Leave out what the baseline holds, or write one; the second is what to say then."""
    name, target = run.known.baseline or run.settings.baseline, run.known.write_baseline
    if not name and not target:
        return report, ""
    from trainrx.linter.settings import baseline_of, new_ones, read_baseline

    def line(file: str, number: int | None) -> str:
        return report.texts.get(file, {}).get(number or 0, "")

    if target:
        Path(target).write_text(baseline_of(report.findings, line), encoding="utf-8")
        return report, f"wrote {target}: {len(report.findings)} findings put up with\n"
    path = Path(name or "")
    if not path.is_file():
        raise UsageError(f"{name}: no such baseline. Write one with --write-baseline {name}")
    held = read_baseline(path.read_text(encoding="utf-8"), str(path))
    fresh, gone = new_ones(report.findings, held, line)
    ignored = report.ignored + gone
    return msgspec.structs.replace(report, findings=tuple(fresh), ignored=ignored), ""


def _settings(choice: Choice, paths: tuple[str, ...]) -> Settings:
    """Give the settings that hold: those of the file named, of none, or of the nearest upwards."""
    from trainrx.linter.settings import find_settings, read_settings

    held = Settings()
    if choice.settings:
        held = read_settings(choice.settings)
    elif not choice.isolated:
        first = Path(next((path for path in paths if path != "-"), "."))
        held = find_settings(first if first.is_dir() else first.parent)[0]
    return msgspec.structs.replace(
        held,
        select=names_of(choice.select) or held.select,
        ignore=(*held.ignore, *names_of(choice.ignore)),
        extend_select=(*held.extend_select, *names_of(choice.extend_select)),
        exclude=(*held.exclude, *names_of(choice.exclude)),
        only_launches=held.only_launches or choice.only_launches,
    )


def _colour(answer: LintOutput) -> bool:
    if answer.color != "auto":
        return answer.color == "always"
    if os.environ.get("NO_COLOR") or answer.output:
        return False
    return is_terminal()
