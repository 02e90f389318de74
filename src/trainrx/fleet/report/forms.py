"""The forms of a report, each masked and safe to show in its own way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal

import msgspec

from trainrx.fleet.report.document import document
from trainrx.fleet.report.html import check_html, html_page
from trainrx.fleet.report.metrics import check_metrics, exposition
from trainrx.fleet.report.rows import check_parquet
from trainrx.fleet.report.summary import FleetReport
from trainrx.render.document import View
from trainrx.render.formats.markdown import write as markdown
from trainrx.render.formats.text import FORMAT as TEXT
from trainrx.render.redact import masked
from trainrx.sanitizer import media

Form = Literal["text", "markdown", "json", "jsonl", "parquet", "html", "prometheus"]
CHECKS: Mapping[str, Callable[[], None]] = MappingProxyType(
    {"html": check_html, "parquet": check_parquet, "prometheus": check_metrics}
)
"""What a form needs is looked for before anything is worked out."""


def check(form: Form) -> None:
    """Refuse a form whose library is missing.

    Raises:
        UsageError: says what to install.
    """
    if form in CHECKS:
        CHECKS[form]()


def written(report: FleetReport, form: Form, view: View) -> str:
    """Write a report in a form that is of the whole; rows of jobs are `rows`."""
    report = masked(report, view.redaction)
    if form == "json":
        return (
            media.json(msgspec.json.format(msgspec.json.encode(report), indent=2).decode()) + "\n"
        )
    if form == "html":
        return html_page(report)
    if form == "prometheus":
        return exposition(report)
    if form == "markdown":
        view = view._replace(post=True)
        return media.markdown(markdown(document(report, view), view))
    return TEXT.document(document(report, view), view)
