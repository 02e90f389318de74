"""`plans_for()`: changes that make a job fit its card, each proved."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Literal

import msgspec

from trainrx.catalog.spellbook import Spellbook, Via
from trainrx.memory.model import model_of
from trainrx.memory.predict import peak
from trainrx.model.assumptions import ENOUGH, REFUSALS, say
from trainrx.model.memory import Refusal
from trainrx.model.planning import Aim, Move, Planned, Standing
from trainrx.model.text import Text
from trainrx.prove.candidates import CandidateJob, Subject, scaled, subject_of
from trainrx.prove.enough import enough_for
from trainrx.prove.planner import FILL, PlannedJob, PlanOutcome, first, planned, space_of
from trainrx.prove.reread import LaunchContext
from trainrx.prove.search import FASTEST, LEAST_CHANGE, Search, Space, Weights, roomiest, useful
from trainrx.prove.space import Pull
from trainrx.prove.worst_case import MOST_SCALE, tower_attention

ORDER: tuple[Aim, ...] = ("least-change", "fastest", "most-headroom")
TOO_MUCH = Text(
    en="memory: {after} GiB are estimated with it, the card has {limit}",
    zh="显存：按估算改后仍需 {after} GiB，而卡上只有 {limit} GiB",
)
MOST_WAYS = 5
"""Plans of one answer, those that go without what the others rest on included."""
CLEARLY = 0.02
"""A plan is faster, or leaves more room, only by more than this share."""


def front(made: Mapping[Aim, Planned]) -> tuple[Planned, ...]:
    """Give the plans of the Pareto front over edits, time and room, duplicates merged in `also`."""
    kept: list[Planned] = []
    for aim in ORDER:
        plan = made.get(aim)
        if plan is None:
            continue
        at = next((i for i, other in enumerate(kept) if beats(other, plan)), None)
        if at is None:
            kept.append(plan)
        else:
            kept[at] = msgspec.structs.replace(kept[at], also=(*kept[at].also, plan.aim))
    return tuple(kept)


def beats(one: Planned, other: Planned) -> bool:
    """Tell whether a plan is no worse than another in edits, quality, time and room."""
    return (
        len(one.changes) <= len(other.changes)
        and one.quality <= other.quality
        and sum(one.slowdown) <= sum(other.slowdown) * (1 + CLEARLY)
        and one.after.gib <= other.after.gib * (1 + CLEARLY)
    )


def without_pillars(space: Space, plans: Sequence[Planned]) -> Space:
    """Take away the lever each plan rests on: the one without which it would take most.

    Plans of one search are often variants of one idea (shard; shard and offload). Who cannot take
    that idea needs another.
    """
    pillars = {pillar_of(space, plan) for plan in plans}
    # a program of its own beside the job is for where no plan does without
    alone = any(not any(move.beside for move in plan.moves) for plan in plans)
    rows = (
        tuple(p for p in row if p.move.lever not in pillars and not (alone and p.move.beside))
        for row in space.levers
    )
    return space._replace(levers=tuple(row for row in rows if row))


def pillar_of(space: Space, plan: Planned) -> str:
    """Name the lever a plan rests on; "" where none of its moves is one of the search."""
    pulls = [pull for row in space.levers for pull in row if pull.move in plan.moves]

    def lacking(pull: Pull) -> float:
        return space.peak(space.work([other for other in pulls if other is not pull])).card

    return max(pulls, key=lacking).move.lever if pulls else ""


GRADES = (1, 2, 3)
"""Losses of quality that are gone to one after the other: only when the one before is not enough.
"""
_AIMS: tuple[tuple[Aim, Weights], ...] = (("least-change", LEAST_CHANGE), ("fastest", FASTEST))


def plan_front(trial: PlannedJob, *, another: bool = False) -> PlanOutcome:
    """Find plans; none when nothing that may be changed makes the job fit.

    With `another`, ways without what the others rest on follow; and to a job that failed one that
    just fits is better than none, where none leaves the margin.
    """
    space = space_of(trial)
    made: dict[Aim, Planned] = {}
    looked_at = proved = 0
    for most in GRADES:
        graded = _graded(space, most)
        for aim, weights in _AIMS:
            search = Search(graded, weights)
            found, tries = first(trial, aim, search.run(), graded)
            looked_at, proved = looked_at + search.looked_at, proved + tries
            if found is None:
                break  # the cheapest in edits is looked for first: where there is none, none is
            made[aim] = found
        if made:
            found, tries = first(trial, "most-headroom", _roomy(graded), graded)
            proved += tries
            made |= {"most-headroom": found} if found is not None else {}
            break
    if not made and another and trial.scale > 1.0:
        # the scale of a job that failed is its own: what is as much as the card may be tried
        tight = _graded(space._replace(fill=1.0), GRADES[-1])
        found, tries = first(trial, "most-headroom", _roomy(tight), tight)
        proved += tries
        made |= {"most-headroom": found} if found is not None else {}
    plans = front(made)
    while another and 0 < len(plans) < MOST_WAYS:
        # the last resort may take a place beside two ways, none after three that do without
        grades = GRADES if len(plans) < len(ORDER) else GRADES[:-1]
        found, seen, tries = _another(trial, without_pillars(space, plans), grades)
        looked_at, proved = looked_at + seen, proved + tries
        if found is None:
            break
        plans = (*plans, found)
    return PlanOutcome(plans, looked_at, proved)


def _another(
    trial: PlannedJob, space: Space, grades: Sequence[int]
) -> tuple[Planned | None, int, int]:
    """Give the least change of what is left, with what was looked at and proved for it."""
    looked_at = proved = 0
    for most in grades:
        graded = _graded(space, most)
        search = Search(graded, LEAST_CHANGE)
        found, tries = first(trial, "another-way", search.run(), graded)
        looked_at, proved = looked_at + search.looked_at, proved + tries
        if found is not None:
            return found, looked_at, proved
    return None, looked_at, proved


def _graded(space: Space, most: int) -> Space:
    """Leave out what costs more quality, and what frees nothing beside what is left."""
    graded = space._replace(levers=_up_to(space.levers, most))
    return graded._replace(levers=useful(graded))


def _up_to(levers: tuple[tuple[Pull, ...], ...], most: int) -> tuple[tuple[Pull, ...], ...]:
    """Leave out what costs more quality: it is a resort of its own."""
    rows = (tuple(pull for pull in row if pull.move.price.quality <= most) for row in levers)
    return tuple(row for row in rows if row)


def _roomy(space: Space) -> Iterator[tuple[Pull, ...]]:
    """Give the candidates with most room, first without any loss of quality that is not needed.

    What needs a program of its own beside the job comes after what does not.
    """
    alone = tuple(tuple(pull for pull in row if not pull.move.beside) for row in space.levers)
    for most in GRADES:
        for levers in (tuple(row for row in alone if row), space.levers):
            taken = roomiest(space._replace(levers=_up_to(levers, most)))
            if taken and space.fits(space.work(taken)):
                yield taken


def nearest(trial: PlannedJob) -> Planned | None:
    """Give what frees most, proved but for the room: there is none where all is not enough."""
    space = space_of(trial)
    taken = roomiest(space._replace(levers=useful(space)))
    return planned(trial, "frees-most", taken, space, enough=False) if taken else None


Why = Literal["unknown", "unmodelled", "impossible"]
VIAS: tuple[Via, ...] = ("arg", "env", "config", "launcher")


def plans_for(
    around: LaunchContext,
    *,
    keep: Collection[str] = (),
    failed: bool | None = None,
    started: Sequence[Move] = (),
) -> tuple[Planned, ...] | Refusal:
    """Give plans that make a job fit its card, at most `MOST_WAYS`; none where the margin is there.

    Of the first three each is best in something; those after go without what the others rest on.

    Args:
        around: the job as it was read.
        keep: parameters that stay as they are, canonical or as the framework spells them.
        failed: whether it is known to have run out of memory; None: as the log tells.
        started: moves every plan makes.

    Returns:
        Plans, or why there are none: an input is missing, or nothing that may be changed is enough.
    """
    found = search(around, keep=keep, failed=failed, started=started, another=True)
    return found if isinstance(found, Refusal) else found.plans


def search(
    around: LaunchContext,
    *,
    keep: Collection[str] = (),
    failed: bool | None = None,
    started: Sequence[Move] = (),
    batch: int | None = None,
    another: bool = False,
) -> PlanOutcome | Refusal:
    """Search for plans, as `plans_for`, and count the candidates that were looked at.

    `batch` is the effective batch to keep, where it is not that of the launch as it stands;
    `another` asks for another way besides, where there is room for one.
    """
    subject = subject_of(around)
    if subject is None:
        return refuse("unknown", "no-model", "model.name")
    trial = bench_of(subject, keep=canonical(keep, subject), failed=failed, started=started)
    if isinstance(trial, Refusal):
        return trial
    if batch is not None:
        trial = trial._replace(batch=batch)
    if not started and _fits(trial):
        return PlanOutcome((), 0, 0)
    found = plan_front(trial, another=another)
    if found.plans:
        return found
    if not another:
        return refuse("impossible", "no-plan", gib=f"{trial.limit:.0f}")
    return _not_enough(trial)


def _not_enough(trial: PlannedJob) -> Refusal:
    """Say that nothing fits, how near what frees most comes, and what hardware would be enough."""
    near, found = nearest(trial), enough_for(trial)
    values = {"gib": f"{trial.limit:.0f}", **found.values}
    if near is None or not near.changes:
        return refuse("impossible", f"no-plan{found.end}", **values)
    said = " ".join(change.spelled for change in near.changes)
    values |= {"most": said, "left": f"{near.after.gib:.1f}"}
    return refuse("impossible", f"no-plan-nearest{found.end}", **values)


def short_plan(
    around: LaunchContext,
    why: Refusal,
    *,
    keep: Collection[str] = (),
    failed: bool | None = None,
) -> Planned | None:
    """Give what frees most of a job that no plan makes fit, with what is still too much.

    Args:
        around: the job as it was read.
        why: the refusal of `plans_for`, which says what would be enough.
        keep: parameters that stay as they are.
        failed: whether it is known to have run out of memory; None: as the log tells.
    """
    subject = subject_of(around) if why.not_enough else None
    if subject is None:
        return None
    trial = bench_of(subject, keep=canonical(keep, subject), failed=failed)
    found = None if isinstance(trial, Refusal) else nearest(trial)
    if found is None or not found.changes:
        return None
    after = {"after": f"{found.after.gib:.1f}", "limit": f"{found.limit_gib:.1f}"}
    end = why.id.rpartition("-")[2]
    more = ENOUGH.get(f"-{end}", ENOUGH[""]).in_(around.lang)
    lacking = Standing(
        id="memory-exceeds-card",
        title=(TOO_MUCH.in_(around.lang) + more).format(**dict(why.values), **after),
    )
    return msgspec.structs.replace(found, refused=(*found.refused, lacking))


def refuse(kind: Why, ident: str, *asks: str, **values: str) -> Refusal:
    """Say why there is no plan."""
    pairs = tuple(values.items())
    reason = say(REFUSALS, ident, pairs, "en")
    return Refusal(kind=kind, id=ident, reason=reason, asks=asks, values=pairs)


def bench_of(
    subject: Subject,
    *,
    keep: Collection[str] = (),
    failed: bool | None = None,
    started: Sequence[Move] = (),
) -> PlannedJob | Refusal:
    """Set a job up for the planner; a refusal when its memory cannot be predicted."""
    candidate = CandidateJob(subject, failed=failed)
    start = {name: value for move in started for name, value in move.values}
    base = candidate.work(start)
    if isinstance(base, Refusal):
        return base
    if not base.card_gib:
        return refuse("unknown", "no-card", "hardware.gpu_gib")
    model = model_of(base.shape)
    before = candidate.predicted({})
    if model is None or isinstance(before, Refusal):
        return before if isinstance(before, Refusal) else refuse("unknown", "no-model")
    scale = candidate.scale(base, model)
    if scale > MOST_SCALE:
        return refuse("unmodelled", "contradicted", gib=f"{before.card.gib:.1f}")
    candidate.factor = scale
    return PlannedJob(
        job=candidate.target,
        base=base,
        model=model,
        constants=subject.around.knowledge.memory,
        levers=subject.around.knowledge.levers,
        work=candidate.work,
        prove=candidate.prove,
        limit=base.card_gib,
        before=scaled(before.card, scale),
        batch=_whole(subject.facts.number("batch.effective")),
        scale=scale,
        keep=frozenset(keep),
        started=tuple(started),
        mend=partial(candidate.mend, keep=frozenset(keep)),
    )


def canonical(names: Collection[str], subject: Subject) -> frozenset[str]:
    """Give the canonical parameters some names stand for, in the framework's words or ours."""
    params = subject.around.knowledge.params
    framework = subject.facts.text("launch.framework") or ""
    book = Spellbook(params, framework, {})
    found: set[str] = set()
    for name in names:
        if name in params:
            found.add(name)
        for via in VIAS:
            found |= {entry.param.id for entry in book.find(name, via)}
    return frozenset(found)


def _fits(trial: PlannedJob) -> bool:
    found = peak(trial.base, trial.model, trial.constants)
    more = tower_attention(trial.base)
    card, need = trial.scale * found.card + more, trial.scale * found.need + more
    return card <= FILL * trial.limit and need <= trial.limit and trial.scale == 1.0


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
