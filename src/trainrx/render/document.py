"""An answer as a small tree of nodes: built once per answer, written once per node kind and format.

Texts of nodes are plain sentences in which `code` stands between backticks. A builder decides what
is said, in which order; a writer of `formats/` decides how each kind of node looks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, TypeVar

import msgspec

from trainrx.model.facts import Origin
from trainrx.model.text import Lang, Text
from trainrx.render.layout import StyledText
from trainrx.render.words import COLON, PAREN

T = TypeVar("T")
Sign = Literal["", "+", "-", "?", "?+", "?-", "x", "✓", "•"]


class View(NamedTuple):
    """How an answer is shown.

    Attributes:
        lang: language of the fixed words.
        width: columns of a terminal; builders leave it to the writer.
        everything: show all there is, not the first few.
        post: written to be passed on in a chat or an issue, where nobody can ask for more.
        colour: the terminal shows colours.
        rows: lines of the terminal; None where nothing scrolls away.
    """

    lang: Lang
    width: int = 80
    everything: bool = False
    post: bool = False
    colour: bool = False
    rows: int | None = None

    def say(self, text: Text, **values: object) -> str:
        """Give a text in the language of the view, its places filled."""
        said = text.in_(self.lang)
        return said.format(**values) if values else said

    def paren(self, said: str) -> str:
        """Put an aside in parentheses behind something; "" where there is none."""
        return PAREN.in_(self.lang).format(said) if said else ""

    def labelled(self, label: Text, said: str) -> str:
        """Write `label: said`."""
        return label.in_(self.lang) + COLON.in_(self.lang) + said

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


class Labelled(Node, frozen=True):
    """A label and what stands beside it: texts, or lines to copy; `most`: lines of a terminal."""

    label: str
    texts: tuple[str, ...] = ()
    lines: tuple[CopyLine, ...] = ()
    style: str = ""
    most: int | None = None
    strong: bool = False
    hard: bool = False


class Paragraph(Node, frozen=True):
    """A sentence or several; `lead` stands before it, `gap` sets it apart, `whole`: in one line."""

    text: str
    lead: StyledText | None = None
    style: str = ""
    indent: int = 0
    gap: bool = False
    whole: bool = False


class Section(Node, frozen=True):
    """A heading and what stands below it; one that is `strong` is a part of a short post."""

    title: str
    children: tuple[Node, ...] = ()
    strong: bool = False


class Candidate(Node, frozen=True):
    """A ranked cause: number, title, how sure it is, id."""

    number: int
    title: str
    sure: str
    id: str
    children: tuple[Node, ...] = ()


class Bullet(Node, frozen=True):
    """An entry of a list with the lines it rests on; `at` is the place it is about."""

    text: str
    sign: Sign = ""
    at: str = ""
    joint: str = ""
    evidence: tuple[Origin, ...] = ()
    children: tuple[Node, ...] = ()


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


class Document(NamedTuple):
    """A whole answer.

    Attributes:
        children: what it says.
        labels: all labels it may have, so that they line up.
        tool: who answered.
        reminder: what a terminal repeats when the head has scrolled away.
    """

    children: tuple[Node, ...]
    labels: tuple[str, ...] = ()
    tool: str = ""
    reminder: tuple[Node, ...] = ()


def children(*parts: Node | Iterable[Node] | None) -> tuple[Node, ...]:
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
