"""Shell text to tokens. The parser asks for one token at a time, so cost is linear."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from trainrx.parse.shell.brackets import closing
from trainrx.parse.shell.limits import Budget

_SPACE = re.compile(r"(?:[ \t\r\f\v]|\\\n)*(?:#[^\n]*)?")
_PLACEHOLDER = re.compile(r"<[^\W\d_][\w./-]*(?: [\w./-]+)*>(?=[\s\"']|$)")
_REDIRECT = re.compile(r"(?:\d+|\{\w+\})?(?:<<<|<<-?|<>|<&|>>|>&|>\||&>>|&>|[<>])(?!\()")
_CONTROL = re.compile(r"&&|\|\||;;&|;;|;&|\|&|[;&|()\n]")
_PLAIN = re.compile(r"(?:[^ \t\n\\'\"$`;&|()<>]|\\.)+", re.DOTALL)
_ARRAY = re.compile(r"[A-Za-z_]\w*\+?=$", re.ASCII)
_LIMIT = 64 * 1024

Type = Literal["word", "op", "redirect", "end"]


class Token(NamedTuple):
    """A word as written, an operator (line ends included) or a redirection sign."""

    type: Type
    text: str
    at: int


class Lexer:
    """Reads tokens from a text, from front to back."""

    def __init__(self, text: str, budget: Budget) -> None:
        self.text = text
        self.position = 0
        self._budget = budget
        self.bodies: dict[int, tuple[str, int]] = {}
        self._heredocs: list[tuple[int, str, bool]] = []

    def next(self) -> Token:
        """Read one token."""
        self._budget.spend(2)
        text = self.text
        space = _SPACE.match(text, self.position)
        self.position = at = space.end() if space else self.position
        if at >= len(text):
            return Token("end", "", at)
        sign = text[at]
        if sign in "<&>0123456789{" and (found := self._redirect(at)):
            return found
        if sign in ";&|()\n" and (match := _CONTROL.match(text, at)):
            self.position = match.end()
            if sign == "\n" and self._heredocs:
                self._skip_bodies()
            return Token("op", match[0], at)
        self.position = self._word_end(at)
        return Token("word", text[at : self.position], at)

    def _redirect(self, at: int) -> Token | None:
        match = _REDIRECT.match(self.text, at)
        if match is None or _PLACEHOLDER.match(self.text, at):
            return None
        self.position = match.end()
        return Token("redirect", match[0].lstrip("0123456789"), at)

    def here_document(self, delimiter: Token, *, tabs: bool) -> None:
        """Note a here-document whose body begins after this line.

        When that line end was read, `bodies` holds the body, quoted as it is to be expanded, under
        the position of the delimiter.
        """
        self._heredocs.append((delimiter.at, delimiter.text, tabs))

    def _skip_bodies(self) -> None:
        for at, delimiter, tabs in self._heredocs:
            word = re.sub(r"[\"'\\]", "", delimiter)
            rule = rf"^{'	*' if tabs else ''}{re.escape(word)}$\n?"
            match = re.compile(rule, re.MULTILINE).search(self.text, self.position)
            self._budget.spend(50)
            body = self.text[self.position : match.start() if match else len(self.text)]
            quoted = (
                '"' + body.replace('"', '\\"') + '"'
                if word == delimiter
                else "'" + body.replace("'", "'\\''") + "'"
            )
            self.bodies[at] = quoted, self.position
            self.position = match.end() if match else len(self.text)
        self._heredocs = []

    def until(self, opener: str) -> str | None:
        """Read a bracketed text whose opener was just read; None when it is not closed."""
        end = closing(self.text, self.position, opener, self.position + _LIMIT)
        reach = min(len(self.text) - self.position, _LIMIT) if end < 0 else end - self.position
        self._budget.spend(1 + reach // (4 if end < 0 else 16))
        if end < 0:
            return None
        body = self.text[self.position : end - 1]
        self.position = end
        return body

    def _word_end(self, at: int) -> int:
        text = self.text
        position = at
        while position < len(text):
            plain = _PLAIN.match(text, position)
            if plain:
                position = plain.end()
                continue
            after = self._piece_end(position, at)
            if after == position:
                break
            position = after
        return max(position, at + 1)

    def _piece_end(self, at: int, start: int) -> int:
        """Give the end of a quoted or bracketed piece of a word, `at` itself when none is here."""
        sign = self.text[at]
        if sign == "'":
            end = self.text.find("'", at + 1)
            return end + 1 if end >= 0 else len(self.text)
        if sign in '"`':
            return self._closed(at + 1, sign)
        if sign == "$":
            opener = self.text[at : at + 2]
            if opener in ("${", "$("):
                return self._closed(at + 2, opener)
            return at + 1 if opener != "$'" else self._ansi(at)
        if sign == "(" and at > start and self._joins(start, at):
            return self._closed(at + 1, "(")
        if sign in "<>" and self.text[at + 1 : at + 2] == "(":
            return self._closed(at + 2, "(")
        placeholder = _PLACEHOLDER.match(self.text, at) if sign == "<" else None
        if placeholder:
            return placeholder.end()
        return at + 1 if sign == "\\" else at

    def _joins(self, start: int, at: int) -> bool:
        """Tell whether a bracket belongs to the word before it: an array or an extended glob."""
        return self.text[at - 1] in "@?*+!" or bool(_ARRAY.match(self.text[start:at]))

    def _ansi(self, at: int) -> int:
        match = re.compile(r"\$'(?:[^'\\]|\\.)*'", re.DOTALL).match(self.text, at)
        return match.end() if match else at + 1

    def _closed(self, after: int, opener: str) -> int:
        end = closing(self.text, after, opener, min(after + _LIMIT, len(self.text)))
        # What is never closed ends with its line: the lines below are still worth reading.
        if end < 0:
            line = self.text.find("\n", after)
            end = line if line >= 0 else len(self.text)
            self._budget.spend(50 + min(len(self.text) - after, _LIMIT) // 16)
        self._budget.spend(1 + (end - after) // 16)
        return end
