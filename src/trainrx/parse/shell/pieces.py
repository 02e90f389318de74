"""Parts of the grammar's tree that make up words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Node as Found

_WHOLE = frozenset(
    {
        "word", "number", "string", "raw_string", "ansi_c_string", "translated_string",
        "concatenation", "simple_expansion", "expansion", "command_substitution",
        "process_substitution", "arithmetic_expansion", "brace_expression", "variable_name",
        "special_variable_name", "regex", "extglob_pattern", "test_operator", "array",
        "variable_assignment", "comment",
    }
)  # fmt: skip
"""Nodes that are a word or a part of one, whatever is inside."""
_SIGNS = frozenset("\n ; ;; ;& ;;& & && | || |& ( ) (( )) < > >> >& <& &> &>> >| <<< << <<-".split(" "))


class Piece(NamedTuple):
    """A part of a word, and the node that begins it."""

    start: int
    end: int
    found: Found


def joined(pieces: Iterable[Piece]) -> list[Piece]:
    """Put pieces that touch together into words, in the order of the text."""
    words: list[Piece] = []
    for piece in sorted(pieces, key=lambda item: (item.start, item.end)):
        if piece.start == piece.end:
            continue
        if words and piece.start <= words[-1].end:
            words[-1] = words[-1]._replace(end=max(words[-1].end, piece.end))
        else:
            words.append(piece)
    return words


def is_sign(found: Found) -> bool:
    """Tell whether a node separates words instead of being part of one."""
    return found.type in _SIGNS or found.type == "comment"


def leaves(found: Found, whole: frozenset[str]) -> Iterator[Found]:
    """Give the words, signs and nodes of these types inside a node, in order."""
    waiting = found.children[::-1]
    while waiting:
        item = waiting.pop()
        if item.type in _WHOLE or item.type in whole or not item.child_count:
            yield item
        else:
            waiting += item.children[::-1]
