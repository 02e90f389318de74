"""Judge many files on several cores: the process forks, each child answers for its share.

A process pool would import more than a script takes to be judged, and start each child anew.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar

from trainrx.linter.files import LEAST_FOR_TWO

F = TypeVar("F")
MOST = 8
_PIECE = 1 << 16


def shared_out(files: Sequence[F], judge: Callable[[Sequence[F]], bytes]) -> list[bytes]:
    """Give what `judge` says of each share of the files, in any order.

    A share whose child did not answer is judged here.
    """
    count = min(_cores(), MOST, len(files) // (LEAST_FOR_TWO // 2))
    if count < 2 or len(files) < LEAST_FOR_TWO or not hasattr(os, "fork"):
        return [judge(files)]
    shares = [files[number::count] for number in range(count)]
    children = [_child(share, judge) for share in shares[1:]]
    answers = [judge(shares[0])]
    for share, (pid, pipe) in zip(shares[1:], children, strict=True):
        with os.fdopen(pipe, "rb") as stream:
            said = stream.read()
        _, status = os.waitpid(pid, 0)
        answers.append(said if status == 0 and said else judge(share))
    return answers


def _child(share: Sequence[F], judge: Callable[[Sequence[F]], bytes]) -> tuple[int, int]:
    """Start a child that writes its answer into a pipe; give its number and the pipe."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return pid, reading
    status = 1
    # whatever happens in the child, it must not go on as a second parent
    with suppress(BaseException):
        os.close(reading)
        said = memoryview(judge(share))
        while said:
            said = said[os.write(writing, said[:_PIECE]) :]
        status = 0
    os._exit(status)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
