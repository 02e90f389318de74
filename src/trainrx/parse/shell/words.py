"""The words, assignments and redirections of a simple command, read from the grammar's tree."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from trainrx.parse.shell.assignments import assignment
from trainrx.parse.shell.limits import Budget
from trainrx.parse.shell.mask import mask
from trainrx.parse.shell.pieces import Piece, is_redirect, is_sign, joined, leaves, piece
from trainrx.parse.shell.syntax import Assign, Raw, Simple

if TYPE_CHECKING:
    from tree_sitter import Node as Found

RESERVED = frozenset(
    {"if", "then", "elif", "else", "fi", "do", "done", "esac", "}", "while", "for"}
)
"""Words that begin no simple command."""


class Words:
    """Reads words; `errors` are the positions where bash would expect something else."""

    def __init__(self, text: str, budget: Budget) -> None:
        self.errors: list[int] = []
        self._text = text
        self._budget = budget
        self._masked = mask(text)
        # Position in the script of the part that was given to the grammar.
        self._offset = 0

    def _at(self, found: Found) -> int:
        return self._offset + found.start_byte

    def _slice(self, start: int, end: int) -> str:
        return self._text[self._offset + start : self._offset + end]

    def _error(self, found: Found) -> None:
        self.errors.append(self._at(found))

    def _words(self, pieces: Iterable[Piece]) -> tuple[Raw, ...]:
        return tuple(
            Raw(self._slice(item.start, item.end), self._offset + item.start)
            for item in joined(pieces)
        )

    def _command(self, found: Found, redirects: tuple[Found, ...] = ()) -> Simple:
        """Read a simple command."""
        pieces: list[Piece] = []
        here: Raw | None = None
        inside = [found] if found.type == "variable_assignment" else found.children
        for item in (*inside, *redirects):
            if is_redirect(item):
                more, here = self._redirect(item, here)
                pieces += more
            elif item.type in ("ERROR", "subshell"):
                pieces += self._odd(item)
            elif item.type != "comment":
                pieces.append(piece(item))
        return self._simple(pieces, here, self._at(found))

    def _simple(self, pieces: list[Piece], here: Raw | None, at: int) -> Simple:
        merged = joined(pieces)
        words = list(self._words(merged))
        self._budget.spend(1 + len(words))
        assigns: list[Assign] = []
        while len(assigns) < len(words):
            found = merged[len(assigns)].found
            if found.type != "variable_assignment":
                break
            item = assignment(words[len(assigns)], self._items(found))
            if item is None:
                break
            assigns.append(item)
        return Simple(tuple(assigns), tuple(words[len(assigns) :]), here, at)

    def _odd(self, found: Found) -> list[Piece]:
        """Take the words of what has no place in a command."""
        self._error(found)
        pieces: list[Piece] = []
        for item in leaves(found):
            if is_redirect(item):
                pieces += self._redirect(item, None)[0]
            elif not is_sign(item):
                pieces.append(piece(item))
        return pieces

    def _items(self, found: Found) -> tuple[Raw, ...] | None:
        """Give the words of `name=( ... )`."""
        value = found.child_by_field_name("value")
        if value is None or value.type != "array":
            return None
        inside = (item for item in value.children[1:-1] if not is_sign(item))
        return self._words(map(piece, inside))

    def _redirect(self, found: Found, here: Raw | None) -> tuple[list[Piece], Raw | None]:
        """Give the words behind a redirection, which the grammar counts as part of it."""
        targets: list[Piece] = []
        given: Raw | None = None
        is_here = False
        for item in found.children:
            if item.type == "<" and self._at(item) in self._masked.heres:
                is_here = True
                given = self._masked.heres[self._at(item)]
            elif item.type == "ERROR":
                targets += self._odd(item)
            elif item.is_named and item.type != "file_descriptor":
                targets.append(piece(item))
        merged = joined(targets)
        if is_here and merged:
            here = given or self._words(merged[:1])[0]
        return merged[1:], here

    def _test_words(self, found: Found) -> tuple[Raw, ...]:
        """Give the words and operators of a test, its brackets included."""
        words: list[Raw] = []
        pieces: list[Piece] = []
        for item in leaves(found):
            self._budget.spend()
            if not is_sign(item):
                pieces.append(piece(item))
                continue
            words += self._words(pieces)
            pieces = []
            if item.type not in ("\n", "comment"):
                words += self._words([piece(item)])
        return (*words, *self._words(pieces))
