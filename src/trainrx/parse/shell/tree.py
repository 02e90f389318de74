"""The grammar's tree to commands, tolerant: what bash would refuse is noted and stepped over."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from trainrx.parse.shell.assignments import assignment
from trainrx.parse.shell.grammar import parse
from trainrx.parse.shell.limits import MAX_DEPTH, Budget, TooMuch
from trainrx.parse.shell.mask import mask
from trainrx.parse.shell.pieces import Piece, is_sign, joined, leaves
from trainrx.parse.shell.syntax import (
    AndOr,
    Arithmetic,
    Assign,
    Block,
    Case,
    For,
    Function,
    If,
    Loop,
    Node,
    Pipeline,
    Raw,
    Simple,
    Subshell,
    Test,
)

if TYPE_CHECKING:
    from tree_sitter import Node as Found

_RESERVED = frozenset({"if", "then", "elif", "else", "fi", "do", "done", "esac", "}", "while"})
_ASSIGNED = frozenset({"variable_assignment", "variable_assignments"})
_LOGICAL_LINE = re.compile(r"(?:[^\\\n]|\\.)+", re.DOTALL)
_MAX_LINE = 16 * 1024
_LINE_SECONDS = 0.03


class Reader:
    """Reads a script; `errors` are positions where bash would expect something else."""

    def __init__(self, text: str, budget: Budget) -> None:
        self.errors: list[int] = []
        self.stopped = False
        self._text = text
        self._budget = budget
        self._masked = mask(text)
        self._offset = 0
        self._depth = 0
        self._read: dict[str, Callable[[Found], Node]] = {
            "list": self._list,
            "pipeline": self._pipeline,
            "negated_command": self._negated,
            "compound_statement": self._compound,
            "subshell": lambda found: Subshell(self._block(found.children[1:])),
            "do_group": lambda found: self._block(found.children),
            "if_statement": self._if,
            "while_statement": self._loop,
            "for_statement": self._for,
            "c_style_for_statement": self._counted,
            "case_statement": self._case,
            "function_definition": self._function,
            "test_command": self._test,
            **dict.fromkeys(
                ("command", "declaration_command", "unset_command", *_ASSIGNED), self._simple
            ),
            "redirected_statement": self._redirected,
        }

    def commands(self) -> Iterator[Node]:
        """Give the commands of the script in order.

        Raises:
            TooMuch: The script is nested too deeply, or the budget is spent.
        """
        self._budget.spend(5 + len(self._text) // 64)
        root = parse(self._masked.text, self._budget)
        if root is None:
            self.stopped = True
            yield from self._by_line(0, len(self._text))
            return
        for found, behind in _with_next(root.children):
            if found.type == "ERROR" and "\n" in self._slice(found):
                self.errors.append(found.start_byte)
                yield from self._by_line(found.start_byte, found.end_byte)
                continue
            yield from self._statements(found, behind)

    def _by_line(self, start: int, end: int) -> Iterator[Node]:
        """Read every line on its own: where the whole makes no sense, a line still may."""
        for match in _LOGICAL_LINE.finditer(self._masked.text, start, end):
            self._budget.spend(20)
            line = match[0][:_MAX_LINE]
            root = parse(line, self._budget, _LINE_SECONDS) if line.strip() else None
            if root is None:
                if line.strip():
                    self._budget.spend(1000)
                    self.errors.append(match.start())
                continue
            self._offset = match.start()
            for found, behind in _with_next(root.children):
                yield from self._statements(found, behind)
            self._offset = 0

    # Places

    def _at(self, found: Found) -> int:
        return self._offset + found.start_byte

    def _slice(self, found: Found) -> str:
        return self._text[self._offset + found.start_byte : self._offset + found.end_byte]

    def _raw(self, piece: Piece) -> Raw:
        start, end = self._offset + piece.start, self._offset + piece.end
        return Raw(self._text[start:end], start)

    def _words(self, pieces: Iterable[Piece]) -> tuple[Raw, ...]:
        return tuple(self._raw(piece) for piece in joined(pieces))

    # Statements

    def _statements(self, found: Found, behind: Found | None) -> Iterator[Node]:
        """Give the commands of one node in a list of commands."""
        self._budget.spend()
        if found.is_missing:
            self.errors.append(self._at(found))
        if found.type == "ERROR":
            yield from self._salvage(found)
        elif found.type in self._read:
            node = self._statement(found)
            in_background = behind is not None and behind.type == "&"
            yield Subshell(node) if in_background else node

    def _statement(self, found: Found) -> Node:
        self._depth += 1
        if self._depth > 3 * MAX_DEPTH:
            raise TooMuch("commands are nested too deeply")
        self._budget.spend()
        node = self._read[found.type](found)
        self._depth -= 1
        return node

    def _block(self, children: list[Found]) -> Block:
        body = [
            node
            for found, behind in _with_next(children)
            for node in self._statements(found, behind)
        ]
        return Block(tuple(body))

    def _first(self, found: Found) -> Node:
        """Read what a command is applied to: the first command among the children."""
        body = self._block(found.children).body
        return body[0] if len(body) == 1 else Block(body)

    def _salvage(self, found: Found) -> Iterator[Node]:
        """Read what can be read of a place that makes no sense."""
        self.errors.append(self._at(found))
        group: list[Piece] = []
        for item in leaves(found, frozenset(self._read)):
            self._budget.spend()
            broken = bool(group) and "\n" in re.sub(
                r"\\\n", "", self._text[self._offset + group[-1].end : self._at(item)]
            )
            if item.type in self._read or is_sign(item) or broken:
                yield from self._loose(group)
                group = []
            if item.type in self._read:
                yield self._statement(item)
            elif not is_sign(item):
                group.append(Piece(item.start_byte, item.end_byte, item))
        yield from self._loose(group)

    def _loose(self, pieces: list[Piece]) -> Iterator[Node]:
        words = list(self._words(pieces))
        while words and words[0].text in _RESERVED:
            del words[0]
        if words and words[0].text != "[[":
            yield _command(words, [None] * len(words), None, words[0].at)

    # Simple commands

    def _simple(self, found: Found, redirects: tuple[Found, ...] = ()) -> Node:
        pieces: list[Piece] = []
        here: Raw | None = None
        waiting = [*redirects, *found.children]
        for item in waiting:
            if item.type == "variable_assignments":
                pieces += [Piece(part.start_byte, part.end_byte, part) for part in item.children]
            elif item.type in ("file_redirect", "herestring_redirect", "heredoc_redirect"):
                more, here = self._redirect(item, here)
                pieces += more
            elif item.type in ("ERROR", "subshell", "command_name"):
                pieces += self._pieces(item)
            elif item.type != "comment":
                pieces.append(Piece(item.start_byte, item.end_byte, item))
        if found.type == "variable_assignment":
            pieces = [Piece(found.start_byte, found.end_byte, found), *pieces[len(pieces) :]]
        merged = joined(pieces)
        self._budget.spend(len(merged))
        words = [self._raw(piece) for piece in merged]
        if words and words[0].text in _RESERVED and found.type == "command":
            self.errors.append(words[0].at)
            return Block(tuple(self._loose(merged)))
        items = [self._items(piece.found) for piece in merged]
        return _command(words, items, here, self._at(found))

    def _pieces(self, found: Found) -> list[Piece]:
        if found.type == "ERROR":
            self.errors.append(self._at(found))
        return [
            Piece(item.start_byte, item.end_byte, item)
            for item in leaves(found, frozenset())
            if not is_sign(item)
        ]

    def _items(self, found: Found) -> tuple[Raw, ...] | None:
        """Give the words of `name=( ... )`."""
        value = found.child_by_field_name("value") if found.type in _ASSIGNED else None
        if value is None or value.type != "array":
            return None
        inner = [item for item in value.children[1:-1] if item.type != "comment"]
        return self._words(Piece(item.start_byte, item.end_byte, item) for item in inner)

    def _redirect(self, found: Found, here: Raw | None) -> tuple[list[Piece], Raw | None]:
        """Give the words behind a redirection, which the grammar counts as part of it."""
        targets: list[Piece] = []
        given: Raw | None = None
        is_here = False
        for item in found.children:
            if item.type == "<" and self._at(item) in self._masked.heres:
                is_here = True
                given = self._masked.heres[self._at(item)]
            elif item.type == "ERROR" or item.type.endswith("_redirect"):
                targets += self._pieces(item)
            elif item.is_named and item.type != "file_descriptor":
                targets.append(Piece(item.start_byte, item.end_byte, item))
        merged = joined(targets)
        if is_here and merged:
            here = given or self._raw(merged[0])
        return merged[1:], here

    def _redirected(self, found: Found) -> Node:
        body = found.child_by_field_name("body")
        redirects = tuple(item for item in found.children if item.type.endswith("_redirect"))
        while body is not None and body.type == "redirected_statement":
            redirects += tuple(item for item in body.children if item.type.endswith("_redirect"))
            body = body.child_by_field_name("body")
        if body is None:
            return self._simple(found)
        if body.type in ("command", *_ASSIGNED):
            return self._simple(body, redirects)
        return self._first(found)
