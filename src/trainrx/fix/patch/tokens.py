r"""The words of a script with their positions in the file as it is, byte for byte.

The grammar is given a text of the same length: CRLF becomes a blank and a line feed, a prompt
becomes blanks. So a position in what it reads is a position in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from trainrx.shell.limits import MAX_TEXT, Budget, TooMuch
from trainrx.shell.quotes import here_documents
from trainrx.shell.reader import ScriptReader
from trainrx.shell.syntax import Assign, Raw, Simple

_PROMPT = re.compile(
    r"^[ \t]*(?:\([\w.-]+\)[ \t]*)?(?:\[?[\w.-]+@[\w.-]+[^\n$#]{0,200}[$#][ \t]+|\$[ \t]+"
    r"|!(?=[A-Za-z]))(?=[A-Za-z_./\"'])",
    re.MULTILINE,
)
_ESCAPED_QUOTE = re.compile(r"\\([\"$`])")
_UNITS = 60_000
_DEPTH = 3
_DECLARE = frozenset({"export", "declare", "typeset", "local", "readonly"})
_BOUND = re.compile(
    r"(?:-e|-x|--env=|--export=)?(?P<name>[A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=", re.ASCII
)
_LISTED = re.compile(r"(?<=[,=])(?P<name>[A-Za-z_]\w*)=(?P<value>[^,]*)", re.ASCII)


class Token(NamedTuple):
    """A word as written, quotes and all."""

    text: str
    start: int

    @property
    def end(self) -> int:
        """Give the position behind the word."""
        return self.start + len(self.text)


class Run(NamedTuple):
    """Words that follow one another: of a command, an array, a quoted text.

    `kind` text: inside quotes; items: of an array. `assigns` stand in front of a command; `end` is
    where it ends, redirections and all.
    """

    kind: str
    words: tuple[Token, ...]
    assigns: tuple[Token, ...] = ()

    @property
    def start(self) -> int:
        """Give the position of the first word, or of an assignment in front of it."""
        return (self.assigns or self.words)[0].start


class Binding(NamedTuple):
    """A place that gives a variable a value: `name` begins at `start`, the value at `value`."""

    name: str
    start: int
    value: int
    end: int
    run: Run
    plain: bool


class DocumentWords(NamedTuple):
    """All words of one document; `errors`: places that make no sense to the grammar."""

    text: str
    runs: tuple[Run, ...]
    bindings: tuple[Binding, ...]
    errors: int


def read_words(text: str) -> DocumentWords:
    """Read the words of a script; what cannot be read gives none."""
    try:
        runs, errors = _runs(_levelled(text[:MAX_TEXT]), 0, Budget(_UNITS, 1.0), 0)
    except (TooMuch, RecursionError):
        return DocumentWords(text, (), (), 1)
    true = tuple(_as_written(run, text) for run in runs)
    return DocumentWords(text, true, tuple(_bindings(true)), errors)


def _levelled(text: str) -> str:
    text = text.replace("\\\r\n", " \\\n").replace("\r\n", " \n")
    bare = text.rstrip()
    if bare.endswith("\\") and not bare.endswith("\\\\"):
        # a backslash at the very end continues into nothing; the grammar stumbles over it
        text = bare[:-1] + " " * (len(text) - len(bare) + 1)
    return _PROMPT.sub(lambda match: " " * len(match[0]), text)


def _as_written(run: Run, text: str) -> Run:
    def true(token: Token) -> Token:
        return Token(text[token.start : token.end], token.start)

    return Run(run.kind, tuple(map(true, run.words)), tuple(map(true, run.assigns)))


def _runs(text: str, offset: int, budget: Budget, depth: int) -> tuple[list[Run], int]:
    reader = ScriptReader(text, budget)
    found: list[Run] = []
    for node in reader.commands():
        for simple in _simples(node):
            found += _of_simple(simple, offset)
    inner: list[Run] = []
    if depth < _DEPTH:
        for run in found:
            for token in (*run.assigns, *run.words):
                inner += _inside(token, text, offset, budget, depth)
        for body in here_documents(text):
            if depth == 0:
                inner += _runs(text[body.start : body.stop], offset + body.start, budget, _DEPTH)[0]
    return [*found, *inner], len(reader.errors)


def _simples(node: object) -> Iterator[Simple]:
    """Give the simple commands inside a command, whatever it is made of."""
    waiting: list[object] = [node]
    while waiting:
        item = waiting.pop(0)
        if isinstance(item, Simple):
            yield item
        elif isinstance(item, tuple):
            waiting[:0] = list(item)
        elif isinstance(item, msgspec.Struct) and not isinstance(item, (Raw, Assign)):
            waiting[:0] = [getattr(item, name) for name in item.__struct_fields__]


def _of_simple(node: Simple, offset: int) -> Iterator[Run]:
    words = sorted((Token(raw.text, raw.at + offset) for raw in node.words), key=_start)
    assigns = _assigns(node, offset)
    if words or assigns:
        yield Run("command", tuple(words), assigns)
    for item in node.assigns:
        if item.items:
            yield Run("items", tuple(Token(raw.text, raw.at + offset) for raw in item.items))


def _start(token: Token) -> int:
    return token.start


def _whole(item: Assign) -> str:
    key = "" if item.key is None else f"[{item.key}]"
    return f"{item.name}{key}{'+' * item.append}={item.value}"


def _assigns(node: Simple, offset: int) -> tuple[Token, ...]:
    out = []
    for item in node.assigns:
        text = _whole(item)
        out.append(Token(text, item.at - (len(text) - len(item.value)) + offset))
    return tuple(out)


def _inside(token: Token, text: str, offset: int, budget: Budget, depth: int) -> list[Run]:
    """Read what a quoted word holds, when that is several words."""
    start = token.start - offset
    raw = text[start : start + len(token.text)]
    match = re.match(r"""[^\s"']*(?P<quote>["'])""", raw)
    if match is None or raw[-1:] != match["quote"] or len(raw) < match.end() + 1:
        return []
    inner = raw[match.end() : -1]
    several = re.search(r"\s", inner) or inner.startswith("-")
    if match["quote"] in _ESCAPED_QUOTE.sub("  ", inner) or not several:
        return []
    if match["quote"] == '"':
        inner = _ESCAPED_QUOTE.sub(r" \1", inner)
    runs, _ = _runs(inner, token.start + match.end(), budget, depth + 1)
    return _joined(runs, text, offset)


def _joined(runs: Iterable[Run], text: str, offset: int) -> list[Run]:
    """Put lines that begin with a flag behind the words above them: a blank splits like a line."""
    out: list[Run] = []
    for run in sorted(runs, key=lambda one: one.start):
        last = out[-1] if out and out[-1].kind == "text" else None
        if last is not None and run.kind == "command" and not run.assigns and run.words:
            end = (last.words or last.assigns)[-1].end
            between = text[end - offset : run.start - offset]
            if not between.strip() and run.words[0].text.startswith("-"):
                out[-1] = last._replace(words=(*last.words, *run.words))
                continue
        out.append(run._replace(kind="text") if run.kind == "command" else run)
    return out


def _bindings(runs: Iterable[Run]) -> Iterator[Binding]:
    for run in runs:
        declares = bool(run.words) and run.words[0].text in _DECLARE
        for number, token in enumerate((*run.assigns, *run.words)):
            plain = number < len(run.assigns) or declares
            at = token.start
            if token.text.startswith(("--export=", "--env=")):
                for one in _LISTED.finditer(token.text):
                    start, value, end = one.start("name"), one.start("value"), one.end()
                    yield Binding(one["name"], at + start, at + value, at + end, run, plain=False)
            elif match := _BOUND.match(token.text):
                start, value = match.start("name"), match.end()
                yield Binding(match["name"], at + start, at + value, token.end, run, plain)
