"""Markdown to paste into an issue or a chat: every text stands for itself, mentions are dead."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
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
from trainrx.render.layout import clean

MAX_QUOTE = 240
MAX_PLACES = 2
_BREAKER = "\u200b"
"""A zero-width space: splits a mention or a link without changing how it looks."""
_LIVE = re.compile(r"(?<=@)(?=\w)|(?<=<)(?=[!@#])|(?<=://)|(?<=\bwww)(?=\.)|(?<=#)(?=\d)")
_MARKS = re.compile(r"([\\`*\[\]<|~]|(?<!-)>|(?<![^\W_])_|_(?![^\W_])|&(?=[#A-Za-z]))")
_LEADING = re.compile(r"^(\d{0,9})([#=+.)-])(?=[#=+-]*(?:\s|$))")
_SIGNS = {"?+": "(+) ", "?-": "(-) ", "✓": "✓ "}


class Post:
    """The lines written so far; `indent` is set inside an entry of a list."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.lines: list[str] = []
        self.indent = ""
        self.depth = 0

    def gap(self) -> None:
        """Set the next line apart from the last."""
        if self.lines and self.lines[-1]:
            self.lines.append("")

    def below(self, nodes: Iterable[Node], *, indent: str = "", depth: int = 0) -> None:
        """Write nodes below each other, as parts of an entry or a level deeper."""
        outer = self.indent, self.depth
        self.indent, self.depth = self.indent + indent, self.depth + depth
        for node in nodes:
            put(node, self)
        self.indent, self.depth = outer


def write(document: Document, view: View) -> str:
    """Give a document as Markdown without tables."""
    post = Post(view)
    post.below(document.children)
    post.gap()
    post.lines.append(f"_{view.say(words.WRITTEN_BY, tool=document.tool)}_")
    return "\n".join(post.lines) + "\n"


@singledispatch
def put(node: Node, _post: Post) -> None:
    """Write one node.

    Raises:
        TypeError: no function is registered for this kind of node.
    """
    raise TypeError(f"{type(node).__name__} has no form in Markdown")


@put.register(Headline)
def _headline(node: Headline, post: Post) -> None:
    colon = post.view.say(words.COLON) if node.claim else ""
    post.lines.append(f"**{node.word}**{post.view.paren(node.aside)}{colon}{prose(node.claim)}")


@put.register(Labelled)
def _field(node: Labelled, post: Post) -> None:
    label = f"**{node.label}**" if node.strong else node.label
    for text in node.texts or ("",):
        said = code(clean(text)) if node.style == "fix" else prose(text)
        post.gap()
        post.lines.append(f"{label}{post.view.say(words.COLON)}{said}".rstrip())
    if node.lines:
        post.lines += fence(map(_with_remark, node.lines), "bash")


@put.register(Paragraph)
def _paragraph(node: Paragraph, post: Post) -> None:
    text = prose(f"{node.lead.text if node.lead else ''}{node.text}")
    if not post.indent:
        post.gap()
        post.lines.append(text)
    elif text.strip():
        post.lines.append(f"{post.indent}- {text}")


@put.register(Section)
def _section(node: Section, post: Post) -> None:
    post.gap()
    title = f"**{node.title}**" if node.strong or post.depth else f"### {node.title}"
    post.lines += (title, "")
    post.below(node.children, depth=1)


@put.register(Candidate)
def _candidate(node: Candidate, post: Post) -> None:
    post.gap()
    post.lines += (f"### {node.number}. {prose(node.title)}", "")
    post.lines += (f"{node.sure} · {code(node.id)}", "")
    post.below(node.children, depth=1)


@put.register(Bullet)
def _item(node: Bullet, post: Post) -> None:
    at = f"{code(guard(node.at))} " if node.at else ""
    places = [code(guard(str(origin))) for origin in node.evidence[:MAX_PLACES]]
    text = f"{_SIGNS.get(node.sign, '')}{at}{prose(node.text)}"
    post.lines.append(f"{post.indent}- {text}{post.view.paren(', '.join(places))}")
    quoted = [origin for origin in node.evidence if origin.text.strip()]
    if quoted:
        lines = (_quoted(origin) for origin in quoted[:MAX_PLACES])
        post.lines += fence(lines, "text", f"{post.indent}  ")
    post.below(node.children, indent="  ")


@put.register(Remedy)
def _remedy(node: Remedy, post: Post) -> None:
    post.gap()
    post.lines.append(f"{node.number}. {prose(node.text)}")
    if node.children and isinstance(node.children[0], Code):
        post.gap()
    post.below(node.children, indent="   ")


@put.register(InPlace)
def _in_place(node: InPlace, post: Post) -> None:
    shown = code(node.spelled) if node.spelled else prose(node.title)
    place = post.view.paren(code(guard(node.at))) if node.at else ""
    post.lines.append(f"{post.indent}- ✓ {shown}{place}")


@put.register(Code)
def _code(node: Code, post: Post) -> None:
    if not post.indent:
        post.gap()
    post.lines += fence(map(_with_remark, node.lines), "bash", post.indent)


@put.register(Quote)
def _quote(node: Quote, post: Post) -> None:
    for origin in node.origins:
        post.gap()
        post.lines.append(code(guard(str(origin))))
        if origin.text.strip():
            post.lines += fence([guard(origin.text.strip())], "text")


@put.register(SourceNote)
def _reference(node: SourceNote, post: Post) -> None:
    link = f"<{node.url}> " if node.url else ""
    post.lines.append(f"{post.indent}- {link}{prose(node.says)}")


@put.register(More)
def _more(node: More, post: Post) -> None:
    post.lines.append(f"{post.indent}- {post.view.say(words.MORE_PLAIN, n=node.count)}")


def guard(text: str) -> str:
    """Neutralise mentions, links and issue numbers of quoted text; it looks the same."""
    return _LIVE.sub(_BREAKER, clean(text))


def prose(text: str) -> str:
    """Make text stand for itself: marks escaped, `code` kept, mentions and links neutralised."""
    parts = clean(text).split("`")
    if len(parts) % 2 == 0:
        return _escape("`".join(parts))
    shown = (
        _escape(part) if index % 2 == 0 else code(guard(part))
        for index, part in enumerate(parts)
        if part
    )
    return _LEADING.sub(r"\1\\\2", "".join(shown))


def code(text: str) -> str:
    """Quote text as inline code, whatever backticks it holds."""
    ticks = "`" * (_longest_run(text) + 1)
    room = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{room}{text}{room}{ticks}"


def fence(lines: Iterable[str], language: str = "", indent: str = "") -> Iterator[str]:
    """Quote lines as a block, whatever backticks they hold."""
    lines = list(lines)
    ticks = "`" * max([3, *(_longest_run(line) + 1 for line in lines)])
    yield f"{indent}{ticks}{language}"
    yield from (indent + line for line in lines)
    yield indent + ticks


def _escape(text: str) -> str:
    return _LIVE.sub(_BREAKER, _MARKS.sub(r"\\\1", text))


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def _quoted(origin: Origin) -> str:
    text = clean(origin.text.strip())
    return guard(text if len(text) <= MAX_QUOTE else text[: MAX_QUOTE - 3].rstrip() + "...")


def _with_remark(line: CopyLine) -> str:
    return f"{line.text}  # {guard(line.remark)}" if line.remark else line.text


FORMAT = Format(write, post=True)
