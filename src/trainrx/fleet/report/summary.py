"""The report on a history: what failed, what it cost, who is suspected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

import msgspec

from trainrx.fleet.across.cards import card_suspects
from trainrx.fleet.across.groups import By, Group, grouped
from trainrx.fleet.across.runs import failed, runs_of
from trainrx.fleet.across.suspects import Suspect, suspects
from trainrx.fleet.history.store import ToldOutcome
from trainrx.fleet.record import AnswerSummary
from trainrx.model import __version__
from trainrx.model.text import Lang

MOST_PARAMS = 20


class JobCount(msgspec.Struct, frozen=True, kw_only=True):
    """Jobs of one cause, family, framework and outcome: what is counted for metrics."""

    cause: str
    family: str
    framework: str
    outcome: str
    jobs: int
    gpu_hours: float


class FleetReport(msgspec.Struct, frozen=True, kw_only=True):
    """The report; times are seconds since the epoch.

    `groups` are by what was asked; `params` by the parameter the answers say to change. `told`
    counts what people said came of it, by whether it worked.
    """

    version: str = __version__
    schema_version: Literal[1] = 1
    lang: Lang = "en"
    now: float
    since: float | None = None
    jobs: int
    failed: int
    gpu_hours: float
    outcomes: dict[str, int]
    told: dict[str, int]
    by: By
    groups: tuple[Group, ...]
    params: tuple[Group, ...]
    suspects: tuple[Suspect, ...]
    counts: tuple[JobCount, ...]


def report_on(
    answers: Sequence[AnswerSummary],
    told: Sequence[ToldOutcome],
    by: By,
    *,
    now: float,
    since: float | None = None,
    lang: Lang = "en",
) -> FleetReport:
    """Report on the newest answers to some jobs.

    Args:
        answers: one to a job.
        told: what people say came of jobs.
        by: what jobs are grouped by.
        now: seconds since the epoch.
        since: when the first of the jobs may have ended.
        lang: of what is said.
    """
    keys = {answer.key for answer in answers}
    told = [one for one in told if one.job in keys]
    bad = [answer for answer in answers if failed(answer)]
    return FleetReport(
        lang=lang,
        now=now,
        since=since,
        jobs=len(answers),
        failed=len(bad),
        gpu_hours=round(sum(answer.gpu_hours or 0.0 for answer in bad), 2),
        outcomes=dict(Counter(answer.outcome for answer in answers).most_common()),
        told=dict(Counter("worked" if one.worked else "failed" for one in told).most_common()),
        by=by,
        groups=grouped(answers, by, told),
        params=grouped(bad, "param", told)[:MOST_PARAMS],
        suspects=(*suspects(answers), *card_suspects(runs_of(answers))),
        counts=_counts(answers),
    )


def _counts(answers: Sequence[AnswerSummary]) -> tuple[JobCount, ...]:
    jobs: Counter[tuple[str, str, str, str]] = Counter()
    hours: Counter[tuple[str, str, str, str]] = Counter()
    for answer in answers:
        bad = failed(answer)
        cause = answer.causes[0][0] if bad and answer.causes else ""
        outcome = "failed" if bad else (answer.verdict or answer.outcome)
        named = (cause, answer.family if bad else "", answer.framework, outcome)
        jobs[named] += 1
        if bad and answer.gpu_hours is not None:
            # integers keep sums independent of the order of jobs
            hours[named] += round(answer.gpu_hours * 1000)
    return tuple(
        JobCount(
            cause=named[0],
            family=named[1],
            framework=named[2],
            outcome=named[3],
            jobs=count,
            gpu_hours=hours[named] / 1000,
        )
        for named, count in sorted(jobs.items())
    )
