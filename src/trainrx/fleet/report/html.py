"""A report as one static page: nothing is loaded from elsewhere and nothing in it runs."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib.util import find_spec
from io import StringIO
from pathlib import Path

from trainrx.fleet.across.groups import Group
from trainrx.fleet.report import words
from trainrx.fleet.report.summary import FleetReport
from trainrx.model.errors import UsageError
from trainrx.model.text import Lang
from trainrx.render.figures import COLOURS, drawing
from trainrx.sanitizer.controls import clean

FOLDER = Path(__file__).parent
MOST_ROWS = 200
MOST_BARS = 12
LONGEST_NAME = 40


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
        (words.BY[report.by].in_(lang), _chart(report.groups, lang)),
        (words.PARAMS.in_(lang), _chart(report.params, lang)),
    )


def _chart(groups: Sequence[Group], lang: Lang) -> str:
    """Draw the hours lost of the groups that lost most, as SVG; "" where none are known."""
    from matplotlib.figure import Figure as Canvas

    shown = [group for group in groups if group.gpu_hours > 0][:MOST_BARS]
    if not shown:
        return ""
    with drawing(lang) as drawn_in:
        canvas = Canvas(figsize=(8.0, 0.6 + 0.3 * len(shown)), layout="constrained")
        axes = canvas.subplots()
        names = [clean(group.name)[:LONGEST_NAME] for group in shown]
        places = range(len(shown))
        bars = axes.barh(places, [group.gpu_hours for group in shown], color=COLOURS[0])
        axes.bar_label(bars, fmt="{:,.0f}", padding=3, fontsize=8)
        axes.set_yticks(places, names, parse_math=False)
        axes.invert_yaxis()
        axes.margins(x=0.12)
        axes.set_xlabel(words.HOURS.in_(drawn_in))
        axes.spines[["top", "right"]].set_visible(b=False)
        written = StringIO()
        canvas.savefig(written, format="svg", metadata={"Date": None})
    svg = written.getvalue()
    return svg[svg.index("<svg") :]


def _policy(style: str) -> str:
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _image(svg: str) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
