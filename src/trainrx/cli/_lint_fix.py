"""`diagnose lint --fix` and `--diff`: write what can be mended, or show it."""

from __future__ import annotations

from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from trainrx.cli._output import complain, write
from trainrx.linter.check import Linter
from trainrx.linter.files import STDIN, File, lint_files
from trainrx.linter.jobs import RunContext
from trainrx.linter.mend import mended
from trainrx.linter.run import groups, report_of
from trainrx.linter.settings import Settings, chooser
from trainrx.model.text import Lang

if TYPE_CHECKING:
    from trainrx.cli._lint_options import LintOptions
    from trainrx.model.lint import LintKnowledge


def mend(
    options: LintOptions,
    paths: list[str],
    knowledge: LintKnowledge,
    beside: RunContext,
    settings: Settings,
    lang: Lang,
    stdin: bytes | None,
) -> int:
    """Mend the files; what is left is the answer. With --diff only the differences are shown."""
    from trainrx.cli.lint import answer

    linter = Linter(knowledge, chooser(settings, groups(knowledge)), lang)
    unread: list[tuple[str, str]] = []
    diffs: list[str] = []
    left: list[tuple[File, str]] = []
    made = 0
    for file in lint_files(paths, stdin, settings.exclude, unread):
        done = mended(file, linter, beside, unsafe=options.unsafe_fixes)
        made += done.made
        left.append((file, done.text))
        if done.made and options.diff:
            diffs.append(_diff(file, done.text))
        elif done.made and file.name != STDIN and not _written(file, done.text):
            return 2
    if options.diff:
        status = write("".join(diffs))
        return status or int(bool(diffs) and not options.exit_zero)
    if any(file.name == STDIN for file, _ in left):
        return write("".join(text for file, text in left if file.name == STDIN))
    mended_files = [msgspec.structs.replace(file, text=text) for file, text in left]
    report = report_of(mended_files, linter, beside, settings, unread)
    if made:
        complain(f"mended {made} finding{'' if made == 1 else 's'}")
    return answer(report, options, settings, knowledge, lang)


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
    before, after = file.text.splitlines(keepends=True), text.splitlines(keepends=True)
    lines = unified_diff(before, after, f"a/{file.name}", f"b/{file.name}")
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )
