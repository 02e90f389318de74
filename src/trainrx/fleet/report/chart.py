"""What a report draws: GPU hours lost by group, as one picture."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO

from trainrx.fleet.across.groups import Group
from trainrx.fleet.report import words
from trainrx.model.text import Lang
from trainrx.render.figures import COLOURS, drawing
from trainrx.sanitizer.controls import clean

MOST_BARS = 12
LONGEST_NAME = 40


def hours_chart(groups: Sequence[Group], lang: Lang) -> str:
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
