"""The grammar's tree to commands, tolerant: what bash would refuse is noted and stepped over."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from trainrx.parse.shell.assignments import assignment
from trainrx.parse.shell.grammar import parse
from trainrx.parse.shell.limits import MAX_DEPTH, Budget, TooMuch
from trainrx.parse.shell.pieces import Piece, is_redirect, is_sign, leaves, piece
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
from trainrx.parse.shell.words import RESERVED, Words

if TYPE_CHECKING:
    from tree_sitter import Node as Found

_SIMPLE = (
    "command",
    "declaration_command",
    "unset_command",
    "variable_assignment",
    "variable_assignments",
)
_COMPOUND = (
    *("list", "pipeline", "negated_command", "redirected_statement", "test_command"),
    *("compound_statement", "subshell", "do_group", "if_statement", "while_statement"),
    *("for_statement", "c_style_for_statement", "case_statement", "function_definition"),
)
_STATEMENTS = frozenset({*_SIMPLE, *_COMPOUND})
_LOGICAL_LINE = re.compile(r"(?:[^\\\n]|\\.)+", re.DOTALL)
_WINDOW = 12 * 1024
"""Characters parsed at once: where an error is met, the grammar's work grows with the square."""
_MAX_LINE = 8 * 1024
_LINE_SECONDS = 0.03


def commands(text: str, budget: Budget) -> Iterator[Node]:
    """Give the commands of a script within the script.

    Raises:
        TooMuch: The script is nested too deeply, or the budget is spent.
    """
    return Reader(text, budget).commands()


def declared(word: Raw, budget: Budget) -> Assign | None:
    """Read a word of `export` or `declare` as an assignment, None when it is not one."""
    found = assignment(word)
    if found is None or found.value[:1] != "(":
        return found
    node = next(commands(word.text, budget), None)
    if not isinstance(node, Simple) or not node.assigns or node.assigns[0].items is None:
        return found
    items = tuple(item._replace(at=item.at + word.at) for item in node.assigns[0].items)
    return found._replace(items=items)


class Reader(Words):
    """Reads a script; `stopped`: the whole was too much for the grammar, so line by line."""

    def __init__(self, text: str, budget: Budget) -> None:
        super().__init__(text, budget)
        self.stopped = False
        self._depth = 0

    def commands(self) -> Iterator[Node]:
        """Give the commands of the script in order.

        Raises:
            TooMuch: The script is nested too deeply, or the budget is spent.
        """
        text, start = self._masked.text, 0
        self._budget.spend(5 + len(text) // 64)
        while start < len(text):
            end, root = len(text), None
            if end - start > _WINDOW:
                end = text.rfind("\n", start, start + _WINDOW) + 1
            if end > start:
                root = parse(text[start:end], self._budget)
            else:
                end = text.find("\n", start) + 1 or len(text)
            found = [] if root is None else _top(root)
            if end < len(text):
                # What the window cut off is read again, with what follows.
                found = found[: _last_command(found)]
            if not found:
                self.stopped = self.stopped or root is None or end < len(text)
                yield from self._by_line(start, end)
                start = end
                continue
            self._offset = start
            after = start + found[-1].end_byte if end < len(text) else end
            yield from self._top_level(found)
            start = after

    def _top_level(self, children: Sequence[Found]) -> Iterator[Node]:
        for found, behind in _with_next(children):
            text = self._slice(found.start_byte, found.end_byte)
            if found.type == "ERROR" and "\n" in text:
                self._error(found)
                offset = self._offset
                yield from self._by_line(self._at(found), self._at(found) + len(text))
                self._offset = offset
            else:
                yield from self._statements(found, behind)

    def _by_line(self, start: int, end: int) -> Iterator[Node]:
        """Read every line on its own: where the whole makes no sense, a line still may."""
        for match in _LOGICAL_LINE.finditer(self._masked.text, start, end):
            line = match[0][:_MAX_LINE]
            self._budget.spend(20 + len(line) // 64)
            root = parse(line, self._budget, _LINE_SECONDS) if line.strip() else None
            if root is not None:
                self._offset = match.start()
                for found, behind in _with_next(_top(root)):
                    yield from self._statements(found, behind)
            elif line.strip():
                self._budget.spend(1000)
                self.errors.append(match.start())

    def _statements(self, found: Found, behind: Found | None) -> Iterator[Node]:
        """Give the commands of one node in a list of commands."""
        self._budget.spend()
        if found.is_missing:
            self._error(found)
        if found.type == "ERROR":
            yield from self._salvage(found)
        elif found.type in _STATEMENTS:
            node = self._statement(found)
            yield Subshell(node) if behind is not None and behind.type == "&" else node

    def _block(self, children: Sequence[Found]) -> Block:
        body: list[Node] = []
        for found, behind in _with_next(children):
            body += self._statements(found, behind)
        return Block(tuple(body))

    def _statement(self, found: Found, redirects: tuple[Found, ...] = ()) -> Node:
        """Read one command; `redirects` stand behind it."""
        self._depth += 1
        if self._depth > 3 * MAX_DEPTH:
            raise TooMuch("commands are nested too deeply")
        self._budget.spend()
        if found.type in _SIMPLE:
            node = self._plain(found, redirects)
        elif found.type in ("list", "pipeline", "negated_command", "redirected_statement"):
            node = self._joint(found, redirects)
        else:
            node = self._compound(found)
        self._depth -= 1
        return node

    def _plain(self, found: Found, redirects: tuple[Found, ...]) -> Node:
        node = self._command(found, redirects)
        if node.assigns:
            return self._split(node) if node.words else node
        if not node.words or node.words[0].text not in RESERVED:
            return node
        self.errors.append(node.words[0].at)
        return _without_reserved(node)

    def _split(self, node: Simple) -> Node:
        """Undo that the grammar takes assignments on lines of their own for a prefix."""
        starts = [*(item.at for item in node.assigns[1:]), *(raw.at for raw in node.words[:1])]
        cut = 0
        for number, (item, start) in enumerate(zip(node.assigns, starts, strict=False), 1):
            between = self._text[item.at + len(item.value) : start]
            if "\n" in between.replace("\\\n", ""):
                cut = number
        if not cut:
            return node
        alone = node._replace(assigns=node.assigns[:cut], words=(), here=None)
        return Block((alone, node._replace(assigns=node.assigns[cut:])))

    def _salvage(self, found: Found) -> Iterator[Node]:
        """Read what can be read of a place that makes no sense."""
        self._error(found)
        pieces: list[Piece] = []
        for item in leaves(found, _STATEMENTS):
            self._budget.spend()
            between = self._slice(pieces[-1].end, item.start_byte) if pieces else ""
            apart = "\n" in between.replace("\\\n", "")
            if item.type in _STATEMENTS or is_sign(item) or apart:
                yield from self._loose(pieces)
                pieces = []
            if is_redirect(item):
                pieces += self._redirect(item, None)[0]
            elif item.type in _STATEMENTS and item.type != "variable_assignment":
                yield self._statement(item)
            elif not is_sign(item):
                pieces.append(piece(item))
        yield from self._loose(pieces)

    def _loose(self, pieces: list[Piece]) -> Iterator[Node]:
        node = _without_reserved(self._simple(pieces, None, 0))
        if node.assigns or (node.words and node.words[0].text != "[["):
            yield node

    # Commands made of commands

    def _joint(self, found: Found, redirects: tuple[Found, ...]) -> Node:
        if found.type == "list":
            return self._and_or(found, redirects)
        if found.type == "redirected_statement":
            return self._redirected(found, redirects)
        parts = [item for item in found.children if item.type in _STATEMENTS]
        if any(item.type == "ERROR" for item in found.children):
            self._error(found)
        if not parts:
            return Block(())
        nodes = [self._statement(item) for item in parts[:-1]]
        nodes.append(self._statement(parts[-1], redirects))
        negated = found.type == "negated_command"
        if isinstance(nodes[0], Pipeline) and nodes[0].negated:
            # `! a | b` negates what the whole pipeline gives.
            nodes[:1], negated = nodes[0].parts, not negated
        return Pipeline(tuple(nodes), negated)

    def _and_or(self, found: Found, redirects: tuple[Found, ...]) -> Node:
        rest: list[tuple[str, Node]] = []
        while found.type == "list":
            self._budget.spend()
            parts = [item for item in found.children if item.type in _STATEMENTS]
            signs = [item.type for item in found.children if item.type in ("&&", "||")]
            if len(parts) != 2 or len(signs) != 1:
                self._error(found)
                return Block((self._block(found.children), *(node for _, node in rest[::-1])))
            rest.append((signs[0], self._statement(parts[1], redirects)))
            found, redirects = parts[0], ()
        return AndOr(self._statement(found), tuple(rest[::-1]))

    def _redirected(self, found: Found, redirects: tuple[Found, ...]) -> Node:
        body = found.child_by_field_name("body")
        own = tuple(item for item in found.children if is_redirect(item))
        if body is None or body.type not in _STATEMENTS:
            return self._command(found, redirects)
        return self._statement(body, (*own, *redirects))

    def _compound(self, found: Found) -> Node:
        kind, children = found.type, found.children
        if kind == "test_command" or children[0].type == "((":
            return self._test(found)
        if kind == "subshell":
            return Subshell(self._block(children))
        if kind == "if_statement":
            return self._if(children)
        if kind == "case_statement":
            return self._case(children)
        if kind in ("for_statement", "while_statement", "c_style_for_statement"):
            return self._loop(found)
        if kind == "function_definition":
            name, body = found.child_by_field_name("name"), found.child_by_field_name("body")
            shown = self._slice(name.start_byte, name.end_byte) if name else ""
            return Function(shown, Block(()) if body is None else self._block([body]))
        return self._block(children)

    def _test(self, found: Found) -> Node:
        text = self._slice(found.start_byte, found.end_byte)
        if text.startswith("(("):
            return Arithmetic(text[2:].removesuffix("))"))
        words = self._test_words(found)
        if text.startswith("[["):
            return Test(words[1:-1])
        return Simple((), words, None, self._at(found))

    def _if(self, children: list[Found]) -> Node:
        otherwise = None
        branches = [self._branch(children)]
        for item in children:
            if item.type == "elif_clause":
                branches.append(self._branch(item.children))
            elif item.type == "else_clause":
                otherwise = self._block(item.children)
        return If(tuple(branches), otherwise)

    def _branch(self, children: list[Found]) -> tuple[Block, Block]:
        at = next((at for at, item in enumerate(children) if item.type == "then"), len(children))
        return self._block(children[:at]), self._block(children[at:])

    def _loop(self, found: Found) -> Node:
        children = found.children
        at = next(
            (at for at, item in enumerate(children) if item == found.child_by_field_name("body")),
            len(children),
        )
        head, body = children[:at], self._block(children[at:])
        if found.type == "while_statement":
            return Loop(self._block(head), body, head[0].type == "until")
        if found.type == "c_style_for_statement":
            text = self._slice(found.start_byte, head[-1].end_byte)
            counter = re.search(r"\(\(\W*([A-Za-z_]\w*)", text)
            return Loop(None, body, counter=counter[1] if counter else "")
        name = found.child_by_field_name("variable")
        shown = self._slice(name.start_byte, name.end_byte) if name else ""
        kinds = [item.type for item in head]
        words = None
        if "in" in kinds:
            behind = head[kinds.index("in") + 1 :]
            words = self._words(piece(item) for item in behind if not is_sign(item))
        return For(shown, words, body, self._at(found))

    def _case(self, children: list[Found]) -> Node:
        kinds = [item.type for item in children]
        at = kinds.index("in") if "in" in kinds else len(kinds)
        word = self._words(map(piece, children[1:at]))
        items = []
        for item in children[at:]:
            if item.type == "ERROR":
                self._error(item)
            elif item.type == "case_item":
                items.append(self._case_item(item.children))
        return Case(word[0] if word else Raw("", self._at(children[0])), tuple(items))

    def _case_item(self, children: list[Found]) -> tuple[tuple[Raw, ...], Block]:
        kinds = [item.type for item in children]
        at = kinds.index(")") if ")" in kinds else len(kinds)
        patterns = self._words(piece(item) for item in children[:at] if not is_sign(item))
        return patterns, self._block(children[at:])


def _without_reserved(node: Simple) -> Simple:
    words = node.words
    while words and words[0].text in RESERVED:
        words = words[1:]
    return node._replace(words=words, at=words[0].at if words else node.at)


def _top(root: Found) -> list[Found]:
    # The root itself is an error where nothing makes sense.
    return [root] if root.type == "ERROR" else root.children


def _last_command(children: Sequence[Found]) -> int:
    """Give the place of the last command."""
    kinds = _STATEMENTS | {"ERROR"}
    return max((at for at, item in enumerate(children) if item.type in kinds), default=0)


def _with_next(children: Sequence[Found]) -> Iterator[tuple[Found, Found | None]]:
    return zip_longest(children, children[1:])
