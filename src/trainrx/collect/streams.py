"""The outputs of a job that is started here: where they go, and how they are known to us.

A file is left to the job as it is, and read beside it. A terminal or a pipe cannot be read beside,
so the job gets another one of its kind, which `relay` passes on. Its reading end is open in the
relay and here: either may be killed, and the other one keeps the job from a broken pipe.
"""

from __future__ import annotations

import os
import pty
import select
import socket
import stat
import subprocess
import sys
import termios
import tty
from collections.abc import Iterator, Sequence
from contextlib import suppress
from fcntl import F_SETPIPE_SZ, fcntl, ioctl
from pathlib import Path
from typing import NamedTuple

from trainrx.collect import relay

OUTPUTS = {1: "stdout", 2: "stderr"}
ROOM = 1 << 20
"""Bytes a pipe holds, where the system grants so much."""
MOST_STARTS = 100
"""Starts of the relay of a stream, before it is closed."""


class OutputFile(NamedTuple):
    """A file the job writes an output to, from `begin` on."""

    path: str
    begin: int


class Stream:
    """An output of the job that is passed on.

    Args:
        target: where it belongs.
        path: the file of its copy.
    """

    def __init__(self, target: int, path: Path) -> None:
        self.path = path
        self._target = target
        self._terminal = os.isatty(target)
        self._source, self.end = pty.openpty() if self._terminal else os.pipe()
        if self._terminal:
            # what the job writes is passed on as it is: the terminal itself makes \n a new line
            tty.setraw(self.end)
            self.resize()
        else:
            with suppress(OSError):  # so that a job that prints fast never waits for the relay
                fcntl(self.end, F_SETPIPE_SZ, ROOM)
        self._starts = 0
        self._asking: socket.socket | None = None
        self._relay: subprocess.Popen[bytes] | None = None
        self._start()

    @property
    def pid(self) -> int:
        """Give the number of the relay."""
        return 0 if self._relay is None else self._relay.pid

    def resize(self) -> None:
        """Give the terminal of the job the size of the real one."""
        if self._terminal:
            with suppress(OSError):
                size = ioctl(self._target, termios.TIOCGWINSZ, bytes(8))
                ioctl(self._source, termios.TIOCSWINSZ, size)

    def _start(self) -> None:
        self._starts += 1
        self._asking, replying = socket.socketpair()
        words = [sys.executable, "-I", "-S", relay.__file__, str(replying.fileno()), str(self.path)]
        with replying:
            self._relay = subprocess.Popen(
                words,
                stdin=self._source,
                stdout=self._target,
                stderr=subprocess.DEVNULL,
                pass_fds=[replying.fileno()],
            )

    def started(self) -> None:
        """Let go of the end that is now the job's alone."""
        os.close(self.end)

    def keep_up(self) -> None:
        """Start the relay again where it was killed; close the stream where nobody takes it."""
        if self._relay is None:
            return
        ended = self._relay.poll()
        if ended is None:
            return
        self._relay = None
        if ended in (0, relay.GONE) or self._starts == MOST_STARTS:
            os.close(self._source)
        else:
            self._start()

    def asks(self) -> socket.socket | None:
        """Ask whether all is passed on; a reply, or the end of the relay, makes this readable."""
        if self._relay is None or self._asking is None:
            return None
        try:
            self._asking.send(relay.ASKED)
        except OSError:
            return None
        return self._asking


def open_streams(folder: Path) -> tuple[dict[int, Stream], tuple[OutputFile, ...]]:
    """Look at the outputs of this process: those to pass on, by number, and files to read."""
    streams: dict[int, Stream] = {}
    files: dict[str, OutputFile] = {}
    known: dict[tuple[int, int], int] = {}
    for number, name in OUTPUTS.items():
        try:
            about = os.fstat(number)
        except OSError:  # closed by whoever started us: the job finds it closed, too
            continue
        same = known.setdefault((about.st_dev, about.st_ino), number)
        written = _written(number, about)
        if written is not None:
            files.setdefault(written.path, written)
        elif same != number and same in streams:
            streams[number] = streams[same]
        else:
            streams[number] = Stream(number, folder / f"{name}.log")
    return streams, tuple(files.values())


def _written(number: int, about: os.stat_result) -> OutputFile | None:
    """Give the file an output goes to, where it can be read."""
    if not stat.S_ISREG(about.st_mode):
        return None
    path = Path(f"/proc/self/fd/{number}")
    with suppress(OSError):
        path = path.readlink()
    return OutputFile(str(path), about.st_size) if os.access(path, os.R_OK) else None


def passed_on(streams: Sequence[Stream], seconds: float) -> Iterator[bool]:
    """Wait until all that was printed is passed on; a step each `seconds`, to be ended between."""
    waiting = {asking for stream in streams if (asking := stream.asks()) is not None}
    while waiting:
        ready, _, _ = select.select(list(waiting), [], [], seconds)
        waiting -= set(ready)
        yield not waiting
