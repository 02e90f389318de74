"""`retry()`: would a plain restart help?"""

from __future__ import annotations

from pathlib import Path

from trainrx.diagnosis.answer import LOOKED_AT
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.knowledge.retry import read_retry
from trainrx.launch.request import Request
from trainrx.model.fixing import EXIT, RetryAnswer, RetryCause
from trainrx.model.result import CauseOut, Diagnosis, FixOut
from trainrx.model.text import Lang
from trainrx.reason.retry import Judged, judge
from trainrx.verdict.joined import joined


def retry(request: Request, loaded: LoadedKnowledge) -> RetryAnswer:
    """Say whether starting the same job again would help.

    The `retry.yaml` of a folder of further knowledge goes before the shipped one.
    """
    table = read_retry([Path(folder) for folder in request.kb])
    done, diagnosis = joined(request, loaded, top=LOOKED_AT)
    judged = judge(
        diagnosis.causes,
        diagnosis.symptoms,
        table,
        done.reasoning.situation,
        healthy=diagnosis.verdict == "healthy",
    )
    return _answer(diagnosis, judged, request.lang)


def _answer(diagnosis: Diagnosis, judged: Judged, lang: Lang) -> RetryAnswer:
    rule, cause = judged.rule, judged.cause
    before = rule.before.in_(lang) if rule is not None and rule.before is not None else ""
    return RetryAnswer(
        tool=diagnosis.tool,
        job=diagnosis.job,
        lang=lang,
        verdict=judged.verdict,
        exit_code=EXIT[judged.verdict],
        reason=judged.why.in_(lang),
        rule="" if rule is None else rule.id,
        cause=None if cause is None else _cause(cause),
        before=before,
        ranks=judged.ranks,
        evidence=judged.evidence,
        fix=_fix(cause) if judged.verdict == "deterministic" else None,
        references=() if rule is None else rule.references,
        unread=diagnosis.unread,
    )


def _cause(cause: CauseOut) -> RetryCause:
    return RetryCause(
        id=cause.id, title=cause.title, verdict=cause.verdict, probability=cause.probability
    )


def _fix(cause: CauseOut | None) -> FixOut | None:
    return cause.fixes[0] if cause is not None and cause.fixes else None
