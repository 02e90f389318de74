"""Where the text goes that commands print, and where the text comes from that they read."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from trainrx.shell.limits import MAX_VALUE
from trainrx.shell.values import UnknownValue


class Sink:
    """Takes what commands print; `certain` while all of it is known.

    `name` is the file it is written to. `level` is the number of undecided branches around it: what
    is printed in a further one may not be printed.
    """

    def __init__(self, name: str = "", line: int = 0, *, append: bool = False) -> None:
        self.name, self.line, self.append = name, line, append
        self.level = 0
        self.certain = True
        self.rows = False
        self.touched = False
        self.unknown: UnknownValue | None = None
        self._parts: list[str] = []
        self._size = 0

    @property
    def text(self) -> str:
        """Give everything printed."""
        return "".join(self._parts)

    def add(self, text: str, level: int, line: int = 0) -> None:
        """Take a text; with a line it is a part of the script that keeps its line ends."""
        self._size += len(text)
        if self._size > MAX_VALUE or level > self.level:
            self.fail(None)
            return
        self.rows = bool(line) and not self.touched
        self.line = line or self.line
        self.touched = True
        self._parts.append(text)

    def fail(self, unknown: UnknownValue | None) -> None:
        """Note that something unknown is printed."""
        self.certain = False
        self.touched = True
        self.unknown = self.unknown or unknown


class Feed:
    """A text to read: a here-document, a here-string, a file at hand, what a pipe brings.

    `line` is where it stands in the script (0: nowhere); `rows`: its line ends are those there.
    """

    def __init__(self, text: str | Callable[[], str], line: int = 0, raw: str = "") -> None:
        self._given = text
        self._at = 0
        self.line, self.raw = line, raw

    @property
    def text(self) -> str:
        """Give what is left to read."""
        if not isinstance(self._given, str):
            # Most here-documents are Python programs that nothing asks for.
            self._given = self._given()
        return self._given[self._at :]

    @property
    def rows(self) -> bool:
        """Tell whether the lines of the text are those of the script."""
        return bool(self.line) and self.text.count("\n") == self.raw.count("\n")

    def take_line(self) -> str | None:
        """Read one line, None at the end."""
        text = self.text
        if not text:
            return None
        line, end, _ = text.partition("\n")
        self._at += len(line) + len(end)
        return line

    def take_all(self) -> str:
        """Read what is left."""
        text = self.text
        self._at += len(text)
        return text


class Streams(msgspec.Struct, frozen=True):
    """The standard input and output of commands.

    `outputs` are the files the output goes to, for the record; `capture`: within `$( ... )`, so
    that commands are not launches.
    """

    sink: Sink | None = None
    stdin: Feed | None = None
    outputs: tuple[str, ...] = ()
    capture: bool = False
