"""The grammar's tree to commands, tolerant: what bash would refuse is noted and stepped over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

import msgspec

from trainrx.shell.limits import MAX_DEPTH, Budget, TooMuch
from trainrx.shell.syntax import (
    AndOr,
    Arithmetic,
    Block,
    CaseCommand,
    CountedLoop,
    For,
    Function,
    If,
    Loop,
    Node,
    Pipeline,
    Raw,
    Redirected,
    Simple,
    Subshell,
    Test,
)
from trainrx.shell.words import RESERVED, WordPiece, WordReader, is_redirect, is_sign, leaves, piece

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
STATEMENTS = frozenset({*_SIMPLE, *_COMPOUND})


class Statements(WordReader):
    """Reads the commands of a list, whatever they are made of."""

    def __init__(self, text: str, budget: Budget) -> None:
        super().__init__(text, budget)
        self._depth = 0

    def _statements(self, found: Found, behind: Found | None) -> Iterator[Node]:
        """Give the commands of one node in a list of commands."""
        self._budget.spend()
        if found.is_missing:
            self._error(found)
        if found.type == "ERROR":
            yield from self._salvage(found)
        elif found.type in STATEMENTS:
            node = self._statement(found)
            yield Subshell(node) if behind is not None and behind.type == "&" else node

    def _block(self, children: Sequence[Found]) -> Block:
        body: list[Node] = []
        for found, behind in with_next(children):
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
            if redirects:
                _, here, targets = self._redirections(redirects)
                node = Redirected(node, here, targets)
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
        alone = msgspec.structs.replace(
            node, assigns=node.assigns[:cut], words=(), here=None, redirects=()
        )
        return Block((alone, msgspec.structs.replace(node, assigns=node.assigns[cut:])))

    def _salvage(self, found: Found) -> Iterator[Node]:
        """Read what can be read of a place that makes no sense."""
        self._error(found)
        pieces: list[WordPiece] = []
        for item in leaves(found, STATEMENTS):
            self._budget.spend()
            between = self._slice(pieces[-1].end, item.start_byte) if pieces else ""
            apart = "\n" in between.replace("\\\n", "")
            if item.type in STATEMENTS or is_sign(item) or apart:
                yield from self._loose(pieces)
                pieces = []
            if is_redirect(item):
                pieces += self._redirect(item).words
            elif item.type in STATEMENTS and item.type != "variable_assignment":
                yield self._statement(item)
            elif not is_sign(item):
                pieces.append(piece(item))
        yield from self._loose(pieces)

    def _loose(self, pieces: list[WordPiece]) -> Iterator[Node]:
        node = _without_reserved(self._simple(pieces, None, 0))
        if node.assigns or (node.words and node.words[0].text != "[["):
            yield node

    # Commands made of commands

    def _joint(self, found: Found, redirects: tuple[Found, ...]) -> Node:
        if found.type == "list":
            return self._and_or(found, redirects)
        if found.type == "redirected_statement":
            return self._redirected(found, redirects)
        parts = [item for item in found.children if item.type in STATEMENTS]
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
            parts = [item for item in found.children if item.type in STATEMENTS]
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
        if body is None or body.type not in STATEMENTS:
            return self._command(found, redirects)
        return self._statement(body, (*own, *redirects))

    def _compound(self, found: Found) -> Node:
        kind, children = found.type, found.children
        if kind == "test_command" or children[0].type == "((":
            return self._test(found)
        if kind == "subshell":
            text = self._slice(found.start_byte, found.end_byte)
            if text.startswith("((") and text.endswith("))") and _is_nested(children):
                # Of `((((n))))` and `! ((n))` the grammar makes a subshell with something in it.
                return Arithmetic(text[2:-2])
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
            inside = text.partition("((")[2].rpartition("))")[0].split(";")
            first, condition, step = (*inside, "", "", "")[:3]
            return CountedLoop(first, condition, step, body)
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
        return CaseCommand(word[0] if word else Raw("", self._at(children[0])), tuple(items))

    def _case_item(self, children: list[Found]) -> tuple[tuple[Raw, ...], Block]:
        kinds = [item.type for item in children]
        at = kinds.index(")") if ")" in kinds else len(kinds)
        patterns = self._words(piece(item) for item in children[:at] if not is_sign(item))
        return patterns, self._block(children[at:])


def _is_nested(children: Sequence[Found]) -> bool:
    inside = [item for item in children if item.type in STATEMENTS]
    if len(inside) != 1 or not inside[0].children:
        return False
    # Behind `!` it makes two subshells of it.
    whole = inside[0].type == "subshell" and len(children) == 3
    return inside[0].children[0].type == "((" or whole


def _without_reserved(node: Simple) -> Simple:
    words = node.words
    while words and words[0].text in RESERVED:
        words = words[1:]
    return msgspec.structs.replace(node, words=words, at=words[0].at if words else node.at)


def with_next(children: Sequence[Found]) -> Iterator[tuple[Found, Found | None]]:
    """Give every node with the one behind it."""
    return zip_longest(children, children[1:])
