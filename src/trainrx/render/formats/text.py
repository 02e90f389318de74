"""Text for a terminal: each kind of node as lines of styled cells, broken at the width."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import singledispatch

from trainrx.model.facts import Origin
from trainrx.render import words
from trainrx.render.document import (
    Bullet,
    Candidate,
    Code,
    CopyLine,
    Document,
    Headline,
    InPlace,
    Labelled,
    More,
    Node,
    Paragraph,
    Quote,
    Remedy,
    Section,
    SourceNote,
    View,
)
from trainrx.render.formats import Format
from trainrx.render.layout import Line, StyledText, cells, clean, cut, pad, wrap

MAX_PROSE = 100
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
_SIGNS = {"+": "plus", "-": "minus", "?": "ask", "?+": "ask", "?-": "ask", "x": "bad", "✓": "good"}


class TextPage:
    """What the lines of a document share: the view, the column of labels, lines quoted before."""

    def __init__(self, view: View, labels: Sequence[str] = ()) -> None:
        self.view = view
        self.width = view.width
        self.column = max(map(cells, labels), default=0)
        self.quoted: set[Origin] = set()

    def below(self, nodes: Iterable[Node], indent: int) -> Iterator[Line]:
        """Lay nodes out below each other."""
        for node in nodes:
            yield from lines_of(node, self, indent)


def page(document: Document, view: View) -> list[Line]:
    """Lay a document out for a terminal; its reminder, where the head has scrolled away."""
    shared = TextPage(view, document.labels)
    lines = list(shared.below(document.children, 0))
    if view.rows is not None and len(lines) >= view.rows:
        lines += shared.below(document.reminder, 0)
    return lines


def write(document: Document, view: View) -> str:
    """Write a document for a terminal, in colour if the view has it."""
    lines = page(document, view)
    return coloured(lines) if view.colour else plain(lines)


@singledispatch
def lines_of(node: Node, _page: TextPage, _indent: int) -> Iterator[Line]:
    """Lay one node out.

    Raises:
        TypeError: no function is registered for this kind of node.
    """
    raise TypeError(f"{type(node).__name__} has no form in text")


@lines_of.register(Headline)
def _headline(node: Headline, page: TextPage, indent: int) -> Iterator[Line]:
    lead = StyledText(node.word + "  ", node.style)
    return prose(page, node.claim, indent=indent, lead=lead, style=node.claim_style)


@lines_of.register(Labelled)
def _field(node: Labelled, page: TextPage, indent: int) -> Iterator[Line]:
    lead = pad(node.label, page.column) + "  "
    blank = " " * cells(lead)
    rows: list[Line] = []
    for text in node.texts:
        parts = wrap(clean(text), page.width - cells(lead), hard=node.hard)
        if node.most is not None and len(parts) > node.most:
            last = _ellipsis(parts[node.most - 1], page.width - cells(lead))
            parts = [*parts[: node.most - 1], last]
        rows += ((StyledText(part, node.style),) for part in parts)
    for start, *rest in to_copy(page, node.lines, cells(lead)):
        rows.append((StyledText(start.text[len(blank) :]), *rest))
    for index, row in enumerate(rows):
        yield (StyledText(" " * indent), StyledText(blank if index else lead, "head"), *row)


def _ellipsis(text: str, room: int) -> str:
    while cells(text) > room - 3:
        text = text[:-1]
    return text.rstrip() + "..."


@lines_of.register(Paragraph)
def _paragraph(node: Paragraph, page: TextPage, indent: int) -> Iterator[Line]:
    if node.gap:
        yield BLANK
    at = indent + node.indent
    if node.whole:
        lead = (node.lead,) if node.lead else ()
        yield (StyledText(" " * at), *lead, StyledText(clean(node.text), node.style))
    else:
        yield from prose(page, node.text, indent=at, lead=node.lead, style=node.style)


@lines_of.register(Section)
def _section(node: Section, page: TextPage, indent: int) -> Iterator[Line]:
    if indent == 0:
        yield BLANK
    yield from prose(page, node.title, indent=indent, style="head")
    yield from page.below(node.children, indent + 2)


@lines_of.register(Candidate)
def _candidate(node: Candidate, page: TextPage, indent: int) -> Iterator[Line]:
    lead = StyledText(f"{node.number}. ", "strong")
    rows = list(prose(page, node.title, indent=indent, lead=lead, style="strong"))
    within = indent + cells(lead.text)
    if sum(cells(span.text) for span in rows[-1]) + 2 + cells(node.sure) <= page.width:
        rows[-1] = (*rows[-1], StyledText("  "), StyledText(node.sure, "doubt"))
    else:
        rows.append((StyledText(" " * within), StyledText(node.sure, "doubt")))
    yield from (BLANK, *rows)
    yield from page.below(node.children, within)


@lines_of.register(Bullet)
def _item(node: Bullet, page: TextPage, indent: int) -> Iterator[Line]:
    sign = "- " if node.sign == "•" else f"{node.sign} " if node.sign else ""
    lead = StyledText(sign, _SIGNS.get(node.sign, "")) if sign else None
    text = f"{clean(node.at)}{node.joint}{node.text}"
    yield from prose(page, text, indent=indent, lead=lead)
    # an entry that names its place quotes the line there, whatever was quoted before
    quoted = set() if node.at else page.quoted
    yield from _quotes(page, node.evidence, indent + 2, quoted)
    yield from page.below(node.children, indent + 2)


@lines_of.register(Remedy)
def _remedy(node: Remedy, page: TextPage, indent: int) -> Iterator[Line]:
    lead = f"{chr(ord('a') + (node.number - 1) % 26)}) "
    yield from prose(page, node.text, indent=indent, lead=StyledText(lead))
    yield from page.below(node.children, indent + cells(lead))


@lines_of.register(InPlace)
def _in_place(node: InPlace, page: TextPage, indent: int) -> Iterator[Line]:
    check, where = StyledText("✓ ", "good"), clean(node.at)
    if node.title:
        yield from prose(page, node.title, indent=indent, lead=check)
        check = StyledText("  ")
    has_room = indent + 4 + cells(node.spelled) + cells(where) <= page.width
    if node.spelled:
        aside = StyledText(f"  {where}" if has_room else "", "dim")
        yield (StyledText(" " * indent), check, StyledText(node.spelled), aside)
    if where and not (node.spelled and has_room):
        yield (StyledText(" " * (indent + 4)), StyledText(where, "dim"))


@lines_of.register(Code)
def _code(node: Code, page: TextPage, indent: int) -> Iterator[Line]:
    return to_copy(page, node.lines, indent + 2)


@lines_of.register(Quote)
def _quote(node: Quote, page: TextPage, indent: int) -> Iterator[Line]:
    return _quotes(page, node.origins, indent + 2, page.quoted)


@lines_of.register(SourceNote)
def _reference(node: SourceNote, page: TextPage, indent: int) -> Iterator[Line]:
    yield from prose(page, node.says, indent=indent)
    if node.url:
        yield (StyledText(" " * (indent + 2)), StyledText(clean(node.url), "dim"))


@lines_of.register(More)
def _more(node: More, page: TextPage, indent: int) -> Iterator[Line]:
    yield (StyledText(" " * indent), StyledText(page.view.say(words.MORE, n=node.count), "dim"))


def prose(
    page: TextPage, text: str, *, indent: int = 0, lead: StyledText | None = None, style: str = ""
) -> Iterator[Line]:
    """Break a text into lines; `lead` stands before the first, the others hang under its text."""
    hang = indent + (cells(lead.text) if lead else 0)
    for index, part in enumerate(wrap(clean(text), min(page.width, MAX_PROSE) - hang)):
        if index == 0 and lead:
            yield (StyledText(" " * indent), lead, StyledText(part, style))
        else:
            yield (StyledText(" " * hang), StyledText(part, style))


def _quotes(
    page: TextPage, origins: Iterable[Origin], indent: int, quoted: set[Origin]
) -> Iterator[Line]:
    """Quote lines of the inputs as `file:line  text`; what was quoted before is only named."""
    room, most = page.width - indent, 8 if page.view.everything else 2
    for origin in origins:
        text = "" if origin in quoted else clean(origin.text).strip()
        quoted.add(origin)
        where = clean(str(origin))
        parts = wrap(f"{where}  {text}", room, hard=True) if text else [where]
        if len(parts) > most:
            parts = [*parts[: most - 1], cut(" ".join(parts[most - 1 :]), room)]
        yield from ((StyledText(" " * indent), StyledText(part, "dim")) for part in parts)


def to_copy(page: TextPage, lines: Iterable[CopyLine], indent: int) -> Iterator[Line]:
    """Show lines to copy, never broken, their remarks in one column beside them, or below."""
    lines = tuple(lines)
    column = _column(lines, page.width - indent)
    for line in lines:
        start = (StyledText(" " * indent), StyledText(line.text, "fix"))
        if not line.remark:
            yield start
        elif _is_beside(line, column, page.width - indent):
            beside = pad(line.text, column) + f"  # {line.remark}"
            yield (*start, StyledText(beside[len(line.text) :], "dim"))
        else:
            yield start
            yield (StyledText(" " * (indent + 2)), StyledText(f"# {line.remark}", "dim"))


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
    return "".join("".join(span.text for span in line).rstrip() + "\n" for line in lines)


def coloured(lines: Iterable[Line]) -> str:
    """Give the lines with ANSI colour."""
    return "".join("".join(map(_painted, line)) + "\n" for line in lines)


def _painted(part: StyledText) -> str:
    code = STYLES.get(part.style, "")
    return f"\x1b[{code}m{part.text}\x1b[0m" if code and part.text else part.text


FORMAT = Format(write)
