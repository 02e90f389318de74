"""A resolved launch on a terminal: head, values by topic, and what is amiss at the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trainrx.model.facts import Origin
from trainrx.model.findings import Unread
from trainrx.model.inspection import InspectedJob, Inspection, Item, Stranger
from trainrx.model.job import Defect
from trainrx.model.text import Lang, Text
from trainrx.render import inspect_words as words
from trainrx.render.document import View
from trainrx.render.inspect_head import is_listed, job_head
from trainrx.render.inspect_rows import (
    hidden,
    name_text,
    origin_text,
    plain_value,
    rows,
    unknowns,
    value_text,
    why_text,
)
from trainrx.render.layout import Line, StyledText, cells, clean, cut, pad, wrap
from trainrx.render.page import prose
from trainrx.render.words import COLON, COMMA, LISTED, UNREAD

BLANK: Line = ()
MAX_JOBS = 12
WIDEST_NAME, WIDEST_VALUE, WIDEST_ORIGIN = 28, 40, 24
NARROW = 72
"""Below so many columns a line of the launch's own file goes without the file's name."""


def inspect_page(inspection: Inspection, view: View) -> list[Line]:
    """Lay every job out, one below the other."""
    jobs = inspection.jobs
    lines: list[Line] = []
    if len(jobs) > 1:
        lines += prose(view, words.JOBS.in_(view.lang).format(n=len(jobs)), style="dim")
    shown = jobs if view.everything else jobs[:MAX_JOBS]
    for number, job in enumerate(shown, start=1):
        lines += [BLANK] if lines else []
        lines += job_head(job, view, number, len(jobs))
        lines += _tables(job, view)
        lines += _amiss(job, view)
        rest = hidden(job)
        if rest and not view.everything:
            said = words.REST.in_(view.lang).format(n=rest)
            lines += (BLANK, *prose(view, said, style="dim"))
    if len(shown) < len(jobs):
        text = words.TRUNCATED.in_(view.lang).format(n=len(jobs) - len(shown))
        lines += (BLANK, *prose(view, text, style="dim"))
    return [*lines, *unread_lines(inspection.unread, view)]


def _tables(job: InspectedJob, view: View) -> Iterator[Line]:
    found = rows(job, everything=view.everything)
    table = [(topic, [_cells(item, job, view) for item in items]) for topic, items in found.items()]
    all_rows = [row for _, items in table for row in items]
    grid = _grid(all_rows, view)
    for topic, items in table:
        yield from titled(words.TOPIC[topic], view)
        for row in items:
            yield from _row(row, grid, view)


class Row(NamedTuple):
    """The cells of one value."""

    name: str
    value: str
    origin: str
    style: str


class Grid(NamedTuple):
    """Cells before the value, and from the value to the origin."""

    start: int
    gap: int


def _cells(item: Item, job: InspectedJob, view: View) -> Row:
    lang, short = view.lang, view.width < NARROW
    origin = origin_text(item, job, lang, short=short, everything=view.everything)
    return Row(name_text(item, lang), value_text(item, lang), origin, _style(item))


def _grid(table: Sequence[Row], view: View) -> Grid:
    """Choose the columns: as wide as nearly all their cells, origins flush with one another."""
    most = min(WIDEST_NAME, view.width * 2 // 5)
    name = max((cells(row.name) for row in table if cells(row.name) <= most), default=most)
    start = 2 + name + 2
    origin = max((cells(r.origin) for r in table if cells(r.origin) <= WIDEST_ORIGIN), default=0)
    value = max((cells(row.value) for row in table), default=0)
    room = max(view.width - start - origin - 2, 8)
    return Grid(start, min(value, room, WIDEST_VALUE) + 2)


def _row(row: Row, grid: Grid, view: View) -> Iterator[Line]:
    """Show name, value, origin side by side; below each other where there is no room."""
    blank = " " * grid.start
    lead = StyledText(blank)
    if cells(row.name) > grid.start - 4:
        yield from (
            (StyledText("  "), StyledText(p, row.style)) for p in wrap(row.name, view.width - 2)
        )
    else:
        lead = StyledText(pad(f"  {row.name}", grid.start), row.style)
    room = view.width - grid.start
    gap = max(grid.gap, cells(row.value) + 2)
    if gap + cells(row.origin) <= room:
        yield (lead, StyledText(pad(row.value, gap), row.style), StyledText(row.origin, "dim"))
        return
    for index, part in enumerate(wrap(row.value, room, hard=True)):
        yield (lead if index == 0 else StyledText(blank), StyledText(part, row.style))
    yield from ((StyledText(blank), StyledText(part, "dim")) for part in wrap(row.origin, room))


def _style(item: Item) -> str:
    if not item.known and item.given:
        return "doubt"
    if item.via == "derived":
        return "good"
    return "strong" if item.given else "dim"


def _amiss(job: InspectedJob, view: View) -> Iterator[Line]:
    """Show what is unknown, refused, hidden or broken."""
    lang = view.lang
    listed = is_listed(job)
    title = words.STRANGERS if listed else words.NO_LIST
    strangers = [_stranger(item, lang, listed=listed) for item in job.strangers]
    yield from _listed(words.UNKNOWNS, [_unknown(i, job, lang) for i in unknowns(job)], view)
    yield from _listed(title, strangers, view)
    yield from _listed(words.SHADOWED, [_shadowed(i, job, lang) for i in job.shadowed], view)
    if job.defects:
        yield from titled(words.DEFECTS, view)
    for defect in job.defects:
        yield from _defect(defect, view)
    yield from unread_lines(job.unread, view)


def titled(title: Text, view: View) -> Iterator[Line]:
    """Give a heading of its own, below a blank line."""
    yield BLANK
    yield from prose(view, title.in_(view.lang), style="head")


def _listed(title: Text, texts: Sequence[str], view: View) -> Iterator[Line]:
    if texts:
        yield from titled(title, view)
    for text in texts:
        yield from prose(view, text, indent=2)


def _defect(defect: Defect, view: View) -> Iterator[Line]:
    at = f"{defect.source}:{defect.line}"
    at += f":{defect.column}" if defect.column is not None else ""
    known = words.DEFECT.get(defect.id)
    message = defect.message if known is None or view.lang == "en" else known.in_(view.lang)
    yield from prose(view, f"{clean(at)}{COLON.in_(view.lang)}{message}", indent=2)
    if defect.text.strip():
        yield (
            StyledText("    "),
            StyledText(cut(clean(defect.text.strip()), view.width - 4), "dim"),
        )


def _unknown(item: Item, job: InspectedJob, lang: Lang) -> str:
    where = origin_text(item, job, lang, short=False, everything=False)
    parts = [why_text(item, lang)]
    if item.alternatives:
        texts = LISTED.in_(lang).join(clean(text) or '""' for text in item.alternatives)
        parts.append(words.MAY_BE.in_(lang).format(texts=texts))
    shown = cut(f"{item.name} {clean(item.text)}".strip(), 120)
    return f"{shown} ({where}){COLON.in_(lang)}{COMMA.in_(lang).join(parts)}"


def _stranger(item: Stranger, lang: Lang, *, listed: bool) -> str:
    where = clean(str(item.origin)).rsplit("/", 1)[-1]
    shown = cut(f"{item.name} {clean(' '.join(item.values or ()))}".strip(), 120)
    if not listed:
        return f"{shown} ({where})"
    if item.instead:
        said = words.NOW_CALLED.in_(lang).format(name=item.instead)
    elif item.takers:
        said = words.TAKEN_BY.in_(lang).format(releases=item.takers)
    else:
        said = words.TAKEN_BY_NONE.in_(lang)
    return f"{shown} ({where}){COLON.in_(lang)}{said}"


def _shadowed(item: Item, job: InspectedJob, lang: Lang) -> str:
    where = origin_text(item, job, lang, short=False, everything=False)
    winner = next((s for s in job.settings if s.canonical == item.canonical), None)
    said = "" if winner is None else words.INSTEAD_IS.in_(lang).format(name=winner.name)
    value = clean(item.text) or plain_value(item.value)
    return f"{item.name} {value} ({where})" + (f"{COLON.in_(lang)}{said}" if said else "")


def unread_lines(unread: Sequence[Unread], view: View) -> Iterator[Line]:
    """List what could not be used."""
    texts = [
        f"{clean(str(Origin(source=u.source, line=u.line)))}{COLON.in_(view.lang)}{u.reason}"
        for u in unread
    ]
    yield from _listed(UNREAD, texts, view)
