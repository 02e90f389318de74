"""What answers requests: the workers, what they are asked and what is counted."""

from __future__ import annotations

import asyncio
import time

import msgspec
from fastapi import HTTPException
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from trainrx.model.text import Lang
from trainrx.share.sessions import TaskSessions
from trainrx.share.spool import Spool
from trainrx.share.task import Failure, Task, TaskOutcome
from trainrx.share.workers import BusyError, Limits, Workers

STATUSES: dict[Failure, int] = {
    "time": 504,
    "ended": 503,
    "waited": 503,
    "memory": 413,
    "defect": 500,
}
LATER = {"Retry-After": "5"}


class ServiceSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How the service is run.

    Attributes:
        secret: what `Authorization: Bearer` must hold; "" for none.
        hosts: names under which it may be called; others are refused (DNS rebinding).
        largest: bytes of a request.
        arriving: bytes of all requests that are not answered yet.
        patience: seconds in which a request must have come in.
        lang: of the answer where a request names none.
        kb: folders of further knowledge; rules: of further rules.
    """

    limits: Limits = Limits()
    secret: str = ""
    hosts: tuple[str, ...] = ("localhost", "127.0.0.1", "[::1]")
    largest: int = 64 << 20
    arriving: int = 320 << 20
    patience: float = 60.0
    lang: Lang = "en"
    kb: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()


class Measures:
    """What is counted: never a text, a host or a job."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.answers = Counter(
            "trainrx_answers",
            "Requests by command and what came of them.",
            ["command", "outcome"],
            registry=self.registry,
        )
        self.seconds = Histogram(
            "trainrx_answer_seconds",
            "Time to answer, waiting included.",
            ["command"],
            registry=self.registry,
            buckets=(0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60),
        )
        self.waiting = Gauge(
            "trainrx_waiting", "Requests not answered yet.", registry=self.registry
        )


class HttpService:
    """The workers, what they are asked and what is counted."""

    def __init__(self, settings: ServiceSettings) -> None:
        self.settings = settings
        self.sessions = TaskSessions()
        self.measures = Measures()
        self.workers: Workers | None = None

    @property
    def spool(self) -> Spool:
        """Give where the inputs lie until they are forgotten.

        Raises:
            HTTPException: the service is not up.
        """
        return self._up().spool

    async def answer(self, task: Task) -> TaskOutcome:
        """Have a question answered.

        Raises:
            HTTPException: it is not, which has nothing to do with the question.
        """
        started, settings = time.perf_counter(), self.settings
        known = msgspec.structs.replace(task, kb=settings.kb, rules=settings.rules)
        try:
            future = self._up().submit(known)
        except BusyError:
            self._count(task, "busy")
            raise HTTPException(503, "too many requests wait: try again", headers=LATER) from None
        outcome = await asyncio.wrap_future(future)
        if outcome.failure:
            self._count(task, "failed")
            status = STATUSES[outcome.failure]
            raise HTTPException(status, outcome.error, headers=LATER if status == 503 else None)
        self._count(task, "refused" if outcome.error else "answered")
        self.measures.seconds.labels(task.kind).observe(time.perf_counter() - started)
        return outcome

    def _up(self) -> Workers:
        if self.workers is None:
            raise HTTPException(503, "the service is starting", headers=LATER)
        return self.workers

    def _count(self, task: Task, outcome: str) -> None:
        self.measures.answers.labels(task.kind, outcome).inc()
