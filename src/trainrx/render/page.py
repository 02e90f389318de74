"""Building blocks of a page: headings, wrapped prose, quoted lines, lines to copy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainrx.model.facts import Origin
from trainrx.render.document import View
from trainrx.render.fixes import FixLine
from trainrx.render.layout import Line, StyledText, cells, clean, cut, pad, wrap

MAX_PROSE = 100


def prose(
    view: View, text: str, *, indent: int = 0, lead: StyledText | None = None, style: str = ""
) -> Iterator[Line]:
    """Break a text into lines; `lead` stands before the first, the others hang under its text."""
    first = lead.text if lead else ""
    hang = indent + cells(first)
    room = min(view.width, MAX_PROSE) - hang
    for index, part in enumerate(wrap(clean(text), room)):
        if index == 0 and lead:
            yield (StyledText(" " * indent), lead, StyledText(part, style))
        else:
            yield (StyledText(" " * hang), StyledText(part, style))


def heading(text: str, indent: int = 2) -> Line:
    """Give a heading."""
    return (StyledText(" " * indent), StyledText(text, "head"))


def quotes(view: View, origins: Iterable[Origin], indent: int, seen: set[Origin]) -> Iterator[Line]:
    """Quote lines of the inputs as `file:line  text`; what was quoted before is only named."""
    for origin in origins:
        where = clean(str(origin))
        text = "" if origin in seen else clean(origin.text).strip()
        seen.add(origin)
        yield from _quote(view, where, text, indent)


def to_copy(view: View, lines: Iterable[FixLine], indent: int) -> Iterator[Line]:
    """Show lines to copy, never broken, their remarks in one column beside them, or below."""
    lines = tuple(lines)
    column = _column(lines, view.width - indent)
    for line in lines:
        start = (StyledText(" " * indent), StyledText(line.text, "fix"))
        if not line.remark:
            yield start
        elif _is_beside(line, column, view.width - indent):
            beside = pad(line.text, column) + f"  # {line.remark}"
            yield (*start, StyledText(beside[len(line.text) :], "dim"))
        else:
            yield start
            yield (StyledText(" " * (indent + 2)), StyledText(f"# {line.remark}", "dim"))


def _column(lines: Iterable[FixLine], room: int) -> int:
    """Give the column, in cells, in which most remarks find room; the first of several."""
    remarked = tuple(line for line in lines if line.remark)
    columns = sorted({cells(line.text) for line in remarked})
    return max(
        columns,
        key=lambda column: sum(_is_beside(line, column, room) for line in remarked),
        default=0,
    )


def _is_beside(line: FixLine, column: int, room: int) -> bool:
    return cells(line.text) <= column and column + 4 + cells(line.remark) <= room


def limited(view: View, count: int, limit: int) -> int:
    """Give how many of some things are shown."""
    return count if view.everything else min(count, limit)


def _quote(view: View, where: str, text: str, indent: int) -> Iterator[Line]:
    most = 8 if view.everything else 2
    room = view.width - indent
    if not text:
        yield (StyledText(" " * indent), StyledText(where, "dim"))
        return
    parts = wrap(f"{where}  {text}", room, hard=True)
    if len(parts) > most:
        parts = [*parts[: most - 1], cut(" ".join(parts[most - 1 :]), room)]
    for part in parts:
        yield (StyledText(" " * indent), StyledText(part, "dim"))
