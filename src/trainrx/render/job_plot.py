"""A job as a figure: memory of its ranks over the steps, and where its last collectives parted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from trainrx.model.errors import UsageError
from trainrx.model.figure import CallMark, EventKind, JobFigure
from trainrx.model.ranks import ranges
from trainrx.model.text import Lang, Text
from trainrx.render.document import View
from trainrx.render.figures import COLOURS, drawing, write_canvas
from trainrx.render.inputs import job_text
from trainrx.sanitizer.controls import clean

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SUFFIXES = (".svg", ".png", ".html")
MOST_LABELLED = 8
"""Ranks that get a colour and a name each; of more the others are grey."""
MOST_NAMED = 6
"""Calls of which all are named; of more the last, and those that differ between ranks."""
RED, GREY = "#c00000", "#bbbbbb"
STATES = {"completed": "#009e73", "started": "#e69f00", "scheduled": "#56b4e9", "timed-out": RED}
MARKS: dict[EventKind, tuple[str, str, Text]] = {
    "oom": (RED, "X", Text(en="out of memory", zh="显存不足")),
    "nan": ("#000000", "v", Text(en="NaN", zh="NaN")),
    "stall": ("#cc79a7", "s", Text(en="stall", zh="停滞")),
    "failure": ("#d55e00", "P", Text(en="failure", zh="故障")),
    "evaluation": ("#56b4e9", "|", Text(en="evaluation", zh="评估")),
    "save": ("#009e73", "|", Text(en="checkpoint", zh="保存 checkpoint")),
}
"""Colour, sign and name of what happens."""
FOOT: dict[EventKind, float] = {"evaluation": 0.02, "save": 0.06}
"""Stages are marked at the foot, as a share of the height."""
STATE_NAMES: dict[str, Text] = {
    "completed": Text(en="completed", zh="已完成"),
    "started": Text(en="started", zh="已开始"),
    "scheduled": Text(en="enqueued", zh="已入队"),
    "timed-out": Text(en="timed out", zh="已超时"),
}
MEMORY = Text(en="Memory of the card", zh="显存")
PEAK = Text(en="{what} peaks at {gib} GiB", zh="{what}峰值 {gib} GiB")
PEAK_OF = Text(en="{what} peaks at {gib} of {limit} GiB", zh="{what}峰值 {gib}/{limit} GiB")
OOM_AT = Text(en=", out of memory at step {step}", zh="，第 {step} 步显存不足")
FULL_AT = Text(
    en=", full near step {step} ({low} to {high})", zh="，约第 {step} 步用完（{low}～{high}）"
)
CARD = Text(en="card: {gib} GiB", zh="显卡：{gib} GiB")
FORECAST = Text(en="forecast", zh="预测")
STEP = Text(en="step", zh="步")
CALL = Text(en="number of the collective", zh="集合通信序号")
RANK = Text(en="rank {n}", zh="rank {n}")
OTHERS = Text(en="other ranks", zh="其他 rank")
CALLS = Text(en="The last collectives of {n} ranks", zh="{n} 个 rank 最近的集合通信")
WAITED_FOR = Text(en=": the others wait for rank {ranks}", zh="：其他 rank 在等 rank {ranks}")
NOTHING = (
    "nothing to draw: expected logs with the memory of steps (`memory(GiB)`, "
    "`perf/max_memory_allocated_gb` ...), or recorder dumps or watchdog lines of several ranks"
)


def write_job_plot(figure: JobFigure, path: Path) -> None:
    """Draw the figure and write it.

    Raises:
        UsageError: there is nothing to draw, or the file cannot be written.
    """
    panels: list[tuple[float, Callable[[Axes, JobFigure, Lang], None]]] = []
    if figure.memory:
        panels.append((3.2, _draw_memory))
    ranks = {mark.rank for mark in figure.calls} | set(figure.missing)
    if len(ranks) > 1:
        panels.append((1.5 + 0.28 * min(len(ranks), 40), _draw_calls))
    if not panels:
        raise UsageError(f"--plot {path}: {NOTHING}")
    from matplotlib.figure import Figure as Canvas

    with drawing(figure.lang) as lang:
        heights = [height for height, _ in panels]
        canvas = Canvas(figsize=(9.0, 0.5 + sum(heights)), layout="constrained")
        grid = canvas.subplots(len(panels), 1, squeeze=False, height_ratios=heights)
        for (_, draw), axes in zip(panels, grid[:, 0], strict=True):
            draw(axes, figure, lang)
        job = clean(job_text(figure.job, View(lang)))
        if job:
            canvas.suptitle(job, fontsize=9, parse_math=False)
        write_canvas(canvas, path)


def _draw_memory(axes: Axes, figure: JobFigure, lang: Lang) -> None:
    several = len(figure.memory) > 1
    for place, curve in enumerate(figure.memory):
        named = several and curve.number is not None and place < MOST_LABELLED
        axes.plot(
            curve.at,
            curve.values,
            color=COLOURS[place % len(COLOURS)] if place < MOST_LABELLED else GREY,
            linewidth=1.6,
            marker="o" if len(curve.at) == 1 else "",
            label=RANK.in_(lang).format(n=curve.number) if named else "_nolegend_",
            zorder=3 if place < MOST_LABELLED else 2,
        )
    if len(figure.memory) > MOST_LABELLED:
        axes.plot([], [], color=GREY, label=OTHERS.in_(lang))
    _draw_limit(axes, figure, lang)
    _draw_events(axes, figure, lang)
    axes.set_title(_memory_title(figure, lang), fontsize=10, loc="left")
    axes.set_xlabel(STEP.in_(lang))
    axes.set_ylabel("GiB")
    highest = max(max(curve.values) for curve in figure.memory)
    axes.set_ylim(0, 1.12 * max(highest, figure.limit_gib or 0.0))
    _finish(axes)


def _draw_limit(axes: Axes, figure: JobFigure, lang: Lang) -> None:
    """Draw the card across, and the way to it where memory is forecast to reach it."""
    limit = figure.limit_gib
    if limit is not None:
        text = CARD.in_(lang).format(gib=f"{limit:.1f}")
        axes.axhline(limit, color=RED, linestyle="--", linewidth=1.2, label=text)
    if figure.forecast is not None and limit is not None:
        lead = max(figure.memory, key=lambda curve: curve.values[-1])
        ahead = figure.forecast
        axes.plot(
            [lead.at[-1], ahead.step],
            [lead.values[-1], limit],
            color="black",
            linestyle=":",
            linewidth=1.2,
            label=FORECAST.in_(lang),
        )
        axes.axvspan(ahead.low, ahead.high, color="black", alpha=0.08, linewidth=0)


def _draw_events(axes: Axes, figure: JobFigure, lang: Lang) -> None:
    """Mark what happened: on the curve of its rank, stages at the foot."""
    for kind, (colour, sign, name) in MARKS.items():
        found = [event for event in figure.events if event.kind == kind]
        if not found:
            continue
        stage = kind in FOOT
        heights = [
            FOOT[kind] if stage else _height(figure, event.step, event.rank) for event in found
        ]
        axes.scatter(
            [event.step for event in found],
            heights,
            color=colour,
            marker=sign,
            s=60 if stage else 70,
            transform=axes.get_xaxis_transform() if stage else axes.transData,
            label=name.in_(lang),
            zorder=5,
            clip_on=stage,
        )


def _height(figure: JobFigure, step: float, rank: int | None) -> float:
    """Give the memory at a step: of the rank, or else the highest."""
    own = [curve for curve in figure.memory if rank is not None and curve.number == rank]
    found = [
        curve.values[min(range(len(curve.at)), key=lambda i: abs(curve.at[i] - step))]
        for curve in own or figure.memory
    ]
    return max(found)


def _memory_title(figure: JobFigure, lang: Lang) -> str:
    peak = f"{max(max(curve.values) for curve in figure.memory):.1f}"
    what, limit = MEMORY.in_(lang), figure.limit_gib
    if limit is None:
        said = PEAK.in_(lang).format(what=what, gib=peak)
    else:
        said = PEAK_OF.in_(lang).format(what=what, gib=peak, limit=f"{limit:.1f}")
    oom = next((event for event in figure.events if event.kind == "oom"), None)
    if oom is not None:
        return said + OOM_AT.in_(lang).format(step=round(oom.step))
    if figure.forecast is not None:
        at = figure.forecast
        step, low, high = (round(value) for value in (at.step, at.low, at.high))
        return said + FULL_AT.in_(lang).format(step=step, low=low, high=high)
    return said


def _draw_calls(axes: Axes, figure: JobFigure, lang: Lang) -> None:
    """Draw a row for each rank, a cell for each call in the colour of how far it came."""
    ranks = sorted({mark.rank for mark in figure.calls} | set(figure.missing))
    rows = {rank: row for row, rank in enumerate(ranks)}
    numbers = sorted({mark.seq for mark in figure.calls})
    columns = {seq: column for column, seq in enumerate(numbers)}
    for state, colour in STATES.items():
        cells = [mark for mark in figure.calls if (mark.state or "scheduled") == state]
        if cells:
            axes.barh(
                [rows[mark.rank] for mark in cells],
                [0.92] * len(cells),
                left=[columns[mark.seq] - 0.46 for mark in cells],
                height=0.8,
                color=colour,
                label=STATE_NAMES[state].in_(lang),
            )
    for rank in figure.culprits:
        own = [columns[mark.seq] for mark in figure.calls if mark.rank == rank]
        if own:  # its last call is where it stands
            axes.barh(
                rows[rank], 0.92, left=max(own) - 0.46, height=0.8, fill=False, edgecolor=RED, lw=2
            )
    _name_calls(axes, figure.calls, rows, columns)
    axes.set_yticks(range(len(ranks)), [RANK.in_(lang).format(n=rank) for rank in ranks])
    for tick, rank in zip(axes.get_yticklabels(), ranks, strict=True):
        if rank in figure.culprits or rank in figure.missing:
            tick.set_color(RED)
            tick.set_fontweight("bold")
    axes.set_xticks(range(len(numbers)), [str(seq) for seq in numbers], fontsize=8)
    axes.set_xlim(-0.6, max(len(numbers), 4) - 0.4)
    axes.set_ylim(-0.6, len(ranks) - 0.4)
    axes.invert_yaxis()
    axes.set_xlabel(CALL.in_(lang))
    who = ranges((*figure.culprits, *figure.missing))
    aside = WAITED_FOR.in_(lang).format(ranks=who) if who else ""
    axes.set_title(CALLS.in_(lang).format(n=len(ranks)) + aside, fontsize=10, loc="left")
    _finish(axes)


def _name_calls(
    axes: Axes, calls: Sequence[CallMark], rows: dict[int, int], columns: dict[int, int]
) -> None:
    """Write the collective into a cell: where ranks call different ones, and in the last call."""
    last = max(columns)
    for seq, column in columns.items():
        named = [mark for mark in calls if mark.seq == seq]
        crowded = len(columns) > MOST_NAMED
        if crowded and seq != last and len({mark.op for mark in named}) == 1:
            continue
        for mark in named:
            axes.text(
                column,
                rows[mark.rank],
                clean(mark.op)[:16],
                ha="center",
                va="center",
                fontsize=7,
                parse_math=False,
            )


def _finish(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(
            fontsize=8, loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, borderaxespad=0
        )
