"""Processes that answer, each confined, limited and replaced when it hangs or dies."""

from __future__ import annotations

import multiprocessing
import os
import resource
import tempfile
from concurrent.futures import Future
from concurrent.futures import TimeoutError as WaitedTooLongError
from concurrent.futures.process import BrokenProcessPool

import msgspec
from pebble import ProcessExpired, ProcessPool

from trainrx.share.task import Task, TaskOutcome

PRELOADED = "trainrx.share.warm"
ANSWERS_PER_PROCESS = 2000
"""After so many a process is replaced: whatever it has gathered goes with it."""


class BusyError(Exception):
    """So many questions wait that another one would not be answered in time."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What answering may take.

    Attributes:
        processes: that answer at the same time.
        waiting: questions that are taken in at most, those being answered among them.
        seconds: of a question, from its start on.
        memory: of a process, in bytes of address space.
        folders: of further knowledge, which they may open.
        confined: they open nothing else of this machine.
    """

    processes: int = max(1, os.cpu_count() or 1)
    waiting: int = 512
    seconds: float = 60.0
    memory: int = 4 << 30
    folders: tuple[str, ...] = ()
    confined: bool = True


class Workers:
    """A pool of processes; `close` ends them."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._open = 0
        self._folder = tempfile.TemporaryDirectory(prefix="trainrx-service-")
        self._pool = self._started()

    def _started(self) -> ProcessPool:
        context = multiprocessing.get_context("forkserver")
        # what is loaded before the fork is shared by all processes, and loaded once
        context.set_forkserver_preload([PRELOADED])
        return ProcessPool(
            max_workers=self.limits.processes,
            max_tasks=ANSWERS_PER_PROCESS,
            initializer=_begin,
            initargs=(self._folder.name, self.limits),
            context=context,
        )

    def close(self) -> None:
        """End all processes; what is asked then is lost."""
        self._pool.stop()  # type: ignore[no-untyped-call]
        self._pool.join(timeout=10)
        self._folder.cleanup()

    @property
    def waiting(self) -> int:
        """Count the questions that are not answered yet."""
        return self._open

    @property
    def alive(self) -> bool:
        """Tell whether questions can be answered; a pool that broke is replaced by `submit`."""
        return self._pool.active

    def submit(self, task: Task) -> Future[bytes]:
        """Take in a question; `outcome_of` says what came of it.

        Raises:
            BusyError: too many wait.
        """
        if self._open >= self.limits.waiting:
            raise BusyError
        if not self.alive:
            self._pool.stop()  # type: ignore[no-untyped-call]
            self._pool = self._started()
        self._open += 1
        future: Future[bytes] = self._pool.schedule(
            _answered, args=(msgspec.msgpack.encode(task),), timeout=self.limits.seconds
        )
        future.add_done_callback(self._done)
        return future

    def _done(self, _future: Future[bytes]) -> None:
        self._open -= 1


def outcome_of(future: Future[bytes]) -> TaskOutcome:
    """Give what came of a question that is done; one that was given up is an error, too."""
    try:
        return msgspec.msgpack.decode(future.result(), type=TaskOutcome)
    except WaitedTooLongError:
        return TaskOutcome(
            error="this took too long and was given up: send less, e.g. the log's end"
        )
    except (ProcessExpired, MemoryError):
        return TaskOutcome(error="this took too much memory and was given up: send less of it")
    except BrokenProcessPool:
        # it was killed before it began: by hand, or for the memory of others
        return TaskOutcome(error="the process that was to answer was ended: send it again")


def _begin(folder: str, limits: Limits) -> None:
    from trainrx.share.confine import confine

    tempfile.tempdir = folder
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory, limits.memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if limits.confined:
        confine([folder, *limits.folders])


def _answered(task: bytes) -> bytes:
    from trainrx.share.task import perform

    return msgspec.msgpack.encode(perform(msgspec.msgpack.decode(task, type=Task)))
