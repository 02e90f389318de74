"""Shell tokens to commands, tolerant: what bash would refuse is noted and stepped over."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainrx.parse.shell.assignments import assignment
from trainrx.parse.shell.stream import Stream
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

_CLOSING = frozenset({"then", "elif", "else", "fi", "do", "done", "esac", "}"})
_ENDS = frozenset({";;", ";&", ";;&"})
_JOINTS = frozenset({"&&", "||", "(", "!"})
_NO_BODY = Block(())


class Parser(Stream):
    """Reads one complete command after the other, so that a bad place costs only what follows."""

    def commands(self) -> Iterator[Node]:
        """Give the commands of the script in order.

        Raises:
            TooMuch: The script is nested too deeply, or the budget is spent.
        """
        while not self._at_end():
            node = self._line()
            if node is not None:
                yield node
            elif not self._at_end():
                self._error()
                self._step()

    def _line(self) -> Node | None:
        """Read one and-or list with the separator behind it; None when there is none here."""
        self._newlines()
        node = self._and_or()
        if node is None:
            return None
        if self._at_op("&"):
            node = Subshell(node)
        if self._at_op("&", ";", "\n"):
            self._step()
        return node

    def _block(self) -> Block:
        """Read commands up to a word or operator that closes a compound command."""
        self._deeper()
        body: list[Node] = []
        while (node := self._line()) is not None:
            body.append(node)
        self._depth -= 1
        return Block(tuple(body))

    def _and_or(self) -> Node | None:
        first = self._pipeline()
        if first is None:
            return None
        rest: list[tuple[str, Node]] = []
        while self._at_op("&&", "||"):
            operator = self._step().text
            self._newlines()
            node = self._pipeline()
            if node is None:
                self._error()
                break
            rest.append((operator, node))
        return AndOr(first, tuple(rest)) if rest else first

    def _pipeline(self) -> Node | None:
        negated = False
        while self._at_word("!"):
            negated = not negated
            self._step()
        first = self._command()
        if first is None:
            return None
        parts = [first]
        while self._at_op("|", "|&"):
            self._step()
            self._newlines()
            node = self._command()
            if node is None:
                self._error()
                break
            parts.append(node)
        return Pipeline(tuple(parts), negated) if negated or len(parts) > 1 else first

    def _command(self) -> Node | None:
        token = self._token
        if token.type == "redirect":
            return self._simple()
        if token.type == "op":
            return self._bracket() if token.text == "(" else None
        if token.type == "end" or token.text in _CLOSING:
            return None
        read = {
            "if": self._if,
            "for": self._for,
            "select": self._for,
            "while": self._loop,
            "until": self._loop,
            "case": self._case,
            "function": self._function,
            "{": self._group,
            "[[": self._test,
        }.get(token.text)
        if read is None:
            return self._simple()
        node = read()
        self._redirects()
        return node

    def _bracket(self) -> Node:
        opened = self._step()
        if self._at_op("(") and self._token.at == opened.at + 1:
            body = self._lexer.until("(")
            if body is not None:
                self._step()
                self._expect(")")
                self._redirects()
                return Arithmetic(body)
        block = self._block()
        self._expect(")")
        self._redirects()
        return Subshell(block)

    def _simple(self) -> Node | None:
        at = self._token.at
        assigns: list[Assign] = []
        words: list[Raw] = []
        here: Raw | None = None
        while True:
            if self._token.type == "redirect":
                here = self._redirects() or here
                continue
            if self._token.type != "word":
                break
            token = self._step()
            word = Raw(token.text, token.at)
            assign = assignment(word, self._budget) if not words else None
            if assign is not None:
                assigns.append(assign)
                continue
            words.append(word)
            if len(words) == 1 and not assigns and self._at_op("("):
                return self._definition(token.text)
            if self._at_op("("):
                self._error()
                self._step()
        if here is not None and not here.text:
            # The body of a here-document is known once the line end behind the command was read.
            body = self._lexer.bodies.get(here.at)
            here = Raw(*body) if body else None
        return Simple(tuple(assigns), tuple(words), here, at)

    def _definition(self, name: str) -> Node:
        self._step()
        self._expect(")")
        self._newlines()
        return Function(name, self._nested() or _NO_BODY)

    def _function(self) -> Node:
        self._step()
        name = self._step().text if self._token.type == "word" else ""
        if self._at_op("("):
            self._step()
            self._expect(")")
        self._newlines()
        return Function(name, self._nested() or _NO_BODY)

    def _nested(self) -> Node | None:
        """Read one command inside another: `f() f() f() ...` nests without a block."""
        self._deeper()
        node = self._command()
        self._depth -= 1
        return node

    def _group(self) -> Node:
        self._step()
        block = self._block()
        self._expect("}")
        return block

    def _if(self) -> Node:
        branches: list[tuple[Block, Block]] = []
        while self._at_word("if", "elif"):
            if branches and self._at_word("if"):
                break
            self._step()
            condition = self._block()
            self._expect("then")
            branches.append((condition, self._block()))
        otherwise = None
        if self._at_word("else"):
            self._step()
            otherwise = self._block()
        self._expect("fi")
        return If(tuple(branches), otherwise)

    def _body(self) -> Block:
        """Read `do ... done` (or `{ ... }`, which bash takes as well)."""
        while self._at_op(";", "\n"):
            self._step()
        if self._at_word("{"):
            self._step()
            block = self._block()
            self._expect("}")
            return block
        self._expect("do")
        block = self._block()
        self._expect("done")
        return block

    def _for(self) -> Node:
        at = self._step().at
        if self._at_op("("):
            header = self._lexer.until("(") or ""
            self._step()
            counter = re.search(r"[A-Za-z_]\w*", header)
            return Loop(None, self._body(), counter=counter[0] if counter else "")
        name = self._step().text if self._token.type == "word" else ""
        self._newlines()
        words: list[Raw] | None = None
        if self._at_word("in"):
            self._step()
            words = []
            while self._token.type == "word":
                token = self._step()
                words.append(Raw(token.text, token.at))
        return For(name, None if words is None else tuple(words), self._body(), at)

    def _loop(self) -> Node:
        until = self._step().text == "until"
        condition = self._block()
        return Loop(condition, self._body(), until)

    def _case(self) -> Node:
        self._step()
        word = Raw(self._token.text, self._token.at)
        if self._token.type == "word":
            self._step()
        self._newlines()
        self._expect("in")
        self._newlines()
        items: list[tuple[tuple[Raw, ...], Block]] = []
        while not self._at_end() and not self._at_word("esac"):
            before = self._token.at
            items.append(self._case_item())
            self._newlines()
            if self._token.at == before:
                self._error()
                self._step()
        self._expect("esac")
        return Case(word, tuple(items))

    def _case_item(self) -> tuple[tuple[Raw, ...], Block]:
        if self._at_op("("):
            self._step()
        patterns: list[Raw] = []
        while self._token.type == "word" or self._at_op("|"):
            token = self._step()
            if token.type == "word":
                patterns.append(Raw(token.text, token.at))
        self._expect(")")
        body = self._block()
        if self._token.type == "op" and self._token.text in _ENDS:
            self._step()
        return tuple(patterns), body

    def _test(self) -> Node:
        self._step()
        words: list[Raw] = []
        while not self._at_end() and not self._at_word("]]"):
            # A test goes on behind a line end only after an operator; else its end is missing.
            if self._at_op("\n") and words and words[-1].text not in _JOINTS:
                break
            token = self._step()
            if token.text != "\n":
                words.append(Raw(token.text, token.at))
        self._expect("]]")
        return Test(tuple(words))
