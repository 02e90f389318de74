"""The HTTP interface: one answer a request, worked out in processes that can be ended."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import get_args

from fastapi import FastAPI, HTTPException, Request, Response
from prometheus_client import generate_latest
from starlette.middleware.trustedhost import TrustedHostMiddleware

from trainrx.model import __version__
from trainrx.share.serve.body import AskedBody, RepliedBody, asked
from trainrx.share.serve.guard import RequestGuard
from trainrx.share.serve.page import add_page
from trainrx.share.serve.service import HttpService, ServiceSettings
from trainrx.share.sessions import FORGOTTEN
from trainrx.share.task import Kind, TaskOutcome
from trainrx.share.workers import Workers

TOKEN_HEADER = "Trainrx-Token"  # noqa: S105 - the name of a header
BOTH_FORMS = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": AskedBody.model_json_schema()},
            "multipart/form-data": {"schema": {"type": "object"}},
        },
    }
}


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
    app.add_middleware(RequestGuard, settings=settings)
    for kind in get_args(Kind):
        _add(app, service, kind)
    _add_answer(app, service)
    _add_health(app, service)
    add_page(app, service)
    return app


def _add(app: FastAPI, service: HttpService, kind: Kind) -> None:
    @app.post(f"/v1/{kind}", openapi_extra=BOTH_FORMS, name=kind)
    async def ask(request: Request) -> Response:
        task = await asked(request, service.spool, kind, service.settings.lang)
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
