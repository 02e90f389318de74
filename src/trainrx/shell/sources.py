"""The script and the files read as part of it; their lines are numbered through.

Line n of the file k is the number k * 2^20 + n, so that one number says file and line wherever a
value comes to stand.
"""

from __future__ import annotations

from trainrx.shell.quotes import Lines

_STRIDE = 1 << 20


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
