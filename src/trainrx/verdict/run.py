"""`diagnose()`: what a job left and what its launch foretells, joined in one answer."""

from __future__ import annotations

import msgspec

from trainrx.diagnosis.answer import answer
from trainrx.diagnosis.pipeline import conclude
from trainrx.knowledge.load import load
from trainrx.launch.given import gather
from trainrx.launch.reply_values import ReplyError
from trainrx.launch.request import Request
from trainrx.model.result import Diagnosis
from trainrx.reason.stage import EngineName


def diagnose(
    request: Request, *, top: int | None = None, engine: EngineName = "durable"
) -> Diagnosis:
    """Say why a job failed, or will fail, and what to change; `top` causes, None is all."""
    knowledge = load(request.kb, request.rules)
    try:
        given = gather(request, knowledge)
    except ReplyError as error:
        raise ReplyError(f"{error} {open_questions(request, top, engine)}") from error
    return answer(conclude(given, knowledge, request.lang, engine), top, near=True)


def open_questions(request: Request, top: int | None, engine: EngineName) -> str:
    """Say what may be answered: the questions that are open without any answer."""
    asks = diagnose(msgspec.structs.replace(request, answers=()), top=top, engine=engine).asks
    if not asks:
        return "No question is open."
    return f"Open questions: {', '.join(ask.id for ask in asks)}."
