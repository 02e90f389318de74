"""What was asked, kept for a while in memory: who answers a question need not send it again."""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping

import msgspec

from trainrx.share.task import Task

FORGOTTEN = "this token is not known any more: send the job again"


class TaskSessions:
    """Questions by token, the oldest forgotten first; nothing is written down.

    Args:
        size: bytes of inputs that are kept in all.
        seconds: a question is kept after it was last asked.
        now: a clock that only goes forward.
    """

    def __init__(
        self,
        size: int = 256 << 20,
        seconds: float = 3600.0,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._size, self._seconds, self._now = size, seconds, now
        self._held: OrderedDict[str, tuple[float, Task]] = OrderedDict()

    def keep(self, task: Task, token: str = "") -> str:
        """Keep a question, in the place of the one with this token; give its token."""
        token = token or secrets.token_urlsafe(16)
        self._held[token] = (self._now(), task)
        self._held.move_to_end(token)
        self._forget()
        return token

    def answered(self, token: str, answers: Mapping[str, str]) -> Task | None:
        """Give a question with what is replied to it now and before; None where it is forgotten."""
        self._forget()
        if token not in self._held:
            return None
        task = self._held[token][1]
        task = msgspec.structs.replace(task, answers={**task.answers, **answers})
        self._held[token] = (self._now(), task)
        self._held.move_to_end(token)
        return task

    def _forget(self) -> None:
        oldest = self._now() - self._seconds
        while self._held:
            at, _ = next(iter(self._held.values()))
            if at > oldest and sum(map(_size, self._held.values())) <= self._size:
                return
            self._held.popitem(last=False)


def _size(held: tuple[float, Task]) -> int:
    return sum(len(file.data) for file in held[1].files)
