"""Pass on what a job prints, and keep a bounded copy of it: a program of its own.

It imports nothing of this package, so that it starts in milliseconds and goes on when all else is
gone: standard input to standard output, word for word and at once, and into files below a name.
"""

from __future__ import annotations

import os
import select
import sys
from contextlib import suppress
from pathlib import Path

PIECE = 1 << 16
FIRST = 1 << 24
"""Bytes of the beginning that are kept: it says how the job was started."""
LATER = 1 << 25
"""Bytes after which a file of what came later is begun anew; the one before is kept."""
GATHER = 100
"""Milliseconds in which lines come together that follow each other closely: each time something is
passed on costs the same. What comes after a pause does not wait."""
LITTLE = 2048
"""Bytes below which a piece may wait; what comes faster is passed on as fast as it can be."""
GONE = 3
"""Exit status: nobody takes the output any more."""
ASKED, PASSED_ON = b"?", b"!"
"""Asked by what started it whether all that was printed so far is passed on, and the reply."""


class OutputCopy:
    """The copy of an output; a disk that is full ends the copy, never the output."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._room = FIRST
        self._file = _opened(path)

    def keep(self, data: bytes) -> None:
        """Write what was passed on."""
        if self._file is None:
            return
        if self._room < len(data):
            self._begin_anew()
        try:
            written = os.write(self._file, data)
        except OSError:
            written = -1
        if written < len(data):
            self.close()
        self._room -= len(data)

    def close(self) -> None:
        """End the copy."""
        if self._file is not None:
            with suppress(OSError):
                os.close(self._file)
        self._file = None

    def _begin_anew(self) -> None:
        self.close()
        _, before, later = copies(self._path)
        with suppress(OSError):
            later.replace(before)
        self._file, self._room = _opened(later), LATER


def _opened(path: Path) -> int | None:
    with suppress(OSError):
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    return None


def copies(path: Path) -> tuple[Path, Path, Path]:
    """Name the files of a copy, in order: the beginning, what came before the end, the end."""
    return path, path.with_suffix(".before.log"), path.with_suffix(".later.log")


def relay(source: int, target: int, asker: int, copy: OutputCopy) -> int:
    """Pass everything on until nobody writes any more; give the exit status."""
    poll = select.poll()
    poll.register(source, select.POLLIN)
    poll.register(asker, select.POLLIN)
    asked = select.poll()
    asked.register(asker, select.POLLIN)
    while True:
        ready = {descriptor for descriptor, _ in poll.poll()}
        if source in ready:
            data = _read(source)
            if not data:
                return 0
            if not _send(target, data):
                return GONE
            copy.keep(data)
            if len(data) < LITTLE:
                asked.poll(GATHER)
        elif not _reply(asker):
            poll.unregister(asker)
            asked.unregister(asker)


def _read(source: int) -> bytes:
    """Read what is there; a terminal whose other side is closed gives an error for an end."""
    try:
        return os.read(source, PIECE)
    except OSError:
        return b""


def _send(target: int, data: bytes) -> bool:
    """Write all of it; tells whether somebody takes it."""
    left = memoryview(data)
    try:
        while left:
            left = left[_write(target, left) :]
    except OSError:
        return False
    return True


def _write(target: int, data: memoryview) -> int:
    """Write what is taken at once; wait where nothing is and the target would not wait itself."""
    try:
        return os.write(target, data)
    except BlockingIOError:
        select.select([], [target], [])
        return 0


def _reply(asker: int) -> bool:
    """Reply that all is passed on; tells whether the one that asks is still there."""
    try:
        return os.read(asker, 1) == ASKED and os.write(asker, PASSED_ON) == 1
    except OSError:
        return False


if __name__ == "__main__":
    sys.exit(relay(0, 1, int(sys.argv[1]), OutputCopy(Path(sys.argv[2]))))
