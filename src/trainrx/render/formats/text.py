"""Text for a terminal: each kind of node as lines of styled cells, broken at the width."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import singledispatch

from trainrx.model.facts import Origin
from trainrx.render import document as doc
from trainrx.render import grid, words
from trainrx.render.document import CopyLine, Document, View
from trainrx.render.formats import Format
from trainrx.render.layout import (
    Line,
    Styled,
    cells,
    cut,
    ellipsis,
    line_within,
    near_place,
    pad,
    wrap,
)
from trainrx.sanitizer import media
from trainrx.sanitizer.controls import clean, tame

MAX_PROSE = 100
MAX_LABEL = 24
BLANK: Line = ()
STYLES: dict[str, str] = {
    "bad": "1;31",
    "doubt": "1;33",
    "good": "1;32",
    "strong": "1",
    "head": "1",
    "fix": "1;36",
    "dim": "2",
    "plus": "32",
    "minus": "31",
    "ask": "33",
    # parts of a stacked bar, the largest first
    "hue0": "34",
    "hue1": "36",
    "hue2": "35",
    "hue3": "32",
    "hue4": "33",
    "hue5": "31",
}
"""Parameters of the ANSI sequence (SGR) for each style."""
_PATCH = (
    ("+++", "strong"),
    ("---", "strong"),
    ("diff ", "strong"),
    ("new file", "strong"),
    ("@@", "hue1"),
    ("+", "plus"),
    ("-", "minus"),
)
_SIGNS = {"+": "plus", "-": "minus", "?": "ask", "?+": "ask", "?-": "ask", "x": "bad", "✓": "good"}


class TextPage:
    """What the lines of a document share: the view, the column of labels, lines quoted before."""

    def __init__(self, view: View, labels: Sequence[str] = (), mark: str = "") -> None:
        self.view = view
        self.width = min(view.width - len(mark), MAX_PROSE) if mark else view.width
        self.column = max(map(cells, labels), default=0)
        self.quoted: set[Origin] = set()

    def below(self, nodes: Iterable[doc.Node], indent: int) -> Iterator[Line]:
        """Lay nodes out below each other."""
        for node in nodes:
            yield from lines_of(node, self, indent)


def page(document: Document, view: View) -> list[Line]:
    """Lay a document out for a terminal, within its room."""

    def lines(nodes: Iterable[doc.Node]) -> list[Line]:
        shared = TextPage(view, document.labels, document.mark)
        return [line for node in nodes for line in _marked(node, shared, document.mark)]

    def rows(nodes: Iterable[doc.Node]) -> int:
        """Count the rows of the terminal; a line to copy may take several."""
        sizes = (sum(cells(part.text) for part in line) for line in lines(nodes))
        return sum(max(1, -(-size // view.width)) for size in sizes)

    limit = document.room.lines if document.room else None
    return lines(doc.within(document.children, limit, rows))


def _marked(node: doc.Node, page: TextPage, mark: str) -> Iterator[Line]:
    """Begin each line with the mark of the document; a patch stays as it is."""
    for line in lines_of(node, page, 0):
        if not mark or isinstance(node, doc.Patch):
            yield line
        else:
            yield (Styled(mark, "dim"), *line)


def write(document: Document, view: View) -> str:
    """Write a document for a terminal, in colour if the view has it."""
    lines = page(document, view)
    return coloured(lines) if view.colour else plain(lines)


@singledispatch
def lines_of(node: doc.Node, _page: TextPage, _indent: int) -> Iterator[Line]:
    """Lay one node out.

    Raises:
        TypeError: no function is registered for this kind of node.
    """
    raise TypeError(f"{type(node).__name__} has no form in text")


@lines_of.register(doc.Headline)
def _headline(node: doc.Headline, page: TextPage, indent: int) -> Iterator[Line]:
    lead = Styled(node.word + node.joint, node.style)
    return prose(page, node.claim, indent=indent, lead=lead, style=node.claim_style)


@lines_of.register(doc.Labelled)
def _field(node: doc.Labelled, page: TextPage, indent: int) -> Iterator[Line]:
    lead = " " * indent + pad(node.label, page.column) + "  "
    within = cells(lead)
    rows: list[Line] = []
    for text in node.texts:
        parts = _lines(clean(text), page.width - within, node.most, hard=node.hard)
        rows += ((Styled(" " * within), Styled(part, node.style)) for part in parts)
    rows += to_copy(page, node.lines, within)
    rows += page.below(node.children, within)
    for index, (start, *rest) in enumerate(rows):
        if index:
            yield (start, *rest)
        else:
            yield (Styled(lead, "head"), Styled(start.text[within:], start.style), *rest)


def _lines(text: str, room: int, most: int | None, *, hard: bool = False) -> list[str]:
    """Break a text into lines, at most so many."""
    if most == 1:
        return [cut(text, room)]
    parts = wrap(text, room, hard=hard)
    if most is None or len(parts) <= most:
        return parts
    return [*parts[: most - 1], ellipsis(parts[most - 1], room)]


@lines_of.register(doc.Elastic)
def _elastic(node: doc.Elastic, page: TextPage, indent: int) -> Iterator[Line]:
    return page.below(node.forms[0].children, indent)


@lines_of.register(doc.Paragraph)
def _paragraph(node: doc.Paragraph, page: TextPage, indent: int) -> Iterator[Line]:
    if node.gap:
        yield BLANK
    at = indent + node.indent
    if node.whole:
        lead = (node.lead,) if node.lead else ()
        yield (Styled(" " * at), *lead, Styled(clean(node.text), node.style))
    else:
        yield from prose(
            page, node.text, indent=at, lead=node.lead, style=node.style, most=node.most
        )


@lines_of.register(doc.Section)
def _section(node: doc.Section, page: TextPage, indent: int) -> Iterator[Line]:
    if indent == 0:
        yield BLANK
    yield from prose(page, node.title, indent=indent, style="head")
    yield from page.below(node.children, indent + 2)


@lines_of.register(doc.Candidate)
def _candidate(node: doc.Candidate, page: TextPage, indent: int) -> Iterator[Line]:
    lead = Styled(f"{node.number}. ", "strong")
    rows = list(prose(page, node.title, indent=indent, lead=lead, style="strong"))
    within = indent + cells(lead.text)
    if sum(cells(span.text) for span in rows[-1]) + 2 + cells(node.sure) <= page.width:
        rows[-1] = (*rows[-1], Styled("  "), Styled(node.sure, "doubt"))
    else:
        rows.append((Styled(" " * within), Styled(node.sure, "doubt")))
    yield from (BLANK, *rows)
    yield from page.below(node.children, within)


@lines_of.register(doc.Bullet)
def _item(node: doc.Bullet, page: TextPage, indent: int) -> Iterator[Line]:
    sign = "- " if node.sign == "•" else f"{node.sign} " if node.sign else ""
    lead = Styled(sign, _SIGNS.get(node.sign, "")) if sign else None
    text = f"{clean(node.at)}{node.joint}{node.text}"
    if text:
        yield from prose(page, text, indent=indent, lead=lead, most=node.most)
    # an entry that names its place, or shortens its line, leaves the others their quotes
    quoted = set() if node.at or node.most else page.quoted
    below = indent + 2 if text else indent
    yield from _quotes(page, node.evidence, below, quoted, node.quoted if node.most else None)
    yield from page.below(node.children, indent + 2)


@lines_of.register(doc.Remedy)
def _remedy(node: doc.Remedy, page: TextPage, indent: int) -> Iterator[Line]:
    lead = f"{chr(ord('a') + (node.number - 1) % 26)}) "
    yield from prose(page, node.text, indent=indent, lead=Styled(lead))
    yield from page.below(node.children, indent + cells(lead))


@lines_of.register(doc.InPlace)
def _in_place(node: doc.InPlace, page: TextPage, indent: int) -> Iterator[Line]:
    check, where = Styled("✓ ", "good"), clean(node.at)
    if node.title:
        yield from prose(page, node.title, indent=indent, lead=check)
        check = Styled("  ")
    has_room = indent + 4 + cells(node.spelled) + cells(where) <= page.width
    if node.spelled:
        aside = Styled(f"  {where}" if has_room else "", "dim")
        yield (Styled(" " * indent), check, Styled(node.spelled), aside)
    if where and not (node.spelled and has_room):
        yield (Styled(" " * (indent + 4)), Styled(where, "dim"))


@lines_of.register(doc.Code)
def _code(node: doc.Code, page: TextPage, indent: int) -> Iterator[Line]:
    return to_copy(page, node.lines, indent + 2)


@lines_of.register(doc.Quote)
def _quote(node: doc.Quote, page: TextPage, indent: int) -> Iterator[Line]:
    return _quotes(page, node.origins, indent + 2, page.quoted)


@lines_of.register(doc.SourceNote)
def _reference(node: doc.SourceNote, page: TextPage, indent: int) -> Iterator[Line]:
    yield from prose(page, node.says, indent=indent)
    if node.url:
        yield (Styled(" " * (indent + 2)), Styled(clean(node.url), "dim"))


@lines_of.register(doc.More)
def _more(node: doc.More, page: TextPage, indent: int) -> Iterator[Line]:
    yield (Styled(" " * indent), Styled(page.view.say(words.MORE, n=node.count), "dim"))


@lines_of.register(doc.Gap)
def _gap(_node: doc.Gap, _page: TextPage, _indent: int) -> Iterator[Line]:
    yield BLANK


@lines_of.register(doc.Excerpt)
def _excerpt(node: doc.Excerpt, page: TextPage, indent: int) -> Iterator[Line]:
    for line in node.lines:
        shown = cut(clean(line), page.width - indent) if node.cut else clean(line)
        yield (Styled(" " * indent), Styled(shown, node.style))


@lines_of.register(doc.Diagnostic)
def _diagnostic(node: doc.Diagnostic, _page: TextPage, _indent: int) -> Iterator[Line]:
    at, message = tame(node.at), tame(node.message)
    yield (Styled(at, "strong"), Styled(": "), node.severity, Styled(f": {message}"))
    if node.text.strip() and node.line is not None:
        yield from grid.pointed_lines(node)


@lines_of.register(doc.Patch)
def _patch(node: doc.Patch, page: TextPage, _indent: int) -> Iterator[Line]:
    """Give a patch in the colours of `git diff`; byte for byte where no terminal shows it."""
    verbatim = not page.view.terminal
    for line in node.diff.split("\n")[: -1 if node.diff.endswith("\n") else None]:
        shown = line if verbatim else tame(line)
        style = next((s for start, s in _PATCH if line.startswith(start)), "")
        yield (Styled(shown, style, verbatim),)


@lines_of.register(doc.Flow)
def _flow(node: doc.Flow, page: TextPage, indent: int) -> Iterator[Line]:
    line = ""
    for text in node.texts:
        joined = f"{line},  {text}" if line else text
        if line and cells(joined) > page.width - indent - 1:
            yield (Styled(" " * indent), Styled(f"{line},"))
            joined = text
        line = joined
    yield (Styled(" " * indent), Styled(line))


@lines_of.register(doc.Cases)
def _cases(node: doc.Cases, page: TextPage, indent: int) -> Iterator[Line]:
    column = min(MAX_LABEL, max((cells(case.label) for case in node.cases), default=0)) + 2
    for case in node.cases:
        label = Styled(pad(cut(case.label, column - 2), column), "strong")
        first: Line = (Styled(" " * indent), label, Styled(case.verdict, case.style))
        beside = column + cells(case.verdict) + 2 + cells(case.claim) <= page.width
        yield BLANK
        yield (*first, Styled(f"  {case.claim}" if beside and case.claim else ""))
        if case.claim and not beside:
            yield from prose(page, case.claim, indent=indent + column)
        yield from to_copy(page, case.lines, indent + column)
        yield from page.below(case.children, indent + column)


@lines_of.register(doc.Table)
def _table(node: doc.Table, page: TextPage, indent: int) -> Iterator[Line]:
    if node.gap:
        yield BLANK
    yield from grid.table_lines(node, page.width, indent)


@lines_of.register(doc.Chart)
def _chart(node: doc.Chart, page: TextPage, _indent: int) -> Iterator[Line]:
    yield BLANK
    yield from grid.chart_lines(node, page.width)


@lines_of.register(doc.SettingTable)
def _settings(node: doc.SettingTable, page: TextPage, _indent: int) -> Iterator[Line]:
    return grid.settings_lines(node, page.width)


@lines_of.register(doc.Contrasts)
def _contrasts(node: doc.Contrasts, page: TextPage, _indent: int) -> Iterator[Line]:
    yield BLANK
    yield from prose(page, node.title, style="head")
    yield from grid.contrast_lines(node, page.width)


@lines_of.register(doc.Renames)
def _renames(node: doc.Renames, page: TextPage, indent: int) -> Iterator[Line]:
    for row in node.rows:
        yield from grid.renamed_lines(row, node, page.width, indent)
        if row.why:
            yield from prose(page, row.why, indent=indent + 2, style="dim")


def prose(
    page: TextPage,
    text: str,
    *,
    indent: int = 0,
    lead: Styled | None = None,
    style: str = "",
    most: int | None = None,
) -> Iterator[Line]:
    """Break a text into lines; `lead` stands before the first, the others hang under its text."""
    hang = indent + (cells(lead.text) if lead else 0)
    room = min(page.width, MAX_PROSE) - hang
    for index, part in enumerate(_lines(clean(text), room, most)):
        if index == 0 and lead:
            yield (Styled(" " * indent), lead, Styled(part, style))
        else:
            yield (Styled(" " * hang), Styled(part, style))


def _quotes(
    page: TextPage,
    origins: Iterable[Origin],
    indent: int,
    quoted: set[Origin],
    most: int | None = None,
) -> Iterator[Line]:
    """Quote lines of the inputs as `file:line  text`; what was quoted before is only named."""
    room = page.width - indent
    for origin in origins:
        text = "" if origin in quoted else clean(origin.text).strip()
        quoted.add(origin)
        where = clean(str(origin))
        if text and most is not None:
            where = near_place(where)
            text = line_within(text, most * room - cells(where) - 2)
        line = f"{where}  {text}" if text else where
        parts = _lines(line, room, most or (8 if page.view.everything else 2), hard=True)
        yield from ((Styled(" " * indent), Styled(part, "dim")) for part in parts)


def to_copy(page: TextPage, lines: Iterable[CopyLine], indent: int) -> Iterator[Line]:
    """Show lines to copy, never broken, their remarks in one column beside them, or below."""
    lines = tuple(lines)
    column = _column(lines, page.width - indent)
    for line in lines:
        start = (Styled(" " * indent), Styled(line.text, "fix"))
        if not line.remark:
            yield start
        elif _is_beside(line, column, page.width - indent):
            beside = pad(line.text, column) + f"  # {line.remark}"
            yield (*start, Styled(beside[len(line.text) :], "dim"))
        else:
            yield start
            yield (Styled(" " * (indent + 2)), Styled(f"# {line.remark}", "dim"))


def _column(lines: Iterable[CopyLine], room: int) -> int:
    """Give the column, in cells, in which most remarks find room; the first of several."""
    remarked = tuple(line for line in lines if line.remark)
    columns = sorted({cells(line.text) for line in remarked})
    return max(
        columns,
        key=lambda column: sum(_is_beside(line, column, room) for line in remarked),
        default=0,
    )


def _is_beside(line: CopyLine, column: int, room: int) -> bool:
    return cells(line.text) <= column and column + 4 + cells(line.remark) <= room


def plain(lines: Iterable[Line]) -> str:
    """Give the lines as text without any control sequence."""
    return "".join(map(_plain, lines))


def _plain(line: Line) -> str:
    text = "".join(span.text for span in line)
    if any(span.verbatim for span in line):
        return f"{text}\n"
    return media.terminal(text.rstrip()) + "\n"


def coloured(lines: Iterable[Line]) -> str:
    """Give the lines with ANSI colour."""
    return "".join("".join(map(_painted, line)) + "\n" for line in lines)


def _painted(part: Styled) -> str:
    if part.verbatim:
        return part.text
    text = media.terminal(part.text)
    code = STYLES.get(part.style, "")
    return f"\x1b[{code}m{text}\x1b[0m" if code and text else text


def _passed(text: str) -> str:
    """Leave a page as it is: `plain` and `coloured` have passed each line but those of a patch."""
    return text


FORMAT = Format(write, medium=_passed, lines=True)
