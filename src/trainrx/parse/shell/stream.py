"""The tokens of a script with one token in view, and the questions a parser asks of them."""

from __future__ import annotations

from trainrx.parse.shell.lexer import Lexer, Token
from trainrx.parse.shell.limits import MAX_DEPTH, Budget, TooMuch
from trainrx.parse.shell.syntax import Raw


class Stream:
    """Tokens from front to back; `errors` are the positions where something else was expected."""

    def __init__(self, text: str, budget: Budget) -> None:
        self.errors: list[int] = []
        self._lexer = Lexer(text, budget)
        self._budget = budget
        self._depth = 0
        self._token = self._lexer.next()

    def _step(self) -> Token:
        token = self._token
        self._token = self._lexer.next()
        return token

    def _at_end(self) -> bool:
        return self._token.type == "end"

    def _at_op(self, *texts: str) -> bool:
        return self._token.type == "op" and self._token.text in texts

    def _at_word(self, *texts: str) -> bool:
        return self._token.type == "word" and self._token.text in texts

    def _error(self) -> None:
        self.errors.append(self._token.at)

    def _newlines(self) -> None:
        while self._at_op("\n"):
            self._step()

    def _expect(self, text: str) -> None:
        if self._at_word(text) or self._at_op(text):
            self._step()
        else:
            self._error()

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise TooMuch("commands are nested too deeply")

    def _redirects(self) -> Raw | None:
        """Read redirections; give a here-string, or a here-document still without text."""
        here = None
        while self._token.type == "redirect":
            sign = self._step().text
            target = self._token
            if target.type != "word":
                self._error()
                continue
            if sign in ("<<", "<<-"):
                self._lexer.here_document(target, tabs=sign == "<<-")
                here = Raw("", target.at)
            elif sign == "<<<":
                here = Raw(target.text, target.at)
            self._step()
        return here
