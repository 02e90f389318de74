"""The HTTP interface: one answer a request, worked out in processes that can be ended."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hmac
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import get_args

import msgspec
from fastapi import FastAPI, HTTPException, Request, Response
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.middleware.trustedhost import TrustedHostMiddleware

from trainrx.model import __version__
from trainrx.model.text import Lang
from trainrx.share.serve.body import Asked, RepliedBody, asked
from trainrx.share.serve.page import add_page
from trainrx.share.sessions import FORGOTTEN, TaskSessions
from trainrx.share.task import Kind, Task, TaskOutcome
from trainrx.share.workers import BusyError, Limits, Workers, outcome_of

TOKEN_HEADER = "Trainrx-Token"  # noqa: S105 - the name of a header
BOTH_FORMS = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": Asked.model_json_schema()},
            "multipart/form-data": {"schema": {"type": "object"}},
        },
    }
}
Handler = Callable[[Request], Awaitable[Response]]


class ServiceSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How the service is run.

    Attributes:
        secret: what `Authorization: Bearer` must hold; "" for none.
        hosts: names under which it may be called; others are refused (DNS rebinding).
        largest: bytes of a request.
        patience: seconds in which a request must have come in.
        lang: of the answer where a request names none.
        kb: folders of further knowledge; rules: of further rules.
    """

    limits: Limits = Limits()
    secret: str = ""
    hosts: tuple[str, ...] = ("localhost", "127.0.0.1", "[::1]")
    largest: int = 64 << 20
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

    async def answer(self, task: Task) -> TaskOutcome:
        """Have a question answered.

        Raises:
            HTTPException: the service is not up, or too much is asked of it.
        """
        if self.workers is None:
            raise HTTPException(503, "the service is starting")
        started, settings = time.perf_counter(), self.settings
        try:
            known = msgspec.structs.replace(task, kb=settings.kb, rules=settings.rules)
            future = self.workers.submit(known)
        except BusyError:
            self.measures.answers.labels(task.kind, "busy").inc()
            raise HTTPException(
                503, "too many requests wait: try again", headers={"Retry-After": "5"}
            ) from None
        # what came of it is looked at whether the caller is still there or not
        await asyncio.wait([asyncio.wrap_future(future)])
        try:
            outcome = outcome_of(future)
        except Exception as error:
            self.measures.answers.labels(task.kind, "failed").inc()
            said = f"this is a defect of trainrx, not of your job: {type(error).__name__}"
            raise HTTPException(500, said) from error
        self.measures.answers.labels(task.kind, "refused" if outcome.error else "answered").inc()
        self.measures.seconds.labels(task.kind).observe(time.perf_counter() - started)
        return outcome


def make_app(settings: ServiceSettings) -> FastAPI:
    """Make the service."""
    service = HttpService(settings)

    @asynccontextmanager
    async def run(_app: FastAPI) -> AsyncIterator[None]:
        service.workers = Workers(settings.limits)
        yield
        service.workers.close()

    app = FastAPI(title="trainrx", version=__version__, lifespan=run, docs_url=None, redoc_url=None)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(settings.hosts))
    app.middleware("http")(_guard(settings))
    for kind in get_args(Kind):
        _add(app, service, kind)
    _add_answer(app, service)
    _add_health(app, service)
    add_page(app, service.answer, service.sessions, lang=settings.lang, largest=settings.largest)
    return app


def _add(app: FastAPI, service: HttpService, kind: Kind) -> None:
    @app.post(f"/v1/{kind}", openapi_extra=BOTH_FORMS, name=kind)
    async def ask(request: Request) -> Response:
        body, settings = await asked(request), service.settings
        body.lang = body.lang or settings.lang
        task = body.task(kind)
        outcome = await service.answer(task)
        token = service.sessions.keep(task) if kind in ("diagnose", "paste") else ""
        return _response(outcome, token)


def _add_answer(app: FastAPI, service: HttpService) -> None:
    @app.post("/v1/answer")
    async def answer(body: RepliedBody) -> Response:
        """Answer questions of an answer that was given before."""
        task = service.sessions.answered(body.token, body.answers)
        if task is None:
            raise HTTPException(404, FORGOTTEN)
        return _response(await service.answer(task), body.token)


def _add_health(app: FastAPI, service: HttpService) -> None:
    @app.get("/healthz")
    async def health() -> dict[str, object]:
        """Say whether questions are answered."""
        if service.workers is None:
            raise HTTPException(503, "the service is starting")
        if not service.workers.alive:
            raise HTTPException(
                503, "the processes that answer are gone: the next request starts them"
            )
        return {"status": "ok", "version": __version__, "waiting": service.workers.waiting}

    @app.get("/metrics")
    async def metrics() -> Response:
        """Give what is counted, as Prometheus reads it."""
        service.measures.waiting.set(service.workers.waiting if service.workers else 0)
        return Response(generate_latest(service.measures.registry), media_type="text/plain")


def _response(outcome: TaskOutcome, token: str) -> Response:
    if outcome.error:
        raise HTTPException(422, outcome.error)
    headers = {TOKEN_HEADER: token} if token else {}
    return Response(outcome.json, media_type="application/json", headers=headers)


def _guard(settings: ServiceSettings) -> Callable[[Request, Handler], Awaitable[Response]]:
    """Refuse whom the service is not for, and what is too large or too slow to come in."""

    async def guarded(request: Request, handle: Handler) -> Response:
        if settings.secret and not _is_known(request, settings.secret):
            return _refused(401, "expected `Authorization: Bearer` with the token of this service")
        length = request.headers.get("content-length", "")
        if request.method == "POST" and not length.isdecimal():
            return _refused(411, "expected Content-Length")
        if length.isdecimal() and int(length) > settings.largest:
            return _refused(
                413, f"this holds more than {settings.largest} bytes: send the log's end"
            )
        try:
            await asyncio.wait_for(request.body(), settings.patience)
        except asyncio.TimeoutError:
            return _refused(408, f"it did not come in within {settings.patience:g} s")
        return await handle(request)

    return guarded


def _is_known(request: Request, secret: str) -> bool:
    """Tell whether a caller shows the token: as a bearer, or as the password a browser asks for."""
    if request.url.path == "/healthz":
        return True
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "basic":
        with suppress(binascii.Error, UnicodeDecodeError):
            given = base64.b64decode(given, validate=True).decode().partition(":")[2]
    return hmac.compare_digest(given.encode(), secret.encode())


def _refused(status: int, detail: str) -> Response:
    body = msgspec.json.encode({"detail": detail})
    # a browser asks for the password then
    headers = {"WWW-Authenticate": 'Basic realm="trainrx"'} if status == 401 else {}
    return Response(body, status_code=status, media_type="application/json", headers=headers)
