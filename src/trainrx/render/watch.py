"""A job that is followed, as a document: state, memory, ranks, what was seen; and as one line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from trainrx.collect.state import MemoryReading, RankState, WatchState
from trainrx.model.ranks import ranges
from trainrx.render import document as doc
from trainrx.render import watch_words as words
from trainrx.render.document import Column, Document, Row, View, children
from trainrx.render.layout import Styled
from trainrx.render.watch_words import duration
from trainrx.render.words import LISTED

BLOCKS = "▁▂▃▄▅▆▇█"
WIDEST = 48
MOST_RANKS = 16
MOST_SEEN = 4


def document(state: WatchState, view: View) -> Document:
    """Lay the state out."""
    return Document(
        children(_parts(state, view)),
        tuple(view.say(label) for label in words.LABELS),
        f"{state.tool.name} {state.tool.version}",
        short=True,
    )


def line(state: WatchState, view: View) -> str:
    """Say how the job stands in one line, for a file or a pipe."""
    clock = datetime.fromtimestamp(state.at).astimezone().strftime("%H:%M:%S")
    said = [f"{clock} {view.say(words.OUTCOME[state.outcome])}", *progress(state, view)]
    memory = _memory_text(state, view)
    said += [memory] if memory else []
    said += [text for _, text in _trouble(state, view)]
    return view.say(LISTED).join(said)


def progress(state: WatchState, view: View) -> Iterator[str]:
    """Say how far the job is."""
    if state.outcome == "waiting":
        yield view.say(words.NO_FILE)
        return
    if state.step is None:
        yield view.say(words.NO_STEP)
    elif state.total is None:
        yield view.say(words.STEP_ONLY, step=state.step)
    else:
        yield view.say(words.STEP_OF, step=state.step, total=state.total)
    if state.seconds_per_step is not None:
        yield view.say(words.PACE, time=duration(state.seconds_per_step, view.lang))
    if state.eta_seconds is not None:
        yield view.say(words.LEFT, time=duration(state.eta_seconds, view.lang))
    if state.silent is not None and state.outcome != "finished":
        yield view.say(words.QUIET, time=duration(round(state.silent), view.lang))


def _parts(state: WatchState, view: View) -> Iterator[doc.Node]:
    yield doc.Headline(
        view.say(words.OUTCOME[state.outcome]),
        words.STYLE_OF[state.outcome],
        view.say(LISTED).join(progress(state, view)),
    )
    memory = _memory_text(state, view)
    if memory:
        curve = sparkline(state.memory, state.capacity_gib, min(WIDEST, view.width // 2))
        texts = (curve, memory) if len(state.memory) > 1 else (memory,)
        yield doc.Labelled(view.say(words.MEMORY), texts, hard=True)
    for label, text in _trouble(state, view):
        yield doc.Labelled(label, (text,), most=3)
    if len(state.ranks) > 1:
        yield _table(state.ranks, view)


def _memory_text(state: WatchState, view: View) -> str:
    if state.memory_gib is None:
        return ""
    gib = f"{state.memory_gib:.1f}"
    if state.capacity_gib is None:
        return view.say(words.GIB_ONLY, gib=gib)
    return view.say(words.GIB_OF, gib=gib, capacity=f"{state.capacity_gib:.1f}")


def _trouble(state: WatchState, view: View) -> Iterator[tuple[str, str]]:
    """Give what is wrong, each with its label."""
    if state.forecast is not None:
        at = (state.forecast.step, state.forecast.low, state.forecast.high)
        step, low, high = (round(value) for value in at)
        yield view.say(words.FORECAST), view.say(words.RUNS_OUT, step=step, low=low, high=high)
    if state.stall is not None:
        times = (state.stall.silent, state.stall.allowed)
        silent, allowed = (duration(round(value), view.lang) for value in times)
        last = ranges(state.stall.last)
        who = view.say(words.SILENT_RANKS, ranks=last) if last else ""
        yield view.say(words.STALL), view.say(words.SILENT, time=silent, allowed=allowed) + who
    if state.stragglers:
        yield view.say(words.SLOW), view.say(words.BEHIND, ranks=ranges(state.stragglers))
    seen = [_times(one.title, one.count, view) for one in state.symptoms[:MOST_SEEN]]
    if any(alert.kind == "nan-loss" for alert in state.alerts) and not seen:
        seen = [view.say(words.LOSS_NAN)]
    if seen:
        yield view.say(words.SEEN), view.say(LISTED).join(seen)
    if state.cause is not None:
        percent = round(100 * state.cause.probability)
        said = view.say(words.SURE, title=state.cause.title, n=percent)
        yield view.say(words.CAUSE), f"{said} {state.cause.id}"
        if state.cause.fix:
            yield view.say(words.CHANGE), state.cause.fix


def _times(title: str, count: int, view: View) -> str:
    return title if count == 1 else view.say(words.TIMES, title=title, n=count)


def _table(ranks: Sequence[RankState], view: View) -> doc.Node:
    """Show the ranks; of many those that are furthest behind."""
    shown = list(ranks)
    if len(ranks) > MOST_RANKS and not view.everything:
        worst = sorted(ranks, key=lambda one: (-(one.behind or 0), -(one.silent or 0.0)))
        shown = sorted(worst[:MOST_RANKS], key=lambda one: one.rank)
    cells = [tuple(Styled(view.say(head), "dim") for head in words.HEADS)]
    cells += [_cells(one, view) for one in shown]
    told = [at for at in range(len(words.HEADS)) if any(row[at].text for row in cells[1:])]
    rows = tuple(Row(tuple(row[at] for at in told)) for row in cells)
    columns = (Column(right=True), *(Column(gap="  ", right=True) for _ in told[1:]))
    table = doc.Table(columns, rows)
    left = len(ranks) - len(shown)
    more = (doc.Paragraph(view.say(words.MORE_RANKS, n=left), style="dim"),) if left else ()
    return doc.Labelled(view.say(words.RANKS), children=(table, *more))


def _cells(one: RankState, view: View) -> tuple[Styled, ...]:
    late = "bad" if one.straggles else ""
    silent = (
        ""
        if one.silent is None
        else view.say(words.AGO, time=duration(round(one.silent), view.lang))
    )
    return (
        Styled(str(one.rank), late),
        Styled("" if one.step is None else str(one.step), late),
        Styled("" if one.behind is None else str(one.behind), late),
        Styled("" if one.memory_gib is None else f"{one.memory_gib:.1f}"),
        Styled(silent),
    )


def sparkline(readings: Sequence[MemoryReading], capacity: float | None, width: int) -> str:
    """Draw memory in one line, from nothing to what the card has; without a card to its peak."""
    if not readings:
        return ""
    full = max(capacity or 0.0, *(one.gib for one in readings))
    size = max(1, -(-len(readings) // width))
    parts = [readings[at : at + size] for at in range(0, len(readings), size)]
    highest = [max(one.gib for one in part) for part in parts]
    top = len(BLOCKS) - 1
    return "".join(BLOCKS[min(top, int(value / full * len(BLOCKS)))] for value in highest)
