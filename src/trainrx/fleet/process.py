"""A process of its own that answers jobs: what one takes too much of ends it, and nothing else.

An engine may be shared with the work of others, so its own processes get no limits and are never
ended. Run as a module, this is that process.
"""

from __future__ import annotations

import os
import resource
import select
import signal
import struct
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

import msgspec

from trainrx.fleet.record import FleetJob, JobAnswer, JobLimits, JobOutcome, answer_of

STARTED_WITHIN = 180.0
"""Seconds in which the knowledge is loaded, however busy the machine."""
LENGTH = struct.Struct(">I")
LAST = 4096
QUOTED = 200
"""Bytes of what a process printed before its end that are looked at, characters that are shown."""


class StartError(RuntimeError):
    """The process that answers does not come up."""


class AnswerProcess:
    """Answers one job after another; started when there is one, and again after it was ended.

    Args:
        limits: what a job may take.
    """

    def __init__(self, limits: JobLimits) -> None:
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        self._errors = -1

    def answer(self, job: FleetJob) -> JobAnswer:
        """Answer a job within its limits.

        Raises:
            StartError: no process comes up.
        """
        process = self._process or self._start()
        began = time.monotonic()
        try:
            _write(process.stdin, msgspec.msgpack.encode(job))
            data = _read(process, began + self._limits.seconds)
        except TimeoutError:
            self.close()
            return _given_up(job, "timed-out", f"took more than {self._limits.seconds:g} s", began)
        except EOFError:
            return _given_up(job, "killed", self._end(), began)
        answer = msgspec.msgpack.decode(data, type=JobAnswer)
        if answer.outcome == "killed":  # what is left of its memory is not to be counted on
            self.close()
        return answer

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._end()

    def _start(self) -> subprocess.Popen[bytes]:
        self._errors, name = tempfile.mkstemp(prefix="trainrx-fleet-")
        Path(name).unlink()
        self._process = subprocess.Popen(
            (sys.executable, "-m", "trainrx.fleet.process"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        try:
            _write(self._process.stdin, msgspec.msgpack.encode(self._limits))
            _read(self._process, time.monotonic() + STARTED_WITHIN)
        except (TimeoutError, EOFError) as error:
            self._process.kill()
            raise StartError(f"the process that answers did not come up: {self._end()}") from error
        return self._process

    def _end(self) -> str:
        """Take leave of a process that ended or is about to; say how it did."""
        process, errors = self._process, self._errors
        self._process, self._errors = None, -1
        if process is None:
            return ""
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):  # what was to be sent is of no use now
                    pipe.close()
        said = _ending(process.wait())
        data = os.pread(errors, LAST, max(0, os.fstat(errors).st_size - LAST))
        os.close(errors)
        lines = data.decode("utf-8", "replace").split("\n")
        last = next((line for line in reversed(lines) if line.strip()), "")
        return f"{said} ({last.strip()[:QUOTED]})" if last else said


def _ending(status: int) -> str:
    if status >= 0:
        return f"its process ended with status {status}"
    try:
        return f"its process was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"its process was ended by signal {-status}"


def _given_up(job: FleetJob, outcome: JobOutcome, said: str, began: float) -> JobAnswer:
    took = round(time.monotonic() - began, 3)
    return msgspec.structs.replace(answer_of(job, outcome, said), seconds=took)


def _write(pipe: IO[bytes] | None, data: bytes) -> None:
    """Send a message.

    Raises:
        EOFError: nobody reads it any more.
    """
    if pipe is None:
        raise EOFError
    try:
        pipe.write(LENGTH.pack(len(data)))
        pipe.write(data)
        pipe.flush()
    except OSError as error:
        raise EOFError from error


def _read(process: subprocess.Popen[bytes], until: float) -> bytes:
    """Receive a message.

    Raises:
        TimeoutError: it does not come in time.
        EOFError: the process has ended.
    """
    head = _received(process, LENGTH.size, until)
    return _received(process, LENGTH.unpack(head)[0], until)


def _received(process: subprocess.Popen[bytes], size: int, until: float) -> bytes:
    if process.stdout is None:
        raise EOFError
    source = process.stdout.fileno()
    data = bytearray()
    while len(data) < size:
        ready, _, _ = select.select([source], [], [], max(0.0, until - time.monotonic()))
        if not ready:
            raise TimeoutError
        piece = os.read(source, size - len(data))
        if not piece:
            raise EOFError
        data += piece
    return bytes(data)


def _serve(source: IO[bytes], target: IO[bytes]) -> None:
    """Answer the jobs that come in until nobody is there."""
    from trainrx.fleet.work import examine, warm

    limits = msgspec.msgpack.decode(_next(source), type=JobLimits)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory, limits.memory))
    warm(limits)
    _write(target, b"")
    while data := _next(source):
        job = msgspec.msgpack.decode(data, type=FleetJob)
        _write(target, msgspec.msgpack.encode(examine(job, limits)))


def _next(source: IO[bytes]) -> bytes:
    """Give the next message; b"" where the other side has gone."""
    head = source.read(LENGTH.size)
    return source.read(LENGTH.unpack(head)[0]) if len(head) == LENGTH.size else b""


def main() -> None:
    """Serve on standard input and output; what is printed by mistake goes to standard error."""
    target = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        _serve(sys.stdin.buffer, target)
    except (EOFError, KeyboardInterrupt):
        return


if __name__ == "__main__":
    main()
