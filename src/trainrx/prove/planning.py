"""`plans_for()`: changes that make a job fit its card, each proved."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import Literal

from trainrx.catalog.spellbook import Spellbook, Via
from trainrx.memory.model import model_of
from trainrx.memory.predict import peak
from trainrx.model.assumptions import REFUSALS, say
from trainrx.model.memory import Refusal
from trainrx.model.planning import Move, Planned
from trainrx.prove.candidates import Lab, Subject, scaled, subject_of
from trainrx.prove.offers import nearest, plan_front
from trainrx.prove.planner import FILL, PlannedJob, PlanOutcome
from trainrx.prove.reread import LaunchContext
from trainrx.prove.tail import MOST_SCALE, tower_attention

Why = Literal["unknown", "unmodelled", "impossible"]
VIAS: tuple[Via, ...] = ("arg", "env", "config", "launcher")


def plans_for(
    around: LaunchContext,
    *,
    keep: Collection[str] = (),
    failed: bool | None = None,
    started: Sequence[Move] = (),
) -> tuple[Planned, ...] | Refusal:
    """Give at most three plans that make a job fit its card; none when it fits with the margin.

    Where fewer than three differ, another way goes without what they rest on.

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
    bench = bench_of(subject, keep=canonical(keep, subject), failed=failed, started=started)
    if isinstance(bench, Refusal):
        return bench
    if batch is not None:
        bench = bench._replace(batch=batch)
    if not started and _fits(bench):
        return PlanOutcome((), 0, 0)
    found = plan_front(bench, another=another)
    if found.plans:
        return found
    near = nearest(bench) if another else None
    if near is None or not near.changes:
        return refuse("impossible", "no-plan", gib=f"{bench.limit:.0f}")
    said = " ".join(change.spelled for change in near.changes)
    values = {"gib": f"{bench.limit:.0f}", "most": said, "left": f"{near.after.gib:.1f}"}
    return refuse("impossible", "no-plan-nearest", **values)


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
    lab = Lab(subject, failed=failed)
    start = {name: value for move in started for name, value in move.values}
    base = lab.work(start)
    if isinstance(base, Refusal):
        return base
    if not base.card_gib:
        return refuse("unknown", "no-card", "hardware.gpu_gib")
    model = model_of(base.shape)
    before = lab.predicted({})
    if model is None or isinstance(before, Refusal):
        return before if isinstance(before, Refusal) else refuse("unknown", "no-model")
    scale = lab.scale(base, model)
    if scale > MOST_SCALE:
        return refuse("unmodelled", "contradicted", gib=f"{before.card.gib:.1f}")
    lab.factor = scale
    return PlannedJob(
        job=lab.target,
        base=base,
        model=model,
        constants=subject.around.knowledge.memory,
        levers=subject.around.knowledge.levers,
        work=lab.work,
        prove=lab.prove,
        limit=base.card_gib,
        before=scaled(before.card, scale),
        batch=_whole(subject.facts.number("batch.effective")),
        scale=scale,
        keep=frozenset(keep),
        started=tuple(started),
        mend=partial(lab.mend, keep=frozenset(keep)),
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


def _fits(bench: PlannedJob) -> bool:
    found = peak(bench.base, bench.model, bench.constants)
    more = tower_attention(bench.base)
    card, need = bench.scale * found.card + more, bench.scale * found.need + more
    return card <= FILL * bench.limit and need <= bench.limit and bench.scale == 1.0


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
