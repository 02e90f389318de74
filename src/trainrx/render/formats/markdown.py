"""Markdown to paste into an issue or a chat: every text stands for itself, mentions are dead.

The kinds of nodes are written here, once; how a platform marks what it shows is its `Markup`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import singledispatch

from trainrx.model.facts import Origin
from trainrx.render import document as doc
from trainrx.render import grid, words
from trainrx.render.document import CopyLine, Document, View
from trainrx.render.formats import Format
from trainrx.render.layout import Styled, cells, cut, line_within
from trainrx.render.markup._commonmark import CodeBlock, CommonMark, guard
from trainrx.sanitizer import media
from trainrx.sanitizer.controls import clean

MAX_QUOTE = 240
SHORT_QUOTE = 120
MAX_PLACES = 2
CHART_WIDTH = 60
"""Columns that a telephone still shows without breaking a line."""
PHONE = 40
"""Columns of code beside the margins of a chat."""
MARKDOWN = CommonMark()
_SIGNS = {"?+": "(+) ", "?-": "(-) ", "✓": "✓ "}


class Post:
    """The lines written so far; `indent` is set inside an entry of a list."""

    def __init__(self, view: View, markup: CommonMark) -> None:
        self.view = view
        self.markup = markup
        self.prose, self.code, self.bold = markup.prose, markup.code, markup.bold
        self.lines: list[str] = []
        self.indent = ""
        self.depth = 0

    def gap(self) -> None:
        """Set the next line apart from the last."""
        if self.lines and self.lines[-1]:
            self.lines.append("")

    def item(self, written: str) -> None:
        """Write an entry of a list."""
        bullet = self.markup.inner if self.indent else self.markup.bullet
        self.lines.append(f"{self.indent}{bullet}{written}")

    def block(self, lines: Iterable[str], language: str, indent: str = "") -> None:
        """Write lines that are shown as they stand."""
        block = CodeBlock(tuple(lines), language)
        self.lines += [indent + line for line in self.markup.block(block)]

    def below(self, nodes: Iterable[doc.Node], *, indent: str = "", depth: int = 0) -> None:
        """Write nodes below each other, as parts of an entry or a level deeper."""
        outer = self.indent, self.depth
        self.indent, self.depth = self.indent + indent, self.depth + depth
        for node in nodes:
            put(node, self)
        self.indent, self.depth = outer


def write(document: Document, view: View, markup: CommonMark = MARKDOWN) -> str:
    """Write a document in Markdown, or in the markup of a platform, within its room."""

    def lines(nodes: tuple[doc.Node, ...]) -> list[str]:
        post = Post(view, markup)
        post.below(nodes, depth=int(document.short))
        return post.lines

    said = words.WRITTEN_AS_IS if view.redaction == "none" else words.WRITTEN_BY
    by = markup.aside(view.say(said, tool=document.tool)) if document.tool else ""
    limit = None if document.room is None else document.room.size - _bytes(by)
    nodes = doc.within(document.children, limit, lambda part: _bytes("\n\n".join(lines(part))))
    return "\n".join((*lines(nodes), *(("", by) if by else ()))) + "\n"


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


@singledispatch
def put(node: doc.Node, _post: Post) -> None:
    """Write one node.

    Raises:
        TypeError: no function is registered for this kind of node.
    """
    raise TypeError(f"{type(node).__name__} has no form in Markdown")


@put.register(doc.Headline)
def _headline(node: doc.Headline, post: Post) -> None:
    colon = post.view.say(words.COLON) if node.claim else ""
    post.lines.append(
        f"{post.bold(node.word)}{post.view.paren(node.aside)}{colon}{post.prose(node.claim)}"
    )


@put.register(doc.Elastic)
def _elastic(node: doc.Elastic, post: Post) -> None:
    post.below(node.forms[0].children)


@put.register(doc.Labelled)
def _field(node: doc.Labelled, post: Post) -> None:
    label = post.bold(node.label) if node.strong else node.label
    for text in node.texts or ("",):
        said = post.code(clean(text)) if node.style == "fix" else post.prose(text)
        post.gap()
        post.lines.append(f"{label}{post.view.say(words.COLON)}{said}".rstrip())
    if node.lines:
        post.block(_to_copy(node.lines, post), "bash")
    if node.children:
        if not post.markup.tight:
            post.gap()
        post.below(node.children, depth=1)


@put.register(doc.Paragraph)
def _paragraph(node: doc.Paragraph, post: Post) -> None:
    text = post.prose(f"{node.lead.text if node.lead else ''}{node.text}")
    if not post.indent:
        post.gap()
        post.lines.append(text)
    elif text.strip():
        post.item(text)


@put.register(doc.Section)
def _section(node: doc.Section, post: Post) -> None:
    post.gap()
    title = post.bold(node.title) if post.depth else post.markup.heading(node.title)
    post.lines += (title, "")
    post.below(node.children, depth=1)


@put.register(doc.Candidate)
def _candidate(node: doc.Candidate, post: Post) -> None:
    post.gap()
    post.lines += (post.markup.heading(f"{node.number}. {post.prose(node.title)}"), "")
    post.lines += (f"{node.sure} · {post.code(node.id)}", "")
    post.below(node.children, depth=1)


@put.register(doc.Bullet)
def _item(node: doc.Bullet, post: Post) -> None:
    after = (post.markup.bullet, " ")
    if post.depth and not post.markup.tight and not post.lines[-1].startswith(after):
        post.gap()
    at = f"{post.code(guard(node.at))} " if node.at else ""
    places = [post.code(guard(str(origin))) for origin in node.evidence[:MAX_PLACES]]
    text = f"{_SIGNS.get(node.sign, '')}{at}{post.prose(node.text)}"
    quoted = [origin for origin in node.evidence if origin.text.strip()]
    if node.most is not None:
        said = (f"{post.code(guard(str(at)))} {post.code(_line(at))}" for at in quoted[:1])
        post.item(f"{' — '.join(filter(None, (text, *said)))}")
        post.below(node.children, indent="  ")
        return
    post.item(f"{text}{post.view.paren(', '.join(places))}")
    if quoted:
        lines = (_quoted(origin) for origin in quoted[:MAX_PLACES])
        post.block(lines, "text", f"{post.indent}  ")
    post.below(node.children, indent="  ")


@put.register(doc.Remedy)
def _remedy(node: doc.Remedy, post: Post) -> None:
    post.gap()
    post.lines.append(f"{node.number}. {post.prose(node.text)}")
    if node.children and isinstance(node.children[0], doc.Code):
        post.gap()
    post.below(node.children, indent="   ")


@put.register(doc.InPlace)
def _in_place(node: doc.InPlace, post: Post) -> None:
    shown = post.code(node.spelled) if node.spelled else post.prose(node.title)
    place = post.view.paren(post.code(guard(node.at))) if node.at else ""
    post.lines.append(f"{post.indent}- ✓ {shown}{place}")


@put.register(doc.Code)
def _code(node: doc.Code, post: Post) -> None:
    if not post.indent:
        post.gap()
    post.block(_to_copy(node.lines, post), "bash", post.indent)


@put.register(doc.Quote)
def _quote(node: doc.Quote, post: Post) -> None:
    for origin in node.origins:
        post.gap()
        post.lines.append(post.code(guard(str(origin))))
        if origin.text.strip():
            post.block([guard(origin.text.strip())], "text")


@put.register(doc.SourceNote)
def _reference(node: doc.SourceNote, post: Post) -> None:
    link = f"{post.markup.link(node.url)} " if node.url else ""
    post.item(f"{link}{post.prose(node.says)}")


@put.register(doc.More)
def _more(node: doc.More, post: Post) -> None:
    post.item(f"{post.view.say(words.MORE_PLAIN, n=node.count)}")


@put.register(doc.Gap)
def _gap(_node: doc.Gap, post: Post) -> None:
    post.gap()


@put.register(doc.Excerpt)
def _excerpt(node: doc.Excerpt, post: Post) -> None:
    # a command is copied: nothing may be put between its characters
    to_copy = node.style == "fix"
    lines = map(clean if to_copy else guard, node.lines)
    post.block(lines, "bash" if to_copy else "text", post.indent)


@put.register(doc.Diagnostic)
def _diagnostic(node: doc.Diagnostic, post: Post) -> None:
    said = f"{node.severity.text}{post.view.say(words.COLON)}{node.message}"
    post.item(f"{post.code(guard(node.at))} {post.prose(said)}")


@put.register(doc.Patch)
def _patch(node: doc.Patch, post: Post) -> None:
    # a patch is shown byte for byte: a fence holds it, and clean() would change it
    post.gap()
    post.block(node.diff.rstrip("\n").split("\n"), "diff")


@put.register(doc.Flow)
def _flow(node: doc.Flow, post: Post) -> None:
    post.lines.append(", ".join(post.code(clean(text)) for text in node.texts))


@put.register(doc.Cases)
def _cases(node: doc.Cases, post: Post) -> None:
    post.gap()
    for case in node.cases:
        said = post.view.say(words.COMMA).join(filter(None, (case.verdict, case.claim)))
        label = f"{post.bold(post.prose(case.label))}{post.view.say(words.COLON)}"
        post.lines.append(f"{post.markup.bullet}{label}{post.prose(said)}")
        if case.lines:
            post.block(_to_copy(case.lines, post), "bash", "  ")
        post.below(case.children, indent="  ")


@put.register(doc.Table)
def _table(node: doc.Table, post: Post) -> None:
    if node.gap:
        post.gap()
    if node.heads and post.markup.tables:
        post.lines.append(f"| {' | '.join(node.heads)} |")
        post.lines.append(f"|{' --- |' * len(node.heads)}")
        post.lines += (f"| {' | '.join(_marked(post, row.cells))} |" for row in node.rows)
    for row in node.rows:
        if row.said:
            post.item(f"{''.join(_marked(post, row.said))}")


@put.register(doc.Chart)
def _chart(node: doc.Chart, post: Post) -> None:
    post.gap()
    rows = grid.chart_lines(node, CHART_WIDTH)
    post.block(("".join(part.text for part in row).rstrip() for row in rows), "text")


@put.register(doc.SettingTable)
def _settings(node: doc.SettingTable, post: Post) -> None:
    for title, rows in node.groups:
        post.gap()
        post.lines += (post.bold(title), "")
        for row in rows:
            value = f"{post.code(guard(row.name))} {post.prose(row.value)}"
            post.lines.append(
                f"{post.markup.bullet}{value}{post.view.paren(post.prose(row.origin))}"
            )


@put.register(doc.Contrasts)
def _contrasts(node: doc.Contrasts, post: Post) -> None:
    post.gap()
    post.lines += (post.bold(node.title), "")
    for _, rows in node.groups:
        for row in rows:
            sides = (_side(side, post) for side in (row.left, row.right))
            joined = post.view.say(words.COMMA).join(
                f"{post.prose(name)}{post.view.say(words.COLON)}{side}"
                for name, side in zip(node.sides, sides, strict=True)
            )
            post.lines.append(f"{post.markup.bullet}{post.code(guard(row.name))} {joined}")


@put.register(doc.Renames)
def _renames(node: doc.Renames, post: Post) -> None:
    for row in node.rows:
        now = " ".join(post.code(guard(text)) for text in row.now)
        arrow = f" -> {now}" if now else ""
        post.lines.append(f"{post.markup.bullet}{post.code(guard(row.before))}{arrow}")
        if row.why:
            post.lines.append(f"  {post.markup.bullet}{post.prose(row.why)}")


def _side(side: doc.Side, post: Post) -> str:
    said = post.view.say(words.COMMA).join(filter(None, (side.name, side.origin)))
    return post.prose(side.value) + post.view.paren(post.prose(said))


def _marked(post: Post, parts: Iterable[Styled]) -> Iterator[str]:
    for part in parts:
        if part.style == "strong":
            yield post.bold(post.prose(part.text))
        else:
            written = post.code if part.style == "fix" else post.prose
            yield written(part.text)


def _quoted(origin: Origin) -> str:
    return guard(cut(clean(origin.text.strip()), MAX_QUOTE))


def _line(origin: Origin) -> str:
    return guard(line_within(clean(origin.text.strip()), SHORT_QUOTE))


def _to_copy(lines: Iterable[CopyLine], post: Post) -> Iterator[str]:
    """Write lines to copy, each with its remark; one too long for a telephone stands before."""
    for line in lines:
        remark = f"# {guard(line.remark)}" if line.remark else ""
        whole = f"{line.text}  {remark}".rstrip()
        if remark and post.view.chat and cells(whole) > PHONE:
            yield from (remark, line.text)
        else:
            yield whole


FORMAT = Format(write, medium=media.markdown, post=True)
