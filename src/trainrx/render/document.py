"""An answer as a small tree of nodes: built once per answer, written once per node kind and format.

Texts of nodes are plain sentences in which `code` stands between backticks. A builder decides what
is said, in which order; a writer of `formats/` decides how each kind of node looks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias, TypeVar

import msgspec

from trainrx.model.facts import Origin
from trainrx.model.text import Lang, Text
from trainrx.render import chinese, words
from trainrx.render.layout import Styled
from trainrx.sanitizer import Level

T = TypeVar("T")
NARROW = 72
Sign = Literal["", "+", "-", "?", "?+", "?-", "x", "✓", "•"]


class View(NamedTuple):
    """How an answer is shown.

    Attributes:
        lang: language of the fixed words.
        width: columns of a terminal; builders leave it to the writer.
        everything: show all there is, not the first few.
        post: written to be passed on in a chat or an issue, where nobody can ask for more.
        chat: read where there is no command line: it is said what to send instead.
        colour: the terminal shows colours.
        rows: lines of the terminal; None where nothing scrolls away.
        terminal: somebody looks at it; else a program may read it.
        redaction: what is masked.
    """

    lang: Lang
    width: int = 80
    everything: bool = False
    post: bool = False
    chat: bool = False
    colour: bool = False
    rows: int | None = None
    terminal: bool = False
    redaction: Level = "secrets"

    @property
    def narrow(self) -> bool:
        """Tell whether there are so few columns that the name of the launch's own file goes."""
        return self.width < NARROW

    def say(self, text: Text, **values: object) -> str:
        """Give a text in the language of the view, its places filled."""
        said = text.in_(self.lang)
        return said.format(**values) if values else said

    def message(self, message: str) -> str:
        """Give a message of the program in the language of the view."""
        return chinese.said(message, self.lang)

    def paren(self, said: str) -> str:
        """Put an aside in parentheses behind something; "" where there is none."""
        return words.PAREN.in_(self.lang).format(said) if said else ""

    def labelled(self, label: Text, said: str) -> str:
        """Write `label: said`."""
        return self.labelled_text(label.in_(self.lang), said)

    def labelled_text(self, label: str, said: str) -> str:
        """Write `label: said`, where the label is no fixed word."""
        return label + words.COLON.in_(self.lang) + said

    def first(self, items: Sequence[T], limit: int) -> Sequence[T]:
        """Give the first of some things, or all of them."""
        return items if self.everything or self.post else items[:limit]


class CopyLine(NamedTuple):
    """A line to copy, and a remark on it (what stands there now, and where)."""

    text: str
    remark: str = ""


class Node(msgspec.Struct, frozen=True):
    """A part of a document."""


class Headline(Node, frozen=True):
    """The verdict and what it claims; `aside` is said of the verdict in a post."""

    word: str
    style: str
    claim: str = ""
    aside: str = ""
    claim_style: str = ""
    joint: str = "  "


class Labelled(Node, frozen=True):
    """A label and what stands beside it: texts, lines to copy, nodes; `most`: lines of a text."""

    label: str
    texts: tuple[str, ...] = ()
    lines: tuple[CopyLine, ...] = ()
    children: tuple[Node, ...] = ()
    style: str = ""
    most: int | None = None
    strong: bool = False
    hard: bool = False


class Paragraph(Node, frozen=True):
    """A sentence or several; `lead` stands before it, `gap` sets it apart.

    `whole`: in one line, however long; `most`: in so many lines at most.
    """

    text: str
    lead: Styled | None = None
    style: str = ""
    indent: int = 0
    gap: bool = False
    whole: bool = False
    most: int | None = None


class Section(Node, frozen=True):
    """A heading and what stands below it."""

    title: str
    children: tuple[Node, ...] = ()


class Candidate(Node, frozen=True):
    """A ranked cause: number, title, how sure it is, id."""

    number: int
    title: str
    sure: str
    id: str
    children: tuple[Node, ...] = ()


class Bullet(Node, frozen=True):
    """An entry of a list with the lines it rests on; `at` is the place it is about.

    `most` is the number of lines it takes at most; each line it rests on then takes `quoted`.
    """

    text: str
    sign: Sign = ""
    at: str = ""
    joint: str = ""
    evidence: tuple[Origin, ...] = ()
    children: tuple[Node, ...] = ()
    most: int | None = None
    quoted: int = 1


class Remedy(Node, frozen=True):
    """One of several things to do, numbered from 1."""

    number: int
    text: str
    children: tuple[Node, ...] = ()


class InPlace(Node, frozen=True):
    """A setting that is right already; `spelled` is how it is written, `at` where."""

    title: str
    spelled: str = ""
    at: str = ""


class Code(Node, frozen=True):
    """Lines to copy."""

    lines: tuple[CopyLine, ...]


class Quote(Node, frozen=True):
    """Lines of the inputs."""

    origins: tuple[Origin, ...]


class SourceNote(Node, frozen=True):
    """A source and what it says."""

    says: str
    url: str


class More(Node, frozen=True):
    """So many things are left out."""

    count: int


class Gap(Node, frozen=True):
    """What follows is set apart."""


class Excerpt(Node, frozen=True):
    """Lines as they stand in an input, or a whole command; one that is `cut` ends at the margin."""

    lines: tuple[str, ...]
    style: str = "dim"
    cut: bool = False


class Diagnostic(Node, frozen=True):
    """A finding as a compiler writes it: place, severity, message, and the line it is about."""

    at: str
    severity: Styled
    message: str
    line: int | None = None
    text: str = ""
    column: int | None = None
    end_column: int | None = None


class Patch(Node, frozen=True):
    """A change of files, byte for byte."""

    diff: str


class Flow(Node, frozen=True):
    """Short texts, several on a line."""

    texts: tuple[str, ...]


class Case(Node, frozen=True):
    """What holds for one of several: label, verdict, lines to copy, what more there is."""

    label: str
    verdict: str
    style: str = ""
    claim: str = ""
    lines: tuple[CopyLine, ...] = ()
    children: tuple[Node, ...] = ()


class Cases(Node, frozen=True):
    """Several cases, their verdicts in one column."""

    cases: tuple[Case, ...]


class Column(NamedTuple):
    """A column of a table.

    Attributes:
        gap: what stands before it.
        right: its cells stand flush on the right.
        least: cells it has at least.
        most: cells it has at most; a longer text is cut.
        spare: cells of the line it leaves to others.
        rest: it takes the rest of the line, `least` cells even if that breaks the margin.
        drop: it is left out where no more than so many cells are left.
    """

    gap: str = ""
    right: bool = False
    least: int = 0
    most: int | None = None
    spare: int | None = None
    rest: bool = False
    drop: int = 0


class Row(NamedTuple):
    """A row of a table; `said` are its words where there is no room for columns."""

    cells: tuple[Styled, ...]
    said: tuple[Styled, ...] = ()


class Table(Node, frozen=True):
    """Rows of cells; `heads` name the columns of one that is a table in a post, too."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    gap: bool = False
    heads: tuple[str, ...] = ()


class Bar(NamedTuple):
    """One bar of a chart: its parts with the glyph of each, its figure, an aside."""

    label: str
    parts: tuple[tuple[float, Styled], ...]
    figure: Styled
    aside: str = ""


class Chart(Node, frozen=True):
    """Stacked bars below each other; `mark` is drawn through all of them."""

    title: str
    bars: tuple[Bar, ...]
    full: float
    mark: float | None = None


class SettingRow(NamedTuple):
    """A value with its name and where it comes from."""

    name: str
    value: str
    origin: str
    style: str = ""


class SettingTable(Node, frozen=True):
    """Settings under headings, all in the same columns."""

    groups: tuple[tuple[str, tuple[SettingRow, ...]], ...]


class Side(NamedTuple):
    """A value of one of two jobs, the name it has there if that is another, where it comes from."""

    value: str
    name: str = ""
    origin: str = ""


class Contrast(NamedTuple):
    """A value of two jobs side by side."""

    name: str
    left: Side
    right: Side
    matters: bool = False


class Contrasts(Node, frozen=True):
    """What differs between two jobs, by topic; `sides` name the jobs."""

    title: str
    sides: tuple[str, str]
    groups: tuple[tuple[str, tuple[Contrast, ...]], ...]


class Renamed(NamedTuple):
    """How something is written now."""

    before: str
    now: tuple[str, ...] = ()
    why: str = ""
    style: str = ""


class Renames(Node, frozen=True):
    """Things written in another way; `style` is that of one that is written no more.

    Those that are `given` words of a launch stand whole; `column` is where the new ones begin.
    """

    rows: tuple[Renamed, ...]
    column: int
    given: bool = False


class Form(NamedTuple):
    """One way to say something: how much it lacks of the fuller way before it, and what it says."""

    loss: int
    children: tuple[Node, ...]


class Elastic(Node, frozen=True):
    """What can be said at more or less length, the fullest form first."""

    forms: tuple[Form, ...]


class Room(NamedTuple):
    """How long a document may get: lines of a terminal, bytes of a post (UTF-8)."""

    lines: int
    size: int


class Document(NamedTuple):
    """A whole answer.

    Attributes:
        children: what it says.
        labels: all labels it may have, so that they line up.
        tool: who answered.
        short: too short for headings of a post.
        mark: begins each line of text but those of a patch.
        room: what it must keep within, as far as its elastic parts allow.
    """

    children: tuple[Node, ...]
    labels: tuple[str, ...] = ()
    tool: str = ""
    short: bool = False
    mark: str = ""
    room: Room | None = None


def elastic(*forms: tuple[int, tuple[Node, ...]]) -> Elastic:
    """Say something at more or less length: each form with what it loses, the fullest first."""
    return Elastic(tuple(Form(loss, nodes) for loss, nodes in forms))


def within(
    nodes: Sequence[Node], limit: int | None, size: Callable[[tuple[Node, ...]], int]
) -> tuple[Node, ...]:
    """Give each elastic node the form in which all nodes together keep within a limit.

    What loses least is shortened first, of several the last; where nothing can be shortened any
    more, the shortest forms stand, whatever their size.
    """
    forms = [node.forms if isinstance(node, Elastic) else (Form(0, (node,)),) for node in nodes]
    chosen = [0] * len(forms)
    taken = [size(those[0].children) for those in forms] if limit is not None else []
    while limit is not None and sum(taken) > limit:
        shorter = [at for at, those in enumerate(forms) if chosen[at] + 1 < len(those)]
        if not shorter:
            break
        at = min(shorter, key=lambda at: (forms[at][chosen[at] + 1].loss, -at))
        chosen[at] += 1
        taken[at] = size(forms[at][chosen[at]].children)
    return children(those[at].children for those, at in zip(forms, chosen, strict=True))


Part: TypeAlias = "Node | Iterable[Part] | None"
"""What a list of nodes is put together from."""


def children(*parts: Part) -> tuple[Node, ...]:
    """Join nodes and lists of nodes; None and sections without children are left out."""
    found: list[Node] = []
    for part in parts:
        if part is None or (isinstance(part, Section) and not part.children):
            continue
        if isinstance(part, Node):
            found.append(part)
        else:
            found += children(*part)
    return tuple(found)
