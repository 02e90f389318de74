"""Columns of a terminal: tables, bars, settings and what differs, fitted to a width."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from trainrx.render import document as doc
from trainrx.render.layout import Line, Styled, cells, cut, pad, wrap
from trainrx.sanitizer.controls import clean, tame

WIDEST_LABEL = 16
NARROWEST_BAR = 10
MARK = "|"
WIDEST_NAME, WIDEST_VALUE, WIDEST_ORIGIN = 28, 40, 24
LONGEST_LINE = 110
"""Characters of a line that are shown; a longer one is cut around the word."""


def table_lines(node: doc.Table, width: int, indent: int) -> Iterator[Line]:
    """Lay a table out."""
    sizes = [
        _size([row.cells[at].text for row in node.rows if at < len(row.cells)], column, width)
        for at, column in enumerate(node.columns)
    ]
    for row in node.rows:
        yield tuple(_row(row, node.columns, sizes, width, indent))


def _size(texts: Iterable[str], column: doc.Column, width: int) -> int:
    limits = [column.most, None if column.spare is None else width - column.spare]
    widest = max((cells(clean(text)) for text in texts), default=0)
    return min([max(widest, column.least), *(limit for limit in limits if limit is not None)])


def _row(
    row: doc.Row, columns: Sequence[doc.Column], sizes: list[int], width: int, indent: int
) -> Iterator[Styled]:
    yield Styled(" " * indent)
    used = indent
    for cell, column, size in zip(row.cells, columns, sizes, strict=False):
        used += cells(column.gap)
        room = max(width - used, column.least) if column.rest else size
        text = "" if column.drop and room <= column.drop else cut(clean(cell.text), room)
        used += size
        blank = " " * (0 if column.rest else size - cells(text))
        yield Styled(column.gap + (blank if column.right else ""))
        yield Styled(text, cell.style)
        yield Styled("" if column.right else blank)


def chart_lines(node: doc.Chart, width: int) -> Iterator[Line]:
    """Draw the bars, the mark in each."""
    label = min(max(cells(bar.label) for bar in node.bars), WIDEST_LABEL, width // 4)
    aside = max(cells(bar.aside) for bar in node.bars)
    room = max(width - 2 - label - 2 - 8 - aside - 1, NARROWEST_BAR)
    yield (Styled(node.title, "head"),)
    for bar in node.bars:
        yield (
            Styled("  "),
            Styled(pad(cut(bar.label, label), label) + "  "),
            *_filled(bar, node, room),
            Styled(f" {bar.figure.text:>7}", bar.figure.style),
            Styled(f" {bar.aside}" if bar.aside else "", "strong"),
        )


def _filled(bar: doc.Bar, node: doc.Chart, room: int) -> Iterator[Styled]:
    """Fill cells part by part; what ends within half a cell is rounded, never lost in the sum."""
    row: list[Styled] = []
    total, scale = 0.0, room / node.full
    for size, glyph in bar.parts:
        total += max(0.0, size)
        row += [glyph] * max(0, min(round(total * scale), room) - len(row))
    row += [Styled(" ")] * (room - len(row))
    if node.mark is not None:
        row[max(min(round(node.mark * scale), room) - 1, 0)] = Styled(MARK, "strong")
    start = 0
    for index in range(1, room + 1):
        if index == room or row[index] != row[start]:
            yield Styled(row[start].text * (index - start), row[start].style)
            start = index


def settings_lines(node: doc.SettingTable, width: int) -> Iterator[Line]:
    """Show name, value and origin side by side under each heading."""
    every = [row for _, rows in node.groups for row in rows]
    most = min(WIDEST_NAME, width * 2 // 5)
    name = max((cells(row.name) for row in every if cells(row.name) <= most), default=most)
    origins = (cells(row.origin) for row in every)
    origin = max((size for size in origins if size <= WIDEST_ORIGIN), default=0)
    value = max((cells(row.value) for row in every), default=0)
    start = 2 + name + 2
    gap = min(value, max(width - start - origin - 2, 8), WIDEST_VALUE) + 2
    for title, rows in node.groups:
        yield from ((), (Styled(title, "head"),))
        for row in rows:
            yield from _setting(row, start, gap, width)


def _setting(row: doc.SettingRow, start: int, gap: int, width: int) -> Iterator[Line]:
    """Show one setting; name, value and origin below each other where there is no room."""
    blank = Styled(" " * start)
    lead = Styled(pad(f"  {row.name}", start), row.style)
    if cells(row.name) > start - 4:
        yield from ((Styled("  "), Styled(p, row.style)) for p in wrap(row.name, width - 2))
        lead = blank
    room = width - start
    gap = max(gap, cells(row.value) + 2)
    if gap + cells(row.origin) <= room:
        yield (lead, Styled(pad(row.value, gap), row.style), Styled(row.origin, "dim"))
        return
    for index, part in enumerate(wrap(row.value, room, hard=True)):
        yield (blank if index else lead, Styled(part, row.style))
    yield from ((blank, Styled(part, "dim")) for part in wrap(row.origin, room))


def contrast_lines(node: doc.Contrasts, width: int) -> Iterator[Line]:
    """Show pairs by topic: name, one value, the other, and below where each comes from."""
    most = min(WIDEST_NAME, width // 3)
    names = (cells(row.name) for _, rows in node.groups for row in rows)
    column = max((size for size in names if size <= most), default=8)
    start = 2 + max(column, 12) + 2
    half = max((width - start - 2) // 2, 8)
    left, right = node.sides
    yield (Styled(" " * start), Styled(pad(left, half + 2), "dim"), Styled(right, "dim"))
    for topic, rows in node.groups:
        yield (Styled(" "), Styled(topic, "head"))
        for row in rows:
            yield from _contrast(row, start, half, width)


def _contrast(row: doc.Contrast, start: int, half: int, width: int) -> Iterator[Line]:
    blank = Styled(" " * start)
    lead = Styled(pad(f"  {row.name}", start), "strong")
    if cells(row.name) > start - 4:
        yield from ((Styled("  "), Styled(part, "strong")) for part in wrap(row.name, width - 2))
        lead = blank
    sides = (row.left, row.right)
    values = [wrap(side.value, half, hard=True) for side in sides]
    below = [list(_below(side, half)) for side in sides]
    styles = ("minus", "plus") if row.matters else ("", "")
    for index, (left, right) in enumerate(zip_longest(*values, fillvalue="")):
        first = blank if index else lead
        yield (first, Styled(pad(left, half + 2), styles[0]), Styled(right, styles[1]))
    for left, right in zip_longest(*below, fillvalue=""):
        yield (blank, Styled(pad(left, half + 2), "dim"), Styled(right, "dim"))


def _below(side: doc.Side, room: int) -> Iterator[str]:
    for text in (f"({side.name})" if side.name else "", side.origin):
        yield from wrap(text, room, hard=True) if text else ()


def renamed_lines(row: doc.Renamed, node: doc.Renames, width: int, indent: int) -> Iterator[Line]:
    """Show one thing and how it is written now, beside it or below."""
    lead, now = Styled(" " * indent), row.now
    if not now:
        yield (lead, Styled(row.before, row.style))
        return
    size = cells(row.before)
    column = max(node.column, size)
    if node.given:
        fits = size <= node.column and 4 + indent + node.column + max(map(cells, now)) <= width
    else:
        fits = size + cells(now[0]) + 4 + indent <= width
    if fits:
        yield (lead, Styled(pad(row.before, column) + "  "), Styled(now[0], row.style))
        for text in now[1:]:
            yield (Styled(" " * (indent + column + 2)), Styled(text, row.style))
        return
    yield from ((lead, Styled(part)) for part in _whole(row.before, node, width - indent))
    arrow = "-> " if node.given else ""
    yield from ((lead, Styled(f"  {arrow}"), Styled(text, row.style)) for text in now)


def _whole(text: str, node: doc.Renames, room: int) -> list[str]:
    return [text] if node.given else wrap(text, min(room, 98))


def pointed_lines(node: doc.Diagnostic) -> Iterator[Line]:
    """Show a line with a caret under what a finding means."""
    number, style = str(node.line), node.severity.style
    start = (node.column or 1) - 1
    end = max((node.end_column or start + 2) - 1, start + 1)
    shown, shift = _around(tame(node.text.rstrip()), start, end)
    yield (Styled(f"  {number} | {shown}"),)
    if node.column is None:
        return
    begin, stop = start + shift, min(end + shift, len(shown))
    before = "".join("\t" if char == "\t" else " " * cells(char) for char in shown[:begin])
    under = "^" * max(cells(shown[begin:stop]), 1)
    yield (Styled(f"  {' ' * len(number)} | {before}"), Styled(under, style))


def _around(text: str, start: int, end: int) -> tuple[str, int]:
    """Cut a long line around a word; give what is left and how far it moved."""
    if len(text) <= LONGEST_LINE:
        return text, 0
    first = max(min(start - 20, len(text) - LONGEST_LINE), 0)
    last = max(first + LONGEST_LINE, min(end, first + 2 * LONGEST_LINE))
    left, right = "..." if first else "", "..." if last < len(text) else ""
    return left + text[first:last] + right, len(left) - first
