"""Words to fields: quotes, `$` expansions, braces, word splitting."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from trainrx.model.pattern import late
from trainrx.shell.fields import ExpandedPiece, brace_alternatives, join_pieces
from trainrx.shell.limits import MAX_DEPTH, MAX_VALUE, TooMuch
from trainrx.shell.parameters import Expansion, Parameters
from trainrx.shell.quotes import closing
from trainrx.shell.state import State
from trainrx.shell.values import Field, known

_SPECIAL = frozenset("\\'\"$`{<")
_PLAIN = late(r"[^\\'\"$`<]+")
_IN_QUOTES = late(r"[^\\$`]+")
_NAME = late(r"\$([A-Za-z_]\w*|[0-9@*#?!$_-])", re.ASCII)
_PLACEHOLDER = late(r"<[^\W\d_][\w./-]*(?: [\w./-]+)*>")
_SQUARE = late(r"\$\[([\w\s$(){}+*/%<>=!&|?:,-]{1,200})\]", re.ASCII)
_ANSI = {"n": "\n", "t": "\t", "r": "\r", "e": "\x1b", "a": "\a", "b": "\b"}


class Expander:
    """Expands words against the variables of one script."""

    def __init__(
        self, state: State, substitute: Callable[[str], str], arithmetic: Callable[[str], str]
    ) -> None:
        self._state = state
        self._substitute = substitute
        self._arithmetic = arithmetic
        self.parameters = Parameters(state, self.text, self.pattern)
        self._depth = 0

    def fields(self, raw: str, *, keep_joins: bool = False) -> list[Field]:
        """Expand a word of a command: none, one or several fields.

        Args:
            raw: The word as written.
            keep_joins: Leave a backslash before a line end inside double quotes, so that a script
                within the script keeps its lines.
        """
        self._state.budget.spend()
        if _SPECIAL.isdisjoint(raw):
            return [Field(raw)]
        found: list[Field] = []
        for text in self._alternatives(raw):
            pieces = self._pieces(text, keep_joins=keep_joins)
            found += join_pieces(pieces, self._state.separators())
        self._charge(found)
        return found

    def _alternatives(self, raw: str) -> Iterable[str]:
        if "{" not in raw:
            return (raw,)
        return brace_alternatives(raw, self._state.budget)

    def text(self, raw: str, *, keep_joins: bool = False) -> str:
        """Expand a word that is not split: the right side of `=`, an operand of a test."""
        self._state.budget.spend()
        if _SPECIAL.isdisjoint(raw):
            return raw
        return self._unsplit(self._pieces(raw, keep_joins=keep_joins))

    def pattern(self, raw: str) -> str:
        """Expand a word that is a pattern: what was quoted in it matches only itself."""
        self._state.budget.spend()
        if _SPECIAL.isdisjoint(raw):
            return raw
        from trainrx.shell import glob

        parts = []
        for piece in self._pieces(raw):
            text = " ".join(item.text for item in piece.fields)
            parts.append(glob.escape(text) if piece.quoted and known(text) else text)
        return "".join(parts)

    def dollars(self, raw: str) -> str:
        """Expand what `$` and backquotes stand for, and nothing else (as inside double quotes)."""
        return self._unsplit(self._quoted(raw, keep_joins=False))

    def _unsplit(self, pieces: Iterable[ExpandedPiece]) -> str:
        found = "".join(" ".join(f.text for f in piece.whole or piece.fields) for piece in pieces)
        self._charge([Field(found)])
        return found

    def _charge(self, fields: list[Field]) -> None:
        size = sum(len(item.text) for item in fields)
        self._state.budget.spend(1 + len(fields) + size // 32)
        if size > MAX_VALUE:
            raise TooMuch("a word grows beyond what a launch script needs")

    def _pieces(self, raw: str, *, keep_joins: bool = False) -> Iterator[ExpandedPiece]:
        position = 0
        while position < len(raw):
            plain = _PLAIN.match(raw, position)
            if plain:
                yield ExpandedPiece((Field(plain[0]),))
                position = plain.end()
                continue
            sign = raw[position]
            if sign == '"' or raw.startswith('$"', position):
                start = position + (1 if sign == '"' else 2)
                end = closing(raw, start, '"', len(raw))
                inner = raw[start : end - 1 if end > 0 else len(raw)]
                found = tuple(self._quoted(inner, keep_joins=keep_joins))
                yield from found or (ExpandedPiece((Field(""),), quoted=True),)
                position = end if end > 0 else len(raw)
            elif sign in "$`" and not raw.startswith("$'", position):
                piece, position = self._dollar(raw, position)
                yield piece
            else:
                piece, position = self._literal(raw, position)
                yield piece

    def _literal(self, raw: str, at: int) -> tuple[ExpandedPiece, int]:
        """Read a backslash, single quotes or a placeholder."""
        if raw[at] == "\\":
            after = raw[at + 1 : at + 2]
            return ExpandedPiece(
                (Field("" if after == "\n" else after),), quoted=after != "\n"
            ), at + 2
        if raw[at] == "'":
            end = raw.find("'", at + 1)
            end = end if end >= 0 else len(raw)
            return ExpandedPiece((Field(raw[at + 1 : end]),), quoted=True), end + 1
        if raw[at] == "$":
            match = re.compile(r"\$'((?:[^'\\]|\\.)*)'?", re.DOTALL).match(raw, at)
            body, end = (match[1], match.end()) if match else ("", len(raw))
            text = re.sub(r"\\(.)", lambda m: _ANSI.get(m[1], m[1]), body, flags=re.DOTALL)
            return ExpandedPiece((Field(text),), quoted=True), end
        if raw.startswith("<(", at):
            mark = self._state.unknowns.mark("command", raw[at:][:60], raw[at:][:60])
            return ExpandedPiece((Field(mark),)), len(raw)
        match = _PLACEHOLDER.match(raw, at)
        if match is None:
            return ExpandedPiece((Field(raw[at]),)), at + 1
        return ExpandedPiece(
            (Field(self._state.unknowns.mark("blank", match[0], match[0])),)
        ), match.end()

    def _quoted(self, inner: str, *, keep_joins: bool) -> Iterator[ExpandedPiece]:
        position = 0
        while position < len(inner):
            plain = _IN_QUOTES.match(inner, position)
            if plain:
                yield ExpandedPiece((Field(plain[0]),), quoted=True)
                position = plain.end()
            elif inner[position] == "\\":
                after = inner[position + 1 : position + 2]
                text = after if after in '$`"\\' else "\\" + after
                if after == "\n" and not keep_joins:
                    text = ""
                yield ExpandedPiece((Field(text),), quoted=True)
                position += 2
            else:
                piece, position = self._dollar(inner, position)
                kept = piece.whole or piece.fields
                if not piece.many:
                    kept = tuple(Field(item.text) for item in kept)
                # `"$@"` of no words is no word, unless something else stands in the quotes.
                yield ExpandedPiece(kept, quoted=bool(kept), many=piece.many)

    def _dollar(self, raw: str, at: int) -> tuple[ExpandedPiece, int]:
        """Expand what begins with `$` or a backquote; give it and the position behind it."""
        self._depth += 1
        if self._depth > MAX_DEPTH // 2:
            raise TooMuch("expansions are nested too deeply")
        opener = raw[at : at + 2] if raw[at] == "$" else "`"
        name = _NAME.match(raw, at)
        if name:
            piece, end = _split(self.parameters.plain(name[1])), name.end()
        elif opener == "$[" and (match := _SQUARE.match(raw, at)):
            # the form of `$((...))` that bash has kept from its beginnings
            piece, end = ExpandedPiece((Field(self._arithmetic(match[1])),)), match.end()
        elif opener not in ("${", "$(", "`"):
            piece, end = ExpandedPiece((Field("$"),)), at + 1
        else:
            piece, end = self._bracketed(raw, at, opener)
        self._depth -= 1
        return piece, end

    def _bracketed(self, raw: str, at: int, opener: str) -> tuple[ExpandedPiece, int]:
        start = at + len(opener)
        end = closing(raw, start, opener, len(raw))
        self._state.budget.spend(1 + (max(end, start) - start) // 16)
        if end < 0:
            shown = raw[at:][:60]
            mark = self._state.unknowns.mark("value", shown, shown)
            return ExpandedPiece((Field(mark),)), len(raw)
        body = raw[start : end - 1]
        if opener == "${":
            return _split(self.parameters.braced(body)), end
        if opener == "$(" and body.startswith("(") and body.endswith(")"):
            return ExpandedPiece((Field(self._arithmetic(body[1:-1])),)), end
        return ExpandedPiece((Field(self._substitute(body)),), split=True), end


def _split(expansion: Expansion) -> ExpandedPiece:
    if expansion.star is not None:
        return ExpandedPiece(expansion.star, split=True, whole=expansion.fields)
    return ExpandedPiece(expansion.fields, split=True, many=expansion.many, lines=expansion.lines)
