"""`diagnose()`: what a job left and what its launch foretells, joined in one answer."""

from __future__ import annotations

from trainrx.diagnosis.answer import answer
from trainrx.diagnosis.pipeline import conclude
from trainrx.knowledge.load import load
from trainrx.launch.given import gather
from trainrx.launch.request import Request
from trainrx.model.result import Diagnosis
from trainrx.reason.stage import EngineName


def diagnose(
    request: Request, *, top: int | None = None, engine: EngineName = "durable"
) -> Diagnosis:
    """Say why a job failed, or will fail, and what to change; `top` causes, None is all."""
    knowledge = load(request.kb, request.rules)
    done = conclude(gather(request, knowledge), knowledge, request.lang, engine)
    return answer(done, top, near=True)
