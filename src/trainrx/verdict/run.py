"""`diagnose()`: what a job left and what its launch foretells, in one answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from trainrx.diagnosis.answer import LOOKED_AT
from trainrx.diagnosis.conclusion import foresight
from trainrx.diagnosis.figure import figure_of
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.launch.config_kinds import ALONE
from trainrx.launch.request import Request
from trainrx.model.figure import JobFigure
from trainrx.model.result import Ask, Diagnosis, Verdict
from trainrx.reason.questions import LOG
from trainrx.reason.stage import EngineName
from trainrx.verdict.joined import Joined, joined
from trainrx.verdict.plan import plan_for
from trainrx.verdict.preflight import Foreseen, preflight, was_seen


class JudgedJob(NamedTuple):
    """An answer, what of the job can be drawn, and all that is known of it."""

    answer: Diagnosis
    figure: JobFigure
    known: Joined


def diagnose(
    request: Request,
    loaded: LoadedKnowledge,
    *,
    top: int | None = None,
    engine: EngineName = "durable",
) -> Diagnosis:
    """Say why a job failed, or will fail, and what to change; `top` causes, None is all."""
    return judge(request, loaded, top=top, engine=engine).answer


def judge(
    request: Request,
    loaded: LoadedKnowledge,
    *,
    top: int | None = None,
    engine: EngineName = "durable",
) -> JudgedJob:
    """Diagnose a job and say what is drawn of it."""
    looked_at = None if top is None else max(top, LOOKED_AT)
    known = joined(request, loaded, top=looked_at, engine=engine, near=True)
    answer = msgspec.structs.replace(
        known.answer, verdict=verdict_of(known), asks=tuple(_asked(known))
    )
    plan = plan_for(answer, known.done, request)
    answer = msgspec.structs.replace(answer, plan=plan, causes=answer.causes[:top])
    return JudgedJob(answer, figure_of(known.done, answer), known)


def _asked(known: Joined) -> Iterator[Ask]:
    """Give what is asked: of a job that has not run nobody asks what it printed."""
    ran = known.done.launch is None or was_seen(known.done, known.answer)
    yield from (ask for ask in known.answer.asks if ran or ask.id != LOG)


def verdict_of(known: Joined) -> Verdict:
    """Judge a launch that has not run by what is foreseen of it."""
    found, launch = known.answer, known.done.launch
    if was_seen(known.done, found):
        return found.verdict
    return preflight(
        Foreseen(
            findings=found.findings,
            rules=known.done.loaded.lint.rules,
            causes=found.causes,
            memory=foresight(known.done).before,
            # what a launcher or an engine is told alone starts nothing
            recognised=launch is not None and launch.framework not in ALONE,
        )
    )
