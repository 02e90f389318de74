"""The page: a form that works without scripts, and a script that spares the round trips."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import msgspec
from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.staticfiles import StaticFiles
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from pydantic import BaseModel, ConfigDict, Field

from trainrx.knowledge.load import load
from trainrx.model.fixing import TermChange
from trainrx.model.text import Lang
from trainrx.render.estimate_bars import legend
from trainrx.share.serve.body import RepliedBody, asked
from trainrx.share.serve.page.words import WORDS
from trainrx.share.serve.service import HttpService
from trainrx.share.sessions import FORGOTTEN
from trainrx.share.task import TaskOutcome

HERE = Path(__file__).parent
PLATFORM = "github"
"""Whose Markdown the first screen comes in; it is made HTML of here."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class TokenBody(BaseModel):
    """Which answer something is asked of."""

    model_config = ConfigDict(extra="forbid")
    token: Annotated[str, Field(max_length=100)]


class _FixedTerms(msgspec.Struct, frozen=True, kw_only=True):
    terms: tuple[TermChange, ...] = ()


class _Fixed(msgspec.Struct, frozen=True, kw_only=True):
    """What the page shows of an answer of `fix`."""

    chosen: int = 0
    proposals: tuple[_FixedTerms, ...] = ()


_TEMPLATES = Environment(
    loader=FileSystemLoader(HERE / "templates"), autoescape=True, undefined=StrictUndefined
)
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")


def add_page(app: FastAPI, service: HttpService) -> None:
    """Serve the page and what it is made of."""
    settings, sessions, answer = service.settings, service.sessions, service.answer
    look = _look(settings.largest)
    app.mount("/static", StaticFiles(directory=HERE / "static"), name="static")

    @app.get("/", include_in_schema=False)
    async def page(request: Request) -> Response:
        return look(_lang(request, settings.lang), None)

    @app.post("/", include_in_schema=False)
    async def ask(request: Request) -> Response:
        lang = _lang(request, settings.lang)
        task = await asked(request, service.spool, "diagnose", lang)
        task = msgspec.structs.replace(task, platform=PLATFORM)
        outcome = await answer(task)
        if "application/json" in request.headers.get("accept", ""):
            return _parts(outcome, sessions.keep(task))
        return look(task.lang, outcome)

    @app.post("/reply", include_in_schema=False)
    async def reply(body: RepliedBody) -> Response:
        task = sessions.answered(body.token, body.answers)
        if task is None:
            raise HTTPException(404, FORGOTTEN)
        return _parts(await answer(task), body.token)

    @app.post("/patch", include_in_schema=False)
    async def patch(body: TokenBody) -> Response:
        task = sessions.answered(body.token, {})
        if task is None:
            raise HTTPException(404, FORGOTTEN)
        return _fixed(
            await answer(msgspec.structs.replace(task, kind="fix", platform="")), task.lang
        )


def _look(largest: int) -> Callable[[Lang, TaskOutcome | None], Response]:
    """Give what makes the page: empty, or with what came of a question."""
    cards = tuple(dict.fromkeys(gpu.id for gpu in load(launches=True).gpus))

    def look(lang: Lang, outcome: TaskOutcome | None) -> Response:
        text = _TEMPLATES.get_template("page.html").render(
            lang=lang,
            other="zh" if lang == "en" else "en",
            words={name: text.in_(lang) for name, text in WORDS.items()},
            answer=fragment(outcome.message) if outcome is not None else "",
            error=outcome.error if outcome is not None else "",
            cards=cards,
            largest=largest,
        )
        status = 422 if outcome is not None and outcome.error else 200
        return Response(text, status_code=status, media_type="text/html", headers=HEADERS)

    return look


def _fixed(outcome: TaskOutcome, lang: Lang) -> Response:
    """Give the patch, what is said above it, and the memory before and after by term."""
    if outcome.error:
        raise HTTPException(422, outcome.error)
    why, begins, diff = outcome.patch.partition("diff --git ")
    found = msgspec.json.decode(outcome.json, type=_Fixed)
    terms = found.proposals[found.chosen - 1].terms if found.chosen else ()
    said = {
        "diff": begins + diff,
        "why": "\n".join(line.removeprefix("#").removeprefix(" ") for line in why.splitlines()),
        "terms": [
            {
                "name": term.name,
                "label": legend(term.name, lang),
                "before": term.before_gib,
                "after": term.after_gib,
            }
            for term in terms
        ],
    }
    return Response(msgspec.json.encode(said), media_type="application/json", headers=HEADERS)


def _parts(outcome: TaskOutcome, token: str) -> Response:
    """Give the first screen as HTML, the answer itself, and the token it goes on by."""
    if outcome.error:
        raise HTTPException(422, outcome.error)
    said = {"html": fragment(outcome.message), "token": token, "answer": msgspec.Raw(outcome.json)}
    return Response(msgspec.json.encode(said), media_type="application/json", headers=HEADERS)


def fragment(markdown: str) -> str:
    """Make HTML of a message; what it quotes stays text."""
    return str(_MARKDOWN.render(markdown))


def _lang(request: Request, default: Lang) -> Lang:
    """Give the language: that of the address, else of the browser, else of the service."""
    named = request.query_params.get("lang", "")
    wanted = named or request.headers.get("accept-language", "")[:2].lower()
    return "zh" if wanted == "zh" else "en" if wanted == "en" else default
