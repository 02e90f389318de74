"""Findings as annotations of a GitHub workflow.

https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from trainrx.model.findings import Finding
from trainrx.model.lint import LintReport
from trainrx.render.document import View
from trainrx.render.formats import Format

_GITHUB = {"error": "error", "warning": "warning", "info": "notice"}


def write(report: LintReport, _view: View) -> str:
    """Write workflow commands, one a line."""
    return "".join(_annotation(item) for item in report.findings)


def _annotation(item: Finding) -> str:
    places = (("line", item.line), ("col", item.column), ("endColumn", item.end_column))
    told = "".join(f",{key}={value}" for key, value in places if value is not None)
    head = f"file={_property(item.file)}{told},title={_property(item.rule)}"
    return f"::{_GITHUB[item.severity]} {head}::{_data(item.message)} [{item.rule}]\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


FORMAT = Format(record=write, kinds=("LintReport",))
