"""Words to fields: quotes, `$` expansions, braces, word splitting."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from trainrx.parse.shell.braces import alternatives
from trainrx.parse.shell.brackets import closing
from trainrx.parse.shell.limits import MAX_DEPTH, MAX_VALUE, TooMuch
from trainrx.parse.shell.parameters import Expansion, Parameters
from trainrx.parse.shell.state import Field, State

_SPECIAL = re.compile(r"[\\'\"$`{<]")
_PLAIN = re.compile(r"[^\\'\"$`<]+")
_IN_QUOTES = re.compile(r"[^\\$`]+")
_NAME = re.compile(r"\$([A-Za-z_]\w*|[0-9@*#?!$_-])", re.ASCII)
_PLACEHOLDER = re.compile(r"<[^\W\d_][\w./-]*(?: [\w./-]+)*>")
_ANSI = {"n": "\n", "t": "\t", "r": "\r", "e": "\x1b", "a": "\a", "b": "\b"}
_BLANKS = re.compile(r"[ \t\n]+")


class _Piece(NamedTuple):
    """A part of a word: quoted, literal, or (`split`) cut at blanks afterwards."""

    fields: tuple[Field, ...]
    quoted: bool = False
    split: bool = False
    many: bool = False
    lines: tuple[int, ...] = ()


class Expander:
    """Expands words against the variables of one script."""

    def __init__(
        self, state: State, substitute: Callable[[str], str], arithmetic: Callable[[str], str]
    ) -> None:
        self._state = state
        self._substitute = substitute
        self._arithmetic = arithmetic
        self._parameters = Parameters(state, self.text)
        self._depth = 0

    def fields(self, raw: str, *, keep_joins: bool = False) -> list[Field]:
        """Expand a word of a command: none, one or several fields.

        Args:
            raw: The word as written.
            keep_joins: Leave a backslash before a line end inside double quotes, so that a script
                within the script keeps its lines.
        """
        self._state.budget.spend()
        if not _SPECIAL.search(raw):
            return [Field(raw)]
        found: list[Field] = []
        for text in alternatives(raw, self._state.budget):
            found += _join(self._pieces(text, keep_joins=keep_joins))
        self._charge(found)
        return found

    def text(self, raw: str) -> str:
        """Expand a word that is not split: the right side of `=`, an operand of a test."""
        self._state.budget.spend()
        return self._unsplit(self._pieces(raw)) if _SPECIAL.search(raw) else raw

    def dollars(self, raw: str) -> str:
        """Expand what `$` and backquotes stand for, and nothing else (as inside double quotes)."""
        return self._unsplit(self._quoted(raw, keep_joins=False))

    def _unsplit(self, pieces: Iterable[_Piece]) -> str:
        found = "".join(" ".join(item.text for item in piece.fields) for piece in pieces)
        self._charge([Field(found)])
        return found

    def _charge(self, fields: list[Field]) -> None:
        size = sum(len(item.text) for item in fields)
        self._state.budget.spend(1 + len(fields) + size // 32)
        if size > MAX_VALUE:
            raise TooMuch("a word grows beyond what a launch script needs")

    def _pieces(self, raw: str, *, keep_joins: bool = False) -> Iterator[_Piece]:
        position = 0
        while position < len(raw):
            plain = _PLAIN.match(raw, position)
            if plain:
                yield _Piece((Field(plain[0]),))
                position = plain.end()
                continue
            sign = raw[position]
            if sign == '"' or raw.startswith('$"', position):
                start = position + (1 if sign == '"' else 2)
                end = closing(raw, start, '"', len(raw))
                inner = raw[start : end - 1 if end > 0 else len(raw)]
                found = tuple(self._quoted(inner, keep_joins=keep_joins))
                yield from found or (_Piece((Field(""),), quoted=True),)
                position = end if end > 0 else len(raw)
            elif sign in "$`" and not raw.startswith("$'", position):
                piece, position = self._dollar(raw, position)
                yield piece
            else:
                piece, position = self._literal(raw, position)
                yield piece

    def _literal(self, raw: str, at: int) -> tuple[_Piece, int]:
        """Read a backslash, single quotes or a placeholder."""
        if raw[at] == "\\":
            after = raw[at + 1 : at + 2]
            return _Piece((Field("" if after == "\n" else after),), quoted=after != "\n"), at + 2
        if raw[at] == "'":
            end = raw.find("'", at + 1)
            end = end if end >= 0 else len(raw)
            return _Piece((Field(raw[at + 1 : end]),), quoted=True), end + 1
        if raw[at] == "$":
            match = re.compile(r"\$'((?:[^'\\]|\\.)*)'?", re.DOTALL).match(raw, at)
            body, end = (match[1], match.end()) if match else ("", len(raw))
            text = re.sub(r"\\(.)", lambda m: _ANSI.get(m[1], m[1]), body, flags=re.DOTALL)
            return _Piece((Field(text),), quoted=True), end
        if raw.startswith("<(", at):
            mark = self._state.unknowns.mark("command", raw[at:][:60], raw[at:][:60])
            return _Piece((Field(mark),)), len(raw)
        match = _PLACEHOLDER.match(raw, at)
        if match is None:
            return _Piece((Field(raw[at]),)), at + 1
        return _Piece((Field(self._state.unknowns.mark("blank", match[0], match[0])),)), match.end()

    def _quoted(self, inner: str, *, keep_joins: bool) -> Iterator[_Piece]:
        position = 0
        while position < len(inner):
            plain = _IN_QUOTES.match(inner, position)
            if plain:
                yield _Piece((Field(plain[0]),), quoted=True)
                position = plain.end()
            elif inner[position] == "\\":
                after = inner[position + 1 : position + 2]
                text = after if after in '$`"\\' else "\\" + after
                if after == "\n" and not keep_joins:
                    text = ""
                yield _Piece((Field(text),), quoted=True)
                position += 2
            else:
                piece, position = self._dollar(inner, position)
                kept = piece.fields if piece.many else tuple(Field(f.text) for f in piece.fields)
                yield _Piece(kept, quoted=True, many=piece.many)

    def _dollar(self, raw: str, at: int) -> tuple[_Piece, int]:
        """Expand what begins with `$` or a backquote; give it and the position behind it."""
        self._depth += 1
        if self._depth > MAX_DEPTH // 2:
            raise TooMuch("expansions are nested too deeply")
        opener = raw[at : at + 2] if raw[at] == "$" else "`"
        name = _NAME.match(raw, at)
        if name:
            piece, end = _split(self._parameters.plain(name[1])), name.end()
        elif opener not in ("${", "$(", "`"):
            piece, end = _Piece((Field("$"),)), at + 1
        else:
            piece, end = self._bracketed(raw, at, opener)
        self._depth -= 1
        return piece, end

    def _bracketed(self, raw: str, at: int, opener: str) -> tuple[_Piece, int]:
        start = at + len(opener)
        end = closing(raw, start, opener, len(raw))
        self._state.budget.spend(1 + (max(end, start) - start) // 16)
        if end < 0:
            shown = raw[at:][:60]
            mark = self._state.unknowns.mark("value", shown, shown)
            return _Piece((Field(mark),)), len(raw)
        body = raw[start : end - 1]
        if opener == "${":
            return _split(self._parameters.braced(body)), end
        if opener == "$(" and body.startswith("(") and body.endswith(")"):
            return _Piece((Field(self._arithmetic(body[1:-1])),)), end
        return _Piece((Field(self._substitute(body)),), split=True), end


def _split(expansion: Expansion) -> _Piece:
    return _Piece(expansion.fields, split=True, many=expansion.many, lines=expansion.lines)


def _join(pieces: Iterable[_Piece]) -> list[Field]:
    """Put the pieces of a word together into fields."""
    word = _Word()
    for piece in pieces:
        for number, item in enumerate(piece.fields):
            if number:
                word.finish()
            if piece.split:
                word.add_split(item, piece)
            else:
                word.add(item, quoted=piece.quoted)
    word.finish()
    return word.done


class _Word:
    """The field being put together and those before it."""

    def __init__(self) -> None:
        self.done: list[Field] = []
        self._text: list[str] = []
        self._kept = False
        self._line = 0

    def add(self, item: Field, *, quoted: bool) -> None:
        # A field made of several pieces stands on the line of the word, not of one piece.
        self._line = item.line if not self._text else 0
        if item.text:
            self._text.append(item.text)
        self._kept = self._kept or quoted

    def add_split(self, item: Field, piece: _Piece) -> None:
        parts = _BLANKS.split(item.text)
        count = len([part for part in parts if part])
        # `$LR` stands where it is used; the words of `$ARGS` stand where ARGS was set.
        own = piece.many or len(parts) > 1 or item.text.startswith("-")
        lines = piece.lines if len(piece.lines) == count else (item.line,) * count
        numbers = iter(lines)
        for number, part in enumerate(parts):
            if number:
                self.finish()
            if part:
                line = next(numbers)
                self.add(Field(part, line if own else 0), quoted=False)

    def finish(self) -> None:
        if self._text or self._kept:
            self.done.append(Field("".join(self._text), self._line))
        self._text, self._kept, self._line = [], False, 0
