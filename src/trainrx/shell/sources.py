"""Lines and positions of a script and of the files read as part of it.

Line n of the file k is the number k * 2^20 + n, so that one number says file and line wherever a
value comes to stand.
"""

from __future__ import annotations

from bisect import bisect_right

import msgspec

from trainrx.model.facts import MAX_QUOTE

_STRIDE = 1 << 20


class Lines:
    """Positions to line numbers (from 1) and line texts."""

    def __init__(self, text: str) -> None:
        self._starts = [0]
        for line in text.split("\n")[:-1]:
            self._starts.append(self._starts[-1] + len(line) + 1)
        self._text = text

    def number(self, position: int) -> int:
        """Give the line a position is on."""
        return bisect_right(self._starts, position)

    def column(self, position: int) -> int:
        """Give the column of a position, from 1."""
        return position - self._starts[self.number(position) - 1] + 1

    def text(self, number: int) -> str:
        """Give the beginning of a line, without the blanks around it."""
        if not 0 < number <= len(self._starts):
            return ""
        end = self._starts[number] - 1 if number < len(self._starts) else len(self._text)
        start = self._starts[number - 1]
        return self._text[start : min(end, start + 2 * MAX_QUOTE)].strip()[:MAX_QUOTE]


class SourcePosition(msgspec.Struct, frozen=True):
    """Where the text being evaluated stands in the file; `fixed`: all of it on one line."""

    lines: Lines
    first: int = 1
    fixed: bool = False

    def line(self, at: int) -> int:
        """Give the line of the file for a position of the text."""
        return self.first if self.fixed else self.first + self.lines.number(at) - 1

    def column(self, at: int) -> int | None:
        """Give the column of a position, from 1, None where it has none of its own."""
        return None if self.fixed else self.lines.column(at)


class Sources:
    """The files whose commands are evaluated together."""

    def __init__(self, name: str, lines: Lines) -> None:
        self._names = [name]
        self._lines = [lines]

    @property
    def script(self) -> str:
        """Name the script that is called, nothing when it is not the only one."""
        name = self._names[0]
        return name if len(self._names) == 1 and name.endswith((".sh", ".bash")) else ""

    def add(self, name: str, lines: Lines) -> int:
        """Take in a file and give the number of its first line."""
        self._names.append(name)
        self._lines.append(lines)
        return (len(self._names) - 1) * _STRIDE + 1

    def name(self, number: int) -> str:
        """Name the file of a line."""
        return self._names[number // _STRIDE]

    def other(self, number: int) -> str:
        """Name the file of a line, nothing when it is the script itself."""
        return self._names[number // _STRIDE] if number >= _STRIDE else ""

    def text(self, number: int) -> str:
        """Give the text of a line."""
        return self._lines[number // _STRIDE].text(number % _STRIDE)


def in_file(number: int) -> int:
    """Give the line within its file."""
    return number % _STRIDE
