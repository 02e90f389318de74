"""The words, assignments and redirections of a simple command, read from the grammar tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import msgspec

from trainrx.shell.grammar import mask
from trainrx.shell.limits import Budget
from trainrx.shell.syntax import Assign, Raw, Redirect, Simple, assignment

if TYPE_CHECKING:
    from tree_sitter import Node as Found


_WHOLE = frozenset(
    {
        "word", "number", "string", "raw_string", "ansi_c_string", "translated_string",
        "concatenation", "simple_expansion", "expansion", "command_substitution",
        "process_substitution", "arithmetic_expansion", "brace_expression", "variable_name",
        "special_variable_name", "regex", "extglob_pattern", "test_operator", "array",
        "variable_assignment", "comment", "file_redirect", "herestring_redirect",
        "heredoc_redirect",
    }
)  # fmt: skip
"""Nodes that are one word, part of one, or a redirection, whatever is inside."""
_SIGNS = frozenset(
    {
        "\n", ";", ";;", ";&", ";;&", "&", "&&", "|", "||", "|&", "(", ")", "((", "))",
        "<", ">", ">>", ">&", "<&", "&>", "&>>", ">|", "<<", "<<-", "<<<", "comment",
    }
)  # fmt: skip


class WordPiece(msgspec.Struct, frozen=True):
    """A part of a word, and the node that begins it."""

    start: int
    end: int
    found: Found


def piece(found: Found) -> WordPiece:
    """Give a node as a part of a word."""
    return WordPiece(found.start_byte, found.end_byte, found)


def joined(pieces: Iterable[WordPiece]) -> list[WordPiece]:
    """Put pieces that touch together into words, in the order of the text."""
    words: list[WordPiece] = []
    for item in sorted(pieces, key=lambda item: (item.start, item.end)):
        if item.start == item.end:
            continue
        if words and item.start <= words[-1].end:
            words[-1] = msgspec.structs.replace(words[-1], end=max(words[-1].end, item.end))
        else:
            words.append(item)
    return words


def is_redirect(found: Found) -> bool:
    """Tell whether a node is a redirection."""
    return found.type.endswith("_redirect")


def is_sign(found: Found) -> bool:
    """Tell whether a node stands between words instead of being part of one."""
    return found.type in _SIGNS


def leaves(found: Found, whole: Iterable[str] = ()) -> Iterator[Found]:
    """Give the words, signs and nodes of these types inside a node, in order."""
    kept = _WHOLE.union(whole)
    waiting = found.children[::-1]
    while waiting:
        item = waiting.pop()
        if item.type in kept or not item.child_count:
            yield item
        else:
            waiting += item.children[::-1]


RESERVED = frozenset(
    {"if", "then", "elif", "else", "fi", "do", "done", "esac", "}", "while", "for"}
)
"""Words that begin no simple command."""


class Redirection(msgspec.Struct, frozen=True):
    """What one redirection says, and the words behind it, which the grammar counts as part."""

    words: list[WordPiece]
    redirect: Redirect | None
    here: Raw | None


class WordReader:
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

    def _words(self, pieces: Iterable[WordPiece]) -> tuple[Raw, ...]:
        return tuple(
            Raw(self._slice(item.start, item.end), self._offset + item.start)
            for item in self._joined(pieces)
        )

    def _joined(self, pieces: Iterable[WordPiece]) -> list[WordPiece]:
        """Put pieces into words; a line that is continued goes on with the word it stops in."""
        words: list[WordPiece] = []
        for item in joined(pieces):
            if words and self._slice(words[-1].end, item.start) == "\\\n":
                words[-1] = msgspec.structs.replace(words[-1], end=item.end)
            else:
                words.append(item)
        return words

    def _command(self, found: Found, redirects: tuple[Found, ...] = ()) -> Simple:
        """Read a simple command."""
        pieces: list[WordPiece] = []
        given: list[Found] = []
        inside = [found] if found.type == "variable_assignment" else found.children
        for item in (*inside, *redirects):
            if is_redirect(item):
                given.append(item)
            elif item.type in ("ERROR", "subshell"):
                pieces += self._odd(item)
            elif item.type != "comment":
                pieces.append(piece(item))
        more, here, targets = self._redirections(given)
        node = self._simple([*pieces, *more], here, self._at(found))
        return msgspec.structs.replace(node, redirects=targets)

    def _redirections(
        self, given: Iterable[Found]
    ) -> tuple[list[WordPiece], Raw | None, tuple[Redirect, ...]]:
        """Give the words behind redirections, the last here-document, and where output goes."""
        pieces: list[WordPiece] = []
        here: Raw | None = None
        targets: list[Redirect] = []
        for item in given:
            found = self._redirect(item)
            pieces += found.words
            here = found.here or here
            if found.redirect is not None:
                targets.append(found.redirect)
        return pieces, here, tuple(targets)

    def _simple(self, pieces: list[WordPiece], here: Raw | None, at: int) -> Simple:
        merged = self._joined(pieces)
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

    def _odd(self, found: Found) -> list[WordPiece]:
        """Take the words of what has no place in a command."""
        self._error(found)
        pieces: list[WordPiece] = []
        for item in leaves(found):
            if is_redirect(item):
                pieces += self._redirect(item).words
            elif not is_sign(item):
                pieces.append(piece(item))
        return pieces

    def _items(self, found: Found) -> tuple[Raw, ...] | None:
        """Give the words of `name=( ... )`."""
        value = found.child_by_field_name("value")
        if value is None or value.type != "array":
            return None
        inside = (item for item in value.children[1:-1] if not is_sign(item))
        items: list[Raw] = []
        for raw in self._words(map(piece, inside)):
            last = items[-1] if items else Raw("", 0)
            if last.text.startswith("[") and "]" not in last.text:
                # A key with a blank in it: `[a b]=1`.
                items[-1] = Raw(self._text[last.at : raw.at + len(raw.text)], last.at)
            else:
                items.append(raw)
        return tuple(items)

    def _redirect(self, found: Found) -> Redirection:
        targets: list[WordPiece] = []
        given: Raw | None = None
        is_here = False
        number = sign = ""
        for item in found.children:
            if item.type == "<" and self._at(item) in self._masked.heres:
                is_here = True
                given = self._masked.heres[self._at(item)]
            elif item.type == "ERROR":
                targets += self._odd(item)
            elif item.type == "file_descriptor":
                number = self._slice(item.start_byte, item.end_byte)
            elif item.is_named:
                targets.append(piece(item))
            else:
                sign = item.type
        merged = joined(targets)
        target = self._words(merged[:1])
        if not target:
            return Redirection([], None, None)
        if is_here:
            return Redirection(merged[1:], None, given or target[0])
        return Redirection(merged[1:], Redirect(number, sign, target[0]), None)

    def _test_words(self, found: Found) -> tuple[Raw, ...]:
        """Give the words and operators of a test, its brackets included."""
        words: list[Raw] = []
        pieces: list[WordPiece] = []
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
