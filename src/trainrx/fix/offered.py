"""Whether a remedy is offered for the job at hand, and if not, which clause fails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from trainrx.fix.changes import Target, has_no_rollouts, is_of_rollouts
from trainrx.model.knowledge import Fix
from trainrx.model.levers import Lever
from trainrx.model.parts import Condition
from trainrx.model.text import Text
from trainrx.reason.conditions import Situation, decide
from trainrx.reason.phrasing import ONLY_IF, UNLESS, condition_text, values_text

_FAILS = Text(en="{asked}: {clause}", zh="{asked}：{clause}")
NO_ROLLOUTS = Text(en="this task samples nothing", zh="该任务不生成样本")
_HERE = Text(en="{said} (here: {values})", zh="{said}（此处：{values}）")


def refusal(fix: Fix, job: Target) -> str:
    """Say which clause keeps a remedy from being offered; "" where none does."""
    if fix.set and all(map(is_of_rollouts, fix.set)) and has_no_rollouts(job.facts):
        return NO_ROLLOUTS.in_(job.lang)
    launch = Situation(job.facts, job.versions)
    in_place = all(job.facts.value(name) == value for name, value in fix.set.items())
    for unless in () if in_place else barring(fix, job.knowledge.levers):
        if decide(unless, launch) is True:
            return _said(UNLESS, unless, launch, job)
    if fix.only_if is None or decide(fix.only_if, job.situation) is True:
        return ""
    return _said(ONLY_IF, fix.only_if, job.situation, job)


def barring(fix: Fix, levers: Mapping[str, Lever]) -> Iterator[Condition]:
    """Give the conditions under which a job surely does not have the lever a remedy pulls."""
    for lever in levers.values():
        if lever.unless is not None and any(step.set == fix.set for step in lever.steps):
            yield lever.unless


def _said(asked: Text, condition: Condition, situation: Situation, job: Target) -> str:
    clause = _deciding(condition, situation)
    said = _FAILS.in_(job.lang).format(
        asked=asked.in_(job.lang), clause=condition_text(clause, job.lang)
    )
    values = values_text(clause, situation, job.lang)
    return _HERE.in_(job.lang).format(said=said, values=values) if values else said


def _deciding(condition: Condition, situation: Situation) -> Condition:
    """Narrow a condition to the clauses that make it what it is."""
    found = decide(condition, situation)
    name = "any" if found is True else "all"
    parts: tuple[Condition, ...] = getattr(condition, name) or ()
    mine = tuple(part for part in parts if decide(part, situation) is found)
    if len(mine) == 1:
        return _deciding(mine[0], situation)
    return msgspec.structs.replace(condition, **{name: mine}) if mine else condition
