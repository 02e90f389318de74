"""Plans and remedies as proposals: each is tried, and only what passes is offered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from trainrx.api.bench import Attempt, Bench, Promise
from trainrx.api.foreseen import compared
from trainrx.fix.recheck import IN_FILES
from trainrx.model.facts import Scalar
from trainrx.model.fixing import Batch, Claim, Dropped, Proposal
from trainrx.model.knowledge import Safety
from trainrx.model.memory import Refusal
from trainrx.model.planning import Aim, Check, Planned
from trainrx.model.result import CauseOut, Change, FixOut, Predicted
from trainrx.model.text import Lang, Text

AIM: dict[Aim, Text] = {
    "least-change": Text(en="least change", zh="改动最小"),
    "fastest": Text(en="fastest that fits", zh="放得下的方案中最快"),
    "most-headroom": Text(en="most headroom", zh="余量最大"),
}
_RANK: dict[Safety, int] = {"safe": 0, "changes-results": 1, "manual": 2}
MEMORY = ("oom", "growing_memory", "rank_imbalance")
"""Families a smaller peak is the answer to."""


class Tried(NamedTuple):
    """What came of trying one idea: exactly one of the three."""

    proved: Proposal | None = None
    by_hand: Proposal | None = None
    dropped: Dropped | None = None


def try_plan(
    plan: Planned, bench: Bench, lang: Lang, cause: CauseOut | None = None
) -> Tried:
    """Try a plan; where it leaves the cause itself untouched, with the cause's first remedy."""
    extra = _remedy(plan, cause)
    changes = (*plan.changes, *extra)
    wanted = {name: value for move in plan.moves for name, value in move.values}
    attempt = bench.attempt(
        changes, wanted, promise=_promise(plan, bench, exact=not extra), must_fit=True
    )
    title = " · ".join(AIM[aim].in_(lang) for aim in (plan.aim, *plan.also))
    if attempt.outcome == "failed":
        return Tried(dropped=_dropped(plan.aim, title, changes, attempt))
    safety = plan.safety
    if cause is not None and extra:
        safety = max(safety, cause.fixes[0].safety, key=lambda item: _RANK[item])
    proposal = Proposal(
        number=0,
        kind="plan",
        id=plan.aim,
        title=title,
        safety=safety,
        also=plan.also,
        cause="" if cause is None else cause.id,
        changes=changes,
        claims=tuple(_claims(plan, lang)),
        predicted=_predicted(bench, attempt) or _planned(plan),
        batch=_batch(bench, attempt, plan),
        slowdown=plan.slowdown,
        quality=plan.quality,
        checks=(*plan.checks, *attempt.checks) if attempt.checks else plan.checks,
        patched=attempt.patched,
        diff=attempt.diff,
    )
    return Tried(proved=proposal) if attempt.outcome == "proved" else Tried(by_hand=proposal)


def try_fix(fix: FixOut, cause: CauseOut, bench: Bench) -> Tried:
    """Try a remedy of the knowledge; one that does not make a job fit that must is dropped."""
    inside = [change for change in fix.changes if change.kind in IN_FILES]
    settled = all(change.to is not None or change.action == "remove" for change in inside)
    attempt = (
        bench.attempt(inside, must_fit=cause.family in MEMORY)
        if inside and settled
        else Attempt(outcome="by-hand")
    )
    if attempt.outcome == "failed":
        return Tried(dropped=_dropped(fix.id, fix.title, fix.changes, attempt))
    proposal = Proposal(
        number=0,
        kind="fix",
        id=fix.id,
        title=fix.title,
        safety=fix.safety if attempt.outcome == "proved" else "manual",
        cause=cause.id,
        changes=fix.changes,
        claims=tuple(Claim(text=ref.says, source=ref.url) for ref in cause.references),
        cost=fix.cost,
        steps=fix.steps,
        commands=fix.commands,
        notes=fix.notes,
        predicted=_predicted(bench, attempt) or fix.predicted,
        batch=_batch(bench, attempt, None),
        checks=attempt.checks,
        patched=attempt.patched,
        diff=attempt.diff,
    )
    return Tried(proved=proposal) if attempt.outcome == "proved" else Tried(by_hand=proposal)


def numbered(proposals: Sequence[Proposal]) -> tuple[Proposal, ...]:
    """Number proposals from 1; of several that change the same the first stays."""
    kept: dict[frozenset[tuple[str, str | None]], Proposal] = {}
    for item in proposals:
        kept.setdefault(frozenset((c.param, c.to) for c in item.changes), item)
    return tuple(
        msgspec.structs.replace(item, number=number)
        for number, item in enumerate(kept.values(), start=1)
    )


def _remedy(plan: Planned, cause: CauseOut | None) -> tuple[Change, ...]:
    """Give the changes of the cause's first remedy, where the plan pulls none of its levers."""
    if cause is None or not cause.fixes:
        return ()
    moved = {change.canonical for change in plan.changes}
    levers = {change.canonical for fix in cause.fixes for change in fix.changes}
    if moved & (levers - {""}):
        return ()
    first = cause.fixes[0]
    plain = all(change.kind in IN_FILES and change.to is not None for change in first.changes)
    return first.changes if plain else ()


def _promise(plan: Planned, bench: Bench, *, exact: bool) -> Promise:
    """Say what a plan promises, on the scale its figures have."""
    found = bench.before.memory
    if plan.before is None or isinstance(found, Refusal):
        return Promise(batch=plan.batch_after)
    scale = plan.before.gib / found.card.gib
    return Promise(batch=plan.batch_after, gib=plan.after.gib if exact else None, scale=scale)


def _claims(plan: Planned, lang: Lang) -> Iterator[Claim]:
    for move in plan.moves:
        yield Claim(text=move.why.in_(lang), source=move.source)
    told = {move.source for move in plan.moves}
    yield from (Claim(text="", source=source) for source in plan.sources if source not in told)


def _predicted(bench: Bench, attempt: Attempt) -> Predicted | None:
    before = bench.before.memory
    after = None if attempt.reading is None else attempt.reading.memory
    if isinstance(before, Refusal) or after is None or isinstance(after, Refusal):
        return None
    return compared(before, after)


def _planned(plan: Planned) -> Predicted | None:
    """Give the plan's own figures, where there is no file to read them from again."""
    if plan.before is None:
        return None
    return Predicted(
        before_gib=round(plan.before.gib, 1),
        after_gib=round(plan.after.gib, 1),
        limit_gib=round(plan.limit_gib, 1),
        low_gib=round(plan.after.low, 1),
        high_gib=round(plan.after.high, 1),
    )


def _batch(bench: Bench, attempt: Attempt, plan: Planned | None) -> Batch:
    if attempt.reading is None:
        return Batch() if plan is None else Batch(before=plan.batch_before, after=plan.batch_after)
    return Batch(
        before=_whole(bench.before.facts.number("batch.effective")),
        after=_whole(attempt.reading.facts.number("batch.effective")),
    )


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _dropped(ident: str, title: str, changes: Sequence[Change], attempt: Attempt) -> Dropped:
    spelled = " ".join(change.spelled for change in changes)
    return Dropped(id=ident, title=title, spelled=spelled, failed=attempt.failed)


def values_of(plan: Planned) -> dict[str, Scalar]:
    """Give the canonical values a plan sets."""
    return {name: value for move in plan.moves for name, value in move.values}


def failed_checks(checks: Sequence[Check]) -> tuple[Check, ...]:
    """Give the checks that do not hold."""
    return tuple(check for check in checks if not check.holds)
