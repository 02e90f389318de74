"""Parts of the grammar's tree that make up words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import msgspec

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
