"""What was asked, kept for a while: who answers a question need not send it again."""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping

import msgspec

from trainrx.share.task import Task

FORGOTTEN = "this token is not known any more: send the job again"

LEAST = 4096
"""Bytes a question takes whatever it says."""


class TaskSessions:
    """Questions by token, the oldest forgotten first.

    Args:
        size: bytes of inputs and replies that are kept in all.
        seconds: a question is kept after it was last asked.
        now: a clock that only goes forward.
    """

    def __init__(
        self,
        size: int = 96 << 20,
        seconds: float = 3600.0,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._size, self._seconds, self._now = size, seconds, now
        self._kept: OrderedDict[str, tuple[float, Task]] = OrderedDict()
        self._bytes = 0

    def keep(self, task: Task, token: str = "") -> str:
        """Keep a question, in the place of the one with this token; give its token."""
        token = token or secrets.token_urlsafe(16)
        self._drop(token)
        self._kept[token] = (self._now(), task)
        self._bytes += _size(task)
        self._forget()
        return token

    def answered(self, token: str, answers: Mapping[str, str]) -> Task | None:
        """Give a question with what is replied to it now and before; None where it is forgotten."""
        self._forget()
        if token not in self._kept:
            return None
        task = self._kept[token][1]
        task = msgspec.structs.replace(task, answers={**task.answers, **answers})
        self.keep(task, token)
        return task

    def _forget(self) -> None:
        oldest = self._now() - self._seconds
        while self._kept:
            token, (at, _) = next(iter(self._kept.items()))
            if at > oldest and self._bytes <= self._size:
                return
            self._drop(token)

    def _drop(self, token: str) -> None:
        if token in self._kept:
            self._bytes -= _size(self._kept.pop(token)[1])


def _size(task: Task) -> int:
    files = sum(len(file.data) + file.size for file in task.files)
    return LEAST + files + len(task.note) + sum(map(len, task.answers.values()))
