"""What is being done: the work says it here, and knows of nobody who may show it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, Protocol

Activity = Literal[
    "reading",
    "searching",
    "weighing",
    "predicting",
    "proving",
    "checking",
    "counting",
    "collecting",
    "starting",
    "answering",
]
"""Logs are read and searched for dumps, causes weighed, memory predicted, plans proved, files
linted, the model class run to count what it holds, evidence of a live job collected, a job
started on the CPU, the jobs of a fleet answered."""


class Observer(Protocol):
    """Who follows the work. It is called between its steps, so it must be quick."""

    def begin(self, activity: Activity, total: int) -> None:
        """Take note of what is done now; a total of 0 is not known."""

    def advance(self, by: int) -> None:
        """Take note that so much more of it is done."""


_observer: ContextVar[Observer | None] = ContextVar("observer", default=None)


@contextmanager
def observed(observer: Observer | None) -> Iterator[None]:
    """Let somebody follow what is done within, or nobody."""
    before = _observer.set(observer)
    try:
        yield
    finally:
        _observer.reset(before)


def begin(activity: Activity, total: int = 0) -> None:
    """Say what is done from here on, and how much of it there is: bytes, files, rounds, plans."""
    observer = _observer.get()
    if observer is not None:
        observer.begin(activity, total)


def advance(by: int = 1) -> None:
    """Say that so much more is done; 0 says that the work goes on."""
    observer = _observer.get()
    if observer is not None:
        observer.advance(by)
