"""`diagnose()`: what a job left and what its launch foretells, joined in one answer."""

from __future__ import annotations

import msgspec

from trainrx.diagnosis.answer import LOOKED_AT, answer
from trainrx.diagnosis.conclusion import Conclusion, foresight
from trainrx.diagnosis.pipeline import conclude
from trainrx.knowledge.lint import load_lint
from trainrx.knowledge.load import load
from trainrx.launch.given import gather
from trainrx.launch.reply_values import ReplyError
from trainrx.launch.request import Request
from trainrx.model.findings import Finding
from trainrx.model.lint import LintKnowledge
from trainrx.model.result import Diagnosis, Verdict
from trainrx.reason.stage import EngineName
from trainrx.verdict.plan import plan_for
from trainrx.verdict.preflight import Foreseen, preflight


def diagnose(
    request: Request, *, top: int | None = None, engine: EngineName = "durable"
) -> Diagnosis:
    """Say why a job failed, or will fail, and what to change; `top` causes, None is all."""
    knowledge = load(request.kb, request.rules)
    try:
        given = gather(request, knowledge)
    except ReplyError as error:
        raise ReplyError(f"{error} {open_questions(request, top, engine)}") from error
    done = conclude(given, knowledge, request.lang, engine)
    found = answer(done, None if top is None else max(top, LOOKED_AT), near=True)
    lint = load_lint(request.kb, request.rules)
    found = msgspec.structs.replace(found, findings=_findings(done, lint))
    if not (given.logs or given.notes or found.symptoms):
        found = msgspec.structs.replace(found, verdict=_before_it_runs(found, done, lint))
    plan = plan_for(found, done, request, lint)
    return msgspec.structs.replace(found, plan=plan, causes=found.causes[:top])


def open_questions(request: Request, top: int | None, engine: EngineName) -> str:
    """Say what may be answered: the questions that are open without any answer."""
    asks = diagnose(msgspec.structs.replace(request, answers=()), top=top, engine=engine).asks
    if not asks:
        return "No question is open."
    return f"Open questions: {', '.join(ask.id for ask in asks)}."


def _findings(done: Conclusion, lint: LintKnowledge) -> tuple[Finding, ...]:
    if not (done.given.scripts or done.given.configs):
        return ()
    # the linter is loaded only where there is something to lint
    from trainrx.linter.given import lint_given

    return lint_given(done.given, done.versions, lint, done.lang)


def _before_it_runs(found: Diagnosis, done: Conclusion, lint: LintKnowledge) -> Verdict:
    return preflight(
        Foreseen(
            findings=found.findings,
            rules=lint.rules,
            causes=found.causes,
            memory=foresight(done).before,
            recognised=done.launch is not None,
        )
    )
