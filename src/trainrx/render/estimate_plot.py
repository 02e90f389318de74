"""An estimate as a figure: a stacked bar per phase, the card's limit across them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from trainrx.model.errors import UsageError
from trainrx.model.estimate import Estimate
from trainrx.model.memory import CACHED, CONTEXT, Prediction
from trainrx.model.text import Lang
from trainrx.render import estimate_words as words
from trainrx.render.document import View
from trainrx.render.estimate_bars import Stack, bars, full_scale, legend
from trainrx.render.estimate_words import gib
from trainrx.render.figures import COLOURS, drawing, write_canvas
from trainrx.render.inputs import job_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HATCHES = ("", "//", "xx")
BEYOND = {CACHED: "#bbbbbb", CONTEXT: "#dddddd"}


def write_plot(estimate: Estimate, path: Path) -> None:
    """Draw the figure and write it.

    Raises:
        UsageError: there is nothing to draw, or the file cannot be written.
    """
    found = estimate.prediction
    if found is None:
        raise UsageError(f"--plot {path}: there is no prediction to draw")
    from matplotlib.figure import Figure as Canvas

    with drawing(estimate.lang) as lang:
        canvas = Canvas(figsize=(9.0, 1.8 + 0.42 * (len(found.phases) + 1)), layout="constrained")
        _draw(canvas.add_subplot(), found, lang)
        canvas.suptitle(job_text(estimate.job, View(lang)), fontsize=9, parse_math=False)
        write_canvas(canvas, path)


def _draw(axes: Axes, found: Prediction, lang: Lang) -> None:
    shown, card = bars(found, lang), found.card
    last = len(shown) - 1
    labelled: set[str] = set()
    for row, bar in enumerate(shown):
        left = _stack(axes, row, bar, _paints(found), lang, labelled)
        end = max(left, bar.gib, card.high if row == last else 0.0)
        axes.text(end, row, f" {gib(bar.gib)}", va="center", fontsize=8)
    axes.errorbar(
        card.gib,
        last,
        xerr=[[max(0.0, card.gib - card.low)], [max(0.0, card.high - card.gib)]],
        color="black",
        capsize=4,
        linewidth=1,
    )
    if found.limit_gib is not None:
        text = words.LIMIT_MARK.in_(lang).format(limit=f"{gib(found.limit_gib)} GiB")
        axes.axvline(found.limit_gib, color="#c00000", linestyle="--", linewidth=1.2, label=text)
    axes.set_yticks(range(len(shown)), [bar.label for bar in shown])
    axes.invert_yaxis()
    axes.set_xlim(0, 1.12 * max(full_scale(found), card.high))
    axes.set_xlabel(words.TITLE.in_(lang))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.22), ncols=4, frameon=False)


def _stack(
    axes: Axes, row: int, bar: Stack, drawn: dict[str, Paint], lang: Lang, labelled: set[str]
) -> float:
    """Draw the parts of one bar side by side; give where it ends. Each name is labelled once."""
    left = 0.0
    for part in bar.parts:
        width, paint = max(0.0, part.gib), drawn[part.name]
        axes.barh(
            row,
            width,
            left=left,
            color=paint.colour,
            hatch=paint.hatch,
            edgecolor="white",
            linewidth=0,
            label="_nolegend_" if part.name in labelled else legend(part.name, lang),
            height=0.7,
        )
        labelled.add(part.name)
        left += width
    return left


class Paint(NamedTuple):
    """How a term is painted; hatched once the colours are used up."""

    colour: str
    hatch: str = ""


def _paints(found: Prediction) -> dict[str, Paint]:
    names = dict.fromkeys(term.name for phase in found.phases for term in phase.terms)
    out = {
        name: Paint(COLOURS[place % len(COLOURS)], HATCHES[place // len(COLOURS) % len(HATCHES)])
        for place, name in enumerate(names)
    }
    return out | {name: Paint(colour) for name, colour in BEYOND.items()}
