"""A report as one static page: nothing is loaded from elsewhere and nothing in it runs."""

from __future__ import annotations

import base64
import hashlib
from importlib.util import find_spec
from pathlib import Path

from trainrx.fleet.report import words
from trainrx.fleet.report.chart import hours_chart
from trainrx.fleet.report.summary import FleetReport
from trainrx.model.errors import UsageError
from trainrx.sanitizer.controls import clean

FOLDER = Path(__file__).parent
MOST_ROWS = 200


def check_html() -> None:
    """Refuse to write a page where what draws and writes it is missing.

    Raises:
        UsageError: matplotlib or jinja2 is not installed.
    """
    for library in ("matplotlib", "jinja2"):
        if find_spec(library) is None:
            raise UsageError(
                f"--format html needs {library}, which is not installed: "
                "pip install 'trainrx[report]'"
            )


def html_page(report: FleetReport) -> str:
    """Write the page; all text of jobs stands for itself, whatever is in it."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["clean"] = clean
    style = (FOLDER / "page.css").read_text(encoding="utf-8")
    template = environment.get_template("page.html.j2")
    return template.render(
        report=report,
        lang="zh-CN" if report.lang == "zh" else "en",
        words=words,
        say=lambda text: text.in_(report.lang),
        style=style,
        policy=_policy(style),
        # as an image it has its own styles, which the policy of the page does not allow
        charts=[(title, _image(svg)) for title, svg in _charts(report) if svg],
        most=MOST_ROWS,
    )


def _charts(report: FleetReport) -> tuple[tuple[str, str], ...]:
    lang = report.lang
    return (
        (words.BY[report.by].in_(lang), hours_chart(report.groups, lang)),
        (words.PARAMS.in_(lang), hours_chart(report.params, lang)),
    )


def _policy(style: str) -> str:
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _image(svg: str) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
