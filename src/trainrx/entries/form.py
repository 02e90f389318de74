"""Write authored YAML in its one form: block style, lines of at most 100 columns.

What stands on one line and fits stays as its author wrote it, quotes and short flow collections
included. A flow collection that does not fit becomes a block, a long text is folded (`>-`) or,
where it has no spaces to fold at, double-quoted over several lines. Comments and single blank
lines stay; `en` stands before `zh`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path

import yaml

from trainrx.knowledge.yaml12 import nodes_of, read_text
from trainrx.model.errors import KnowledgeError

WIDTH = 100
STEP = 2
_Comments = dict[int, tuple[int, str]]
"""Comments by their line, each with its column."""
_LANGUAGES = {"en": 0, "zh": 1}
_FOLD = re.compile(r"(?<=[^\s]) (?=[^\s])")
"""A space at which a text may be folded: a line that begins or ends with one is not folded back."""
_BREAK = re.compile(r"(?<=[，。；：、！？）」”])|(?<= )(?=\S)")
"""Where a text without spaces to fold at may be broken inside double quotes."""
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}


def formatted(text: str, path: Path) -> str:
    """Give a file's text in its one form; the data it holds stay the same.

    Raises:
        KnowledgeError: it is not YAML, or holds anchors.
    """
    data, root = nodes_of(text, path)
    if root is None:
        return text
    if len(listed := list(_nodes(root))) > len(set(map(id, listed))):
        raise KnowledgeError(str(path), "", "holds an alias: write what it stands for")
    written = _Writer(text, root).text()
    if written != text and nodes_of(written, path)[0] != data:
        raise KnowledgeError(str(path), "", "cannot be formatted without changing what it says")
    return written


def reformed(places: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    """Give the files, below folders too, that are not in the one form, and their text in it.

    Raises:
        KnowledgeError: a file cannot be read or is not YAML.
    """
    for place in places:
        for path in sorted(place.rglob("*.yaml")) if place.is_dir() else (place,):
            text = read_text(path)
            if (new := formatted(text, path)) != text:
                yield path, new


class _Writer:
    """Writes one document; comments go before the first key or item below them."""

    def __init__(self, text: str, root: yaml.Node) -> None:
        self._source = text
        self._root = root
        self._comments, self._behind = _comments(text, root)

    def text(self) -> str:
        """Give the whole document."""
        lines = [*self._block(self._root, 0), *self._above(len(self._source), 0)]
        while lines and not lines[-1]:
            lines.pop()
        return "\n".join(lines) + "\n"

    def _block(self, node: yaml.Node, indent: int) -> Iterator[str]:
        """Write a collection, one key or item after the other."""
        if isinstance(node, yaml.MappingNode):
            for key, value in _in_order(node):
                yield from self._entry(key, value, f"{' ' * indent}{self._raw(key)}:", indent)
            yield from self._below(node, indent)
        elif isinstance(node, yaml.SequenceNode):
            for item in node.value:
                yield from self._entry(item, item, f"{' ' * indent}-", indent)
            yield from self._below(node, indent)
        elif isinstance(node, yaml.ScalarNode):
            yield self._raw(node)

    def _entry(self, first: yaml.Node, value: yaml.Node, head: str, indent: int) -> Iterator[str]:
        yield from self._above(first.start_mark.line, indent)
        # a comment behind an item that is a block is that of its first key
        is_first_key = first is value and _is_block(value)
        comment = None if is_first_key else self._comment_behind(first, value)
        lines = list(self._value(value, head, indent))
        if comment is not None:
            column, text = comment
            with_it = f"{lines[0]:{column - 1}} {text}" if column else f"{lines[0]} {text}"
            if lines[0] == head or (len(lines) == 1 and width(with_it) <= WIDTH):
                lines[0] = with_it
            else:
                lines.insert(0, " " * indent + text)
        yield from lines

    def _comment_behind(self, first: yaml.Node, value: yaml.Node) -> tuple[int, str] | None:
        last = first if _is_block(value) else value
        for line in (first.start_mark.line, last.end_mark.line):
            if line in self._behind:
                return self._behind.pop(line)
        return None

    def _value(self, node: yaml.Node, head: str, indent: int) -> Iterator[str]:
        inline = self._inline(node)
        if inline is not None and width(f"{head} {inline}") <= WIDTH:
            yield f"{head} {inline}".rstrip()
        elif isinstance(node, yaml.ScalarNode):
            yield from _scalar_lines(node, head, indent, self._raw(node))
        elif head.endswith("-"):
            lines = list(self._block(node, indent + STEP))
            yield f"{head} {lines[0].lstrip()}"
            yield from lines[1:]
        else:
            yield head
            yield from self._block(node, indent + STEP)

    def _inline(self, node: yaml.Node) -> str | None:
        """Write a scalar or flow collection on one line; None where it does not stand on one."""
        if isinstance(node, yaml.ScalarNode):
            if node.style in ("|", ">") or node.start_mark.line != node.end_mark.line:
                return None
            return self._raw(node)
        if not isinstance(node, yaml.CollectionNode) or self._has_comment(node):
            return None
        if node.value and not node.flow_style:
            return None
        if isinstance(node, yaml.MappingNode):
            pairs = [(self._raw(key), self._inline(value)) for key, value in _in_order(node)]
            if any(value is None for _, value in pairs):
                return None
            return "{" + ", ".join(f"{key}: {value}".rstrip() for key, value in pairs) + "}"
        items = [self._inline(item) for item in node.value]
        if any(item is None for item in items):
            return None
        return "[" + ", ".join(item for item in items if item is not None) + "]"

    def _raw(self, node: yaml.Node) -> str:
        return self._source[node.start_mark.index : node.end_mark.index]

    def _has_comment(self, node: yaml.Node) -> bool:
        inside = range(node.start_mark.line, node.end_mark.line)
        return any(line in inside for line in (*self._comments, *self._behind))

    def _above(self, line: int, indent: int) -> Iterator[str]:
        """Give the comments and blank lines above a line that were not given yet."""
        for at in [at for at in self._comments if at < line]:
            _, comment = self._comments.pop(at)
            yield f"{' ' * indent}{comment}" if comment else ""

    def _below(self, node: yaml.Node, indent: int) -> Iterator[str]:
        """Give the comments below the last key or item that stand as far in as it does."""
        for at in [at for at in self._comments if at < node.end_mark.line]:
            if self._comments[at][0] < max(1, node.start_mark.column):
                return
            yield f"{' ' * indent}{self._comments.pop(at)[1]}"


def _is_block(node: yaml.Node) -> bool:
    return isinstance(node, yaml.CollectionNode) and not node.flow_style


def width(text: str) -> int:
    """Count the columns a text takes: a Chinese sign takes two."""
    if text.isascii():
        return len(text)
    return len(text) + sum(unicodedata.east_asian_width(sign) in "WF" for sign in text)


def _in_order(node: yaml.MappingNode) -> list[tuple[yaml.Node, yaml.Node]]:
    """Give the pairs of a mapping, a text's English before its Chinese."""
    pairs: list[tuple[yaml.Node, yaml.Node]] = node.value
    if {key.value for key, _ in pairs} == set(_LANGUAGES):
        return sorted(pairs, key=lambda pair: _LANGUAGES[str(pair[0].value)])
    return pairs


def _comments(text: str, root: yaml.Node) -> tuple[_Comments, _Comments]:
    """Give comments on lines of their own ("" for a blank line), and those behind something."""
    scalars = [node for node in _nodes(root) if isinstance(node, yaml.ScalarNode)]
    spans = [(node.start_mark.index, node.end_mark.index) for node in scalars]
    within = {line for node in scalars for line in _lines_within(node, text)}
    alone: _Comments = {}
    behind: _Comments = {}
    lines = text.split("\n")
    starts = accumulate((len(line) + 1 for line in lines), initial=0)
    for at, (line, start) in enumerate(zip(lines, starts, strict=False)):
        if at in within:
            continue
        if not line.strip():
            if at and lines[at - 1].strip():
                alone[at] = (0, "")
            continue
        for found in re.finditer(r"(?:^|(?<=\s))#", line):
            place = start + found.start()
            if not any(begin <= place < end for begin, end in spans):
                column, said = found.start(), line[found.start() :].rstrip()
                (behind if line[:column].strip() else alone)[at] = (column, said)
                break
    return alone, behind


def _lines_within(node: yaml.ScalarNode, text: str) -> range:
    """Give the lines that belong to a scalar whole: no comment stands there."""
    first = node.start_mark.line
    held = text[node.start_mark.index : node.end_mark.index].rstrip()
    is_block = node.style in ("|", ">")
    return range(first + 1, first + held.count("\n") + (1 if is_block else 0))


def _nodes(node: yaml.Node) -> Iterator[yaml.Node]:
    yield node
    if isinstance(node, yaml.MappingNode):
        for pair in node.value:
            for child in pair:
                yield from _nodes(child)
    elif isinstance(node, yaml.SequenceNode):
        for child in node.value:
            yield from _nodes(child)


def _scalar_lines(node: yaml.ScalarNode, head: str, indent: int, raw: str) -> Iterator[str]:
    """Write a scalar that does not fit behind its key."""
    value: str = node.value
    plain = _is_plain_text(value)
    if "\n" in value:
        written = (
            _literal(value, head, indent) if plain or node.style == "|" else (f"{head} {raw}",)
        )
        yield from written
        return
    short = _one_line(value)
    if short is not None and width(f"{head} {short}") <= WIDTH:
        yield f"{head} {short}"
        return
    room = WIDTH - indent - STEP
    folded = _filled(_FOLD.split(value), room, " ")
    if not plain or ("\\" not in value and any(width(line) > room for line in folded)):
        pieces = [_escaped(piece) for piece in _BREAK.split(value) if piece]
        quoted = _filled(pieces, room - 1, "", width(head) - indent)
        if len(quoted) > 1 and (not plain or all(width(line) < room for line in quoted)):
            # a line is read without the spaces it begins with
            body = "\\\n".join(
                [f'{head} "{quoted[0]}', *(" " * (indent + STEP) + q for q in quoted[1:])]
            )
            yield from f'{body}"'.split("\n")
            return
    if plain and (len(folded) > 1 or width(folded[0]) <= room):
        yield f"{head} >-"
        yield from (" " * (indent + STEP) + line for line in folded)
    else:
        yield f"{head} {raw if node.style not in ('|', '>') or short is None else short}"


def _literal(value: str, head: str, indent: int) -> Iterator[str]:
    body = value.rstrip("\n")
    more = len(value) - len(body)
    sign = "|" + (str(STEP) if body[:1] == " " else "") + ("-", "")[more] if more < 2 else "|+"
    yield f"{head} {sign}"
    for line in (body + "\n" * max(0, more - 1)).split("\n"):
        yield " " * (indent + STEP) + line if line else ""


def _is_plain_text(value: str) -> bool:
    """Tell whether a block scalar can hold a text as it stands."""
    return (
        value[:1] not in ("", " ", "\n", "\t")
        and value[-1:] not in (" ", "\t")
        and all(sign == "\n" or (sign.isprintable() and sign != "\ufeff") for sign in value)
    )


def _one_line(value: str) -> str | None:
    """Write a text that was folded on one line: plain where YAML reads it back, else quoted."""
    try:
        read = nodes_of(f"a: {value}", Path())[0]
    except KnowledgeError:
        read = None
    if read == {"a": value} and "#" not in value and yaml.safe_load(f"a: {value}") == read:
        return value
    return "'" + value.replace("'", "''") + "'" if value.isprintable() else None


def _filled(pieces: Sequence[str], room: int, joint: str, before: int = 0) -> list[str]:
    """Join pieces to lines of at most so many columns; `before` of the first are taken."""
    lines = [pieces[0]] if pieces else [""]
    for piece in pieces[1:]:
        longer = f"{lines[-1]}{joint}{piece}"
        if width(longer) + (before if len(lines) == 1 else 0) <= room:
            lines[-1] = longer
        else:
            lines.append(piece)
    return lines


def _escaped(text: str) -> str:
    return "".join(
        _ESCAPES.get(sign, sign if sign.isprintable() else _coded(sign)) for sign in text
    )


def _coded(sign: str) -> str:
    code = ord(sign)
    return (
        f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
    )
