"""`diagnose lint`: what is wrong with a launch, before it runs.

It starts in the blink of an eye, once per saved file: the command line is read by hand, and
nothing is imported that a run does not need.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from trainrx.cli._lint_options import LintOptions, read_options
from trainrx.cli._output import complain, write
from trainrx.model.errors import UsageError
from trainrx.model.text import Lang

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from trainrx.linter.settings import Settings
    from trainrx.model.findings import Finding
    from trainrx.model.lint import LintKnowledge, LintReport


def run(words: list[str]) -> int:
    """Run the command on the words that follow its name."""
    options = read_options(words)
    if options.help:
        from trainrx.cli._lint_help import HELP

        return write(HELP)
    from trainrx.knowledge.lint import load_lint
    from trainrx.linter.jobs import around

    knowledge = load_lint(_paths(options.kb), _paths(options.rules))
    if options.list:
        from trainrx.render.lint_rules import as_list

        return write(as_list(knowledge, _lang(options, None)))
    settings = _settings(options)
    lang = _lang(options, settings)
    beside = around(
        settings,
        knowledge,
        versions=_versions(options.versions),
        env=options.env,
        gpu=options.gpu,
        gpus=options.gpus,
        nodes=options.nodes,
    )
    paths = options.paths or ["."]
    stdin = _stdin(paths)
    if options.fix or options.diff:
        from trainrx.cli._lint_fix import mend

        return mend(options, paths, knowledge, beside, settings, lang, stdin)
    from trainrx.linter.run import lint_report

    report = lint_report(paths, knowledge, beside, settings, lang, stdin)
    return answer(report, options, settings, knowledge, lang)


def answer(
    report: LintReport,
    options: LintOptions,
    settings: Settings,
    knowledge: LintKnowledge,
    lang: Lang,
) -> int:
    """Print a report in the form asked for; give the exit status."""
    report, written = _against_baseline(report, options, settings)
    if written:
        return write(written)
    for name, reason in report.unread:
        complain(f"{name}: {reason}")
    text = _rendered(report, options, knowledge, lang)
    if options.output:
        _write_file(options.output, text)
        status = 0
    else:
        status = write(text, utf8=options.format not in ("text", "github", "markdown"))
    if status or options.exit_zero:
        return status
    return int(fails(report.findings, options.fail_on or settings.fail_on or "warning"))


def fails(findings: tuple[Finding, ...], threshold: str) -> bool:
    """Tell whether a finding is at or above a severity."""
    order = ("error", "warning", "info")
    if threshold == "none":
        return False
    wanted = order[: order.index(threshold) + 1]
    return any(item.severity in wanted for item in findings)


def _rendered(
    report: LintReport, options: LintOptions, knowledge: LintKnowledge, lang: Lang
) -> str:
    if options.statistics:
        from trainrx.render.lint_text import statistics

        return statistics(report)
    if options.format == "text":
        from trainrx.render.lint_text import as_text

        return as_text(report, lang, colour=_colour(options))
    if options.format == "json":
        from trainrx.render.lint_json import as_json

        return as_json(report)
    if options.format == "sarif":
        from trainrx.render.lint_rules import titles
        from trainrx.render.lint_sarif import as_sarif

        return as_sarif(report, titles(knowledge), lang)
    from trainrx.render import lint_forms as forms

    if options.format == "markdown":
        return forms.as_markdown(report, lang)
    makers = {"github": forms.as_github, "gitlab": forms.as_gitlab, "junit": forms.as_junit}
    return makers[options.format](report)


def _against_baseline(
    report: LintReport, options: LintOptions, settings: Settings
) -> tuple[LintReport, str]:
    """Leave out what the baseline holds, or write one; the second is what to say then."""
    name = options.baseline or settings.baseline
    if not name and not options.write_baseline:
        return report, ""
    import msgspec

    from trainrx.linter.baseline import baseline_of, new_ones, read_baseline

    def line(file: str, number: int | None) -> str:
        return report.texts.get(file, {}).get(number or 0, "")

    if options.write_baseline:
        text = baseline_of(report.findings, line)
        _write_file(options.write_baseline, text)
        count = len(report.findings)
        return report, f"wrote {options.write_baseline}: {count} findings put up with\n"
    (path,) = _paths([name or ""])
    if not path.is_file():
        raise UsageError(f"{name}: no such baseline. Write one with --write-baseline {name}")
    held = read_baseline(path.read_text(encoding="utf-8"), str(path))
    fresh, gone = new_ones(report.findings, held, line)
    ignored = report.ignored + gone
    return msgspec.structs.replace(report, findings=tuple(fresh), ignored=ignored), ""


def _settings(options: LintOptions) -> Settings:
    import msgspec

    held = _held_settings(options)
    return msgspec.structs.replace(
        held,
        select=options.select or held.select,
        ignore=(*held.ignore, *options.ignore),
        extend_select=(*held.extend_select, *options.extend_select),
        exclude=(*held.exclude, *options.exclude),
    )


def _held_settings(options: LintOptions) -> Settings:
    """Give the settings of the file named, of none, or of the nearest one upwards."""
    if options.isolated and not options.config:
        from trainrx.linter.settings import Settings

        return Settings()
    from trainrx.linter.settings_files import find_settings, read_settings

    if options.config:
        return read_settings(options.config)
    return find_settings(_start(options.paths))[0]


def _start(paths: list[str]) -> str:
    """Give the folder from which upwards settings are looked for."""
    first = next((path for path in paths if path != "-"), ".")
    return first if os.path.isdir(first) else os.path.dirname(first)


def _paths(names: Sequence[str]) -> list[Path]:
    if not names:
        return []
    # few runs name further folders, and to import this takes as long as to judge a script
    from pathlib import Path

    return [Path(name) for name in names]


def _write_file(name: str, text: str) -> None:
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)


def _versions(given: str | None) -> Path | dict[str, str] | None:
    if given is None:
        return None
    from trainrx.cli._versions import versions_of

    return versions_of(given, "--versions")


def _stdin(paths: list[str]) -> bytes | None:
    if "-" not in paths:
        return None
    from trainrx.cli._stdin import read_stdin

    return read_stdin(_paths(paths))


def _lang(options: LintOptions, settings: Settings | None) -> Lang:
    told = options.lang or (settings.lang if settings is not None else None)
    if told is not None:
        return "zh" if told == "zh" else "en"
    names = (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    return "zh" if next((name for name in names if name), "").startswith("zh") else "en"


def _colour(options: LintOptions) -> bool:
    if options.color != "auto":
        return options.color == "always"
    if os.environ.get("NO_COLOR") or options.output:
        return False
    return sys.stdout is not None and sys.stdout.isatty()
