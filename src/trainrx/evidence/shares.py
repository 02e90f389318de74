"""Inputs shared out among the cores: forked children read theirs and send what they found."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from trainrx.model.job import Input
from trainrx.model.progress import observed

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkProcess

R = TypeVar("R")
Work = Callable[[Input], R]
MOST = 8
"""Processes at once: more read no faster from one disk."""
WORTH_SHARING = 8 << 20
"""Bytes from which on other processes are worth their start."""


def shared_out(inputs: Sequence[Input], work: Work[R]) -> list[R]:
    """Give what is worked out of each input, in order; what a child leaves undone is done here.

    Args:
        inputs: what is shared out, if there are several and they are large.
        work: what is done with each; what it gives can be sent between processes.
    """
    count = min(_cores(), MOST, len(inputs))
    if count < 2 or sum(map(_size, inputs)) < WORTH_SHARING or not _may_fork():
        return [work(item) for item in inputs]
    shares = [inputs[number::count] for number in range(count)]
    children = [_Child(share, work) for share in shares[1:]]
    answers = [[work(item) for item in shares[0]]]
    answers += [child.answer() for child in children]
    return list(_in_turn(list(map(iter, answers)), len(inputs)))


def _in_turn(given: Sequence[Iterator[R]], count: int) -> Iterator[R]:
    for number in range(count):
        yield next(given[number % len(given)])


class _Child(Generic[R]):
    """A process that works on one share."""

    def __init__(self, share: Sequence[Input], work: Work[R]) -> None:
        from multiprocessing import get_context

        self._share, self._work = share, work
        context = get_context("fork")
        self._pipe, sending = context.Pipe(duplex=False)
        # the fork holds what is worked on and with: nothing of it is sent there
        self._process: ForkProcess = context.Process(
            target=_send, args=(sending, share, work), daemon=True
        )
        self._process.start()
        sending.close()

    def answer(self) -> list[R]:
        """Give what the child found; it is worked out here where the child ended without."""
        try:
            found: list[R] = self._pipe.recv()
        except (EOFError, OSError):
            found = [self._work(item) for item in self._share]
        self._process.join()
        self._pipe.close()
        return found


def _send(pipe: Connection, share: Sequence[Input], work: Work[R]) -> None:
    with observed(None):
        pipe.send([work(item) for item in share])


def _size(item: Input) -> int:
    try:
        return len(item.text or "") if item.path is None else item.path.stat().st_size
    except OSError:
        return 0


def _may_fork() -> bool:
    """Tell whether a fork is safe here: of one thread, and not within a pool of processes."""
    from multiprocessing import current_process

    is_alone = threading.active_count() == 1 and not current_process().daemon
    return is_alone and hasattr(os, "fork")


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
