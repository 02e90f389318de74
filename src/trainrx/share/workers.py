"""Processes that answer, each confined, limited and replaced when it hangs or dies."""

from __future__ import annotations

import multiprocessing
import os
import resource
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import TYPE_CHECKING, TypeVar

import msgspec

from trainrx.model.text import Text
from trainrx.share.spool import PrivateFolder, Spool
from trainrx.share.task import Failure, Task, TaskOutcome, perform

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerContext, ForkServerProcess

PRELOADED = "trainrx.share.warm"
ANSWERS_PER_PROCESS = 2000
"""After so many a process is replaced: whatever it has gathered goes with it."""
STARTED_WITHIN = 180.0
"""Seconds in which the knowledge is loaded, however busy the machine."""
READY = b"+"
"""What a process says when it is up, and when it has taken a question."""
TRIES = 2
"""Processes that are handed a question; the next one where the first does not take it."""
FAILURES: dict[Failure, Text] = {
    "time": Text(
        en="this took too long and was given up: send less, e.g. the log's end",
        zh="耗时过长，已放弃：请少发一些，例如只发日志末尾",
    ),
    "ended": Text(
        en="the process that was to answer was ended, as for too much memory: send less of it, or "
        "send it again",
        zh="负责回答的进程被终止（例如内存不足）：请少发一些，或重新发送",
    ),
    "memory": Text(
        en="this took too much memory and was given up: send less of it",
        zh="占用内存过多，已放弃：请少发一些",
    ),
    "waited": Text(
        en="too many questions were before this one: send it again in a minute",
        zh="排队过多：请一分钟后重新发送",
    ),
    "defect": Text(
        en="this is a defect of trainrx, not of your job: {error}",
        zh="这是 trainrx 的缺陷，与你的任务无关：{error}",
    ),
}

Done = TypeVar("Done")


class BusyError(Exception):
    """So many questions wait that another one would not be answered in time."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What answering may take.

    Attributes:
        processes: that answer at the same time.
        waiting: questions that are taken in at most, those being answered among them.
        patience: seconds a question waits for its turn at most.
        taken: seconds in which a process takes the question it is handed; else it hangs.
        seconds: of a question, from its start on.
        memory: of a process, in bytes of address space.
        folders: of further knowledge, which they may open.
        confined: they open nothing else of this machine.
    """

    processes: int = max(1, os.cpu_count() or 1)
    waiting: int = 512
    patience: float = 600.0
    taken: float = 10.0
    seconds: float = 60.0
    memory: int = 4 << 30
    folders: tuple[str, ...] = ()
    confined: bool = True


class _Question(msgspec.Struct, frozen=True):
    task: Task
    future: Future[TaskOutcome]
    until: float


class Workers:
    """Some processes; `close` ends them.

    Attributes:
        spool: keeps what was sent until it is answered.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._lock = threading.Lock()
        self._open = 0
        self._folder = PrivateFolder()
        self.spool = Spool(self._folder.made("sent"))
        self._queue: SimpleQueue[_Question | None] = SimpleQueue()
        self._processes = [_Process(limits, self._folder) for _ in range(limits.processes)]
        self._threads = [
            threading.Thread(target=self._serve, args=(one,), daemon=True)
            for one in self._processes
        ]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """End all processes; what is asked then is lost."""
        for _ in self._threads:
            self._queue.put(None)
        for process in self._processes:
            process.close()
        for thread in self._threads:
            thread.join(timeout=10)
        self._folder.remove()

    @property
    def waiting(self) -> int:
        """Count the questions that are not answered yet."""
        return self._open

    @property
    def alive(self) -> bool:
        """Tell whether questions are answered."""
        return any(thread.is_alive() for thread in self._threads)

    def submit(self, task: Task) -> Future[TaskOutcome]:
        """Take in a question.

        Raises:
            BusyError: too many wait.
        """
        with self._lock:
            if self._open >= self.limits.waiting:
                raise BusyError
            self._open += 1
        future: Future[TaskOutcome] = Future()
        self._queue.put(_Question(task, future, time.monotonic() + self.limits.patience))
        return future

    def _serve(self, process: _Process) -> None:
        """Answer one question after another in a process."""
        process.start()
        while (question := self._queue.get()) is not None:
            self._settle(question, process)
            del question  # its files are not to wait for the next one
        process.end()

    def _settle(self, question: _Question, process: _Process) -> None:
        task, future = question.task, question.future
        # nobody waits for one that was cancelled
        if future.set_running_or_notify_cancel():
            late = time.monotonic() > question.until
            future.set_result(failed("waited", task) if late else process.answer(task))
        with self._lock:
            self._open -= 1


class _Process:
    """A process that answers, and the pipe to it; another takes its place when it was ended."""

    def __init__(self, limits: Limits, base: PrivateFolder) -> None:
        self._limits, self._base = limits, base
        self._process: ForkServerProcess | None = None
        self._pipe: Connection | None = None
        self._folder = ""
        self._answers = 0
        self._closed = False

    def answer(self, task: Task) -> TaskOutcome:
        """Answer a question within its limits."""
        if self._answers >= ANSWERS_PER_PROCESS:
            self.end()
        for _ in range(TRIES):
            if self.start() and self._taken(task):
                return self._answered(task)
            self.end()
        return failed("ended", task)

    def start(self) -> bool:
        """Have a process; tell whether there is one."""
        if self._process is not None:
            return self._process.is_alive()
        context = multiprocessing.get_context("forkserver")
        # what is loaded before the fork is shared by all processes, and loaded once
        context.set_forkserver_preload([PRELOADED])
        with suppress(OSError, EOFError):
            self._launch(context)
        if self._received(STARTED_WITHIN) is not None:
            return True
        self.end()
        return False

    def close(self) -> None:
        """End the process, and have no other one."""
        self._closed = True
        if self._process is not None:
            self._process.kill()

    def _launch(self, context: ForkServerContext) -> None:
        if self._closed:
            raise EOFError
        self._folder = self._base.made("answers-")
        self._pipe, inner = context.Pipe()
        arguments = (inner, self._folder, self._limits)
        process = context.Process(target=_answer_questions, args=arguments, daemon=True)
        process.start()
        # others may ask for it from here on, and end it
        self._process = process
        if self._closed:
            process.kill()
        inner.close()
        self._answers = 0

    def _taken(self, task: Task) -> bool:
        """Hand over a question; tell whether it is taken."""
        data = msgspec.msgpack.encode(task)
        self._within(self._limits.taken, lambda pipe: pipe.send_bytes(data))
        return self._received(self._limits.taken) is not None

    def _answered(self, task: Task) -> TaskOutcome:
        began = time.monotonic()
        data = self._received(self._limits.seconds)
        self._answers += 1
        if data is not None:
            return msgspec.msgpack.decode(data, type=TaskOutcome)
        self.end()
        took = time.monotonic() - began
        return failed("time" if took >= self._limits.seconds else "ended", task)

    def _received(self, seconds: float) -> bytes | None:
        """Receive a message; None where none comes whole in time."""
        return self._within(seconds, Connection.recv_bytes)

    def _within(self, seconds: float, work: Callable[[Connection], Done]) -> Done | None:
        """Use the pipe; a process that takes longer is killed, stopped or not, which ends it."""
        process, pipe = self._process, self._pipe
        if process is None or pipe is None:
            return None
        watch = threading.Timer(seconds, process.kill)
        watch.start()
        try:
            return work(pipe)
        except (OSError, EOFError):
            return None
        finally:
            watch.cancel()

    def end(self) -> None:
        """End the process, and what it wrote goes with it."""
        process, pipe, folder = self._process, self._pipe, self._folder
        self._process, self._pipe, self._folder = None, None, ""
        if process is not None:
            process.kill()
            process.join(timeout=10)
        if pipe is not None:
            pipe.close()
        if folder:
            shutil.rmtree(folder, ignore_errors=True)


def failed(failure: Failure, task: Task, error: str = "") -> TaskOutcome:
    """Say that a question was not answered, and what to do."""
    said = FAILURES[failure].in_(task.lang).format(error=error)
    return TaskOutcome(error=said, failure=failure)


def _answer_questions(pipe: Connection, folder: str, limits: Limits) -> None:
    """Answer what comes in until nobody is there."""
    from trainrx.share.confine import confine

    # whoever started the service ends it; this process ends with its pipe
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tempfile.tempdir = folder
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory, limits.memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if limits.confined:
        confine([folder, *limits.folders])
    with suppress(EOFError, BrokenPipeError):
        pipe.send_bytes(READY)
        while True:
            task = msgspec.msgpack.decode(pipe.recv_bytes(), type=Task)
            pipe.send_bytes(READY)
            pipe.send_bytes(msgspec.msgpack.encode(_outcome(task)))


def _outcome(task: Task) -> TaskOutcome:
    """Answer a question; what is not foreseen is a defect, and the process goes on."""
    try:
        return perform(task)
    except MemoryError:
        return failed("memory", task)
    except Exception as error:  # noqa: BLE001 - whatever it is, others wait for their answers
        return failed("defect", task, type(error).__name__)
