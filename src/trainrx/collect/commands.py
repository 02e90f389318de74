"""Run a command with a time limit and a limit of what it may print."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence

import msgspec

MOST_PRINTED = 1 << 24
"""Bytes of the output of a command that are read."""
NOT_FOUND, TIMED_OUT = 127, 124
"""What a shell says of a command that there is not, and `timeout` of one that took too long."""
KILLED_WITHIN = 2.0


class CommandOutput(msgspec.Struct, frozen=True, kw_only=True):
    """What a command printed; `status` as a shell gives it."""

    out: bytes = b""
    error: str = ""
    status: int = 0
    at: float = 0.0

    @property
    def text(self) -> str:
        """Give the output as text."""
        return self.out.decode("utf-8", "replace")


Runner = Callable[[Sequence[str], float], CommandOutput]
"""Runs a command within so many seconds; never raises."""


def run_command(argv: Sequence[str], limit: float) -> CommandOutput:
    """Run a command, without input, in a session of its own: what it starts ends with it."""
    at = time.time()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as error:
        try:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=error,
                start_new_session=True,
                env={**os.environ, "LC_ALL": "C", "NO_COLOR": "1"},
            )
        except (OSError, ValueError) as problem:
            return CommandOutput(error=str(problem), status=NOT_FOUND, at=at)
        status = _ended(process, limit)
        out.seek(0)
        error.seek(0)
        said = error.read(1 << 16).decode("utf-8", "replace")
        return CommandOutput(out=out.read(MOST_PRINTED), error=said, status=status, at=at)


def _ended(process: subprocess.Popen[bytes], limit: float) -> int:
    """Wait for a command and end it when its time is over; 124 says so."""
    try:
        status = process.wait(limit)
    except subprocess.TimeoutExpired:
        _kill(process)
        return TIMED_OUT
    except BaseException:
        _kill(process)
        raise
    return 128 - status if status < 0 else status


def _kill(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except OSError:
        process.kill()
    try:
        process.wait(KILLED_WITHIN)
    except subprocess.TimeoutExpired:
        return
