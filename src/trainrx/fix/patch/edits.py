"""Replacements of spans of texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class OffsetEdit(NamedTuple):
    """Replace the characters from `start` up to `end` of a document."""

    name: str
    start: int
    end: int
    text: str


def applied(documents: Mapping[str, str], edits: Iterable[OffsetEdit]) -> dict[str, str]:
    """Give the documents with edits made; of two at one place the first given stands first.

    Raises:
        ValueError: Two edits overlap.
    """
    out = dict(documents)
    ordered = sorted(edits, key=lambda item: (item.start, item.end))
    for name in {item.name for item in ordered}:
        text, parts, at = documents[name], [], 0
        for item in (one for one in ordered if one.name == name):
            if item.start < at:
                raise ValueError("edits overlap")
            parts += [text[at : item.start], item.text]
            at = item.end
        out[name] = "".join([*parts, text[at:]])
    return out


def line_end(text: str) -> str:
    r"""Give the line end a text uses: `\r\n` when most of its lines end so."""
    return "\r\n" if 2 * text.count("\r\n") > text.count("\n") else "\n"


def line_number(text: str, at: int) -> int:
    """Give the line of a position, from 1."""
    return text.count("\n", 0, at) + 1


def line_start(text: str, at: int) -> int:
    """Give the position where the line of a position begins."""
    return text.rfind("\n", 0, at) + 1


def indent_of(text: str, at: int) -> str:
    """Give the blanks at the beginning of the line of a position."""
    start = line_start(text, at)
    line = text[start:at]
    return line[: len(line) - len(line.lstrip(" \t"))]
