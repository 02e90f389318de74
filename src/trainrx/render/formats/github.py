"""Findings as annotations of a GitHub workflow.

https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from trainrx.model.findings import Finding
from trainrx.model.lint import LintReport
from trainrx.render.document import View
from trainrx.render.formats import Format
from trainrx.sanitizer import media

_GITHUB = {"error": "error", "warning": "warning", "info": "notice"}


def write(report: LintReport, _view: View) -> str:
    """Write workflow commands, one a line."""
    return "".join(_annotation(item) for item in report.findings)


def _annotation(item: Finding) -> str:
    file, rule = map(media.annotation_property, (item.file, item.rule))
    places = (("line", item.line), ("col", item.column), ("endColumn", item.end_column))
    at = "".join(f",{key}={value}" for key, value in places if value is not None)
    said = media.annotation(f"{item.message} [{item.rule}]")
    return f"::{_GITHUB[item.severity]} file={file}{at},title={rule}::{said}\n"


def _commands(text: str) -> str:
    """Leave a line as it is: each was made of what has passed `media.annotation`."""
    return text


FORMAT = Format(record=write, medium=_commands, kinds=("LintReport",))
