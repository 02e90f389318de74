r"""Places in a text as lint counts them, and as an editor does.

Lint counts lines by `\n` and columns in characters, from 1. An editor counts lines by `\n`, `\r\n`
and `\r` and columns in code units of the encoding both sides agreed on, from 0.
https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/#position
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

_ENDS = re.compile(r"\r\n|\n|\r")
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_LONE = re.compile("[\ud800-\udfff]")
UTF8, UTF16, UTF32 = "utf-8", "utf-16", "utf-32"


class EditorPosition(NamedTuple):
    """A position as an editor counts: line and code unit, both from 0."""

    line: int
    unit: int


def readable(text: str) -> str:
    """Replace lone surrogates, which an editor may send and no file can hold; lengths stay."""
    return _LONE.sub("\ufffd", text)


class EditedText:
    """A text in which places are found.

    Args:
        text: the text, without lone surrogates.
        encoding: what a code unit is: utf-8, utf-16 or utf-32.
    """

    def __init__(self, text: str, encoding: str = UTF16) -> None:
        self.text = text
        self._encoding = encoding
        self._lint = [0, *(match.end() for match in re.finditer("\n", text))]
        ends = list(_ENDS.finditer(text))
        self._starts = [0, *(match.end() for match in ends)]
        self._stops = [*(match.start() for match in ends), len(text)]

    def offset(self, line: int, column: int) -> int:
        """Give where lint's line and column are; what lies outside is moved to the nearest end."""
        if line > len(self._lint):
            return len(self.text)
        start = self._lint[max(line, 1) - 1]
        last = self._lint[line] if 1 <= line < len(self._lint) else len(self.text)
        return min(start + max(column, 1) - 1, last)

    def counted(self, offset: int) -> tuple[int, int]:
        """Give lint's line and column of an offset."""
        line = bisect_right(self._lint, offset)
        return line, offset - self._lint[line - 1] + 1

    def place(self, offset: int) -> EditorPosition:
        """Give the editor's position of an offset; inside a line end it is before it."""
        line = bisect_right(self._starts, offset) - 1
        start, stop = self._starts[line], self._stops[line]
        return EditorPosition(line, self._units(self.text[start : min(offset, stop)]))

    def found(self, place: EditorPosition) -> int:
        """Give the offset of an editor's position; what lies outside is moved to the line's end."""
        if place.line >= len(self._starts):
            return len(self.text)
        line = max(place.line, 0)
        start, stop = self._starts[line], self._stops[line]
        held = self.text[start:stop]
        if held.isascii():
            return start + min(max(place.unit, 0), len(held))
        units = 0
        for index, char in enumerate(held):
            if units >= place.unit:
                return start + index
            units += self._units(char)
        return stop

    def _units(self, text: str) -> int:
        if self._encoding == UTF32 or text.isascii():
            return len(text)
        if self._encoding == UTF8:
            return len(text.encode())
        return len(text) + len(_ASTRAL.findall(text))
