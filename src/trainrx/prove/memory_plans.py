"""Plans for a job that runs out of memory: such as meet its cause go first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from trainrx.knowledge.store import Knowledge
from trainrx.model.memory import Refusal
from trainrx.model.planning import Move, Planned, Price
from trainrx.model.result import CauseOut, FixOut
from trainrx.model.safety import QUALITY
from trainrx.model.text import Text
from trainrx.prove.attempt import Attempt, TrialLaunch
from trainrx.prove.planning import plans_for, short_plan
from trainrx.prove.proposals import Tried, settled, touches, try_fix, try_plan
from trainrx.prove.recheck import IN_FILES

MOST = 3
LEADING = 0.65
"""A cause so probable leads the plans, though nothing observed makes it likely."""


DEAR = 2
"""The grade of quality from which on a remedy is a resort."""


class Searched(NamedTuple):
    """What was tried, best first, and why nothing was searched on the memory model."""

    tried: tuple[Tried, ...] = ()
    refusal: Refusal | None = None


def memory_plans(
    trial: TrialLaunch,
    cause: CauseOut | None,
    *,
    keep: Sequence[str],
    failed: bool,
) -> Searched:
    """Search plans, and try them in the order they are to be offered.

    The leading cause has a first remedy, and a plan that leaves it out may fit by the memory model
    and fail all the same: an image nobody capped. So plans with it go first; where none has it, the
    remedy alone does when it is enough, else plans are searched on top of it. A remedy that is dear
    in quality gives way to plans that are not: cut data, or adapters instead of all weights.
    """
    found = plans_for(trial.around, keep=keep, failed=failed or None)
    if not isinstance(found, Refusal):
        _agree(found, trial)
    first = _first(cause, keep)
    if cause is None or first is None or cause.probability < LEADING:
        return _searched(found, trial)
    plans = () if isinstance(found, Refusal) else found
    if any(plan.quality < DEAR <= _quality(first, trial.around.knowledge) for plan in plans):
        return _searched(plans, trial)
    meeting = [_led(plan, first) for plan in plans if meets(plan, first)]
    others = [plan for plan in plans if not meets(plan, first)]
    if meeting:
        return Searched(_tried((*meeting, *others), trial))
    alone = try_fix(first, cause, trial)
    if alone.proved is not None:
        # that no plan is enough is said of plans: the remedy is
        why = found if isinstance(found, Refusal) and found.kind != "impossible" else None
        return Searched((alone, *_tried(others, trial)), why)
    move = _move(first, cause, trial)
    more = () if move is None else plans_for(trial.around, keep=keep, failed=True, started=(move,))
    on_top = () if isinstance(more, Refusal) else [_led(plan, first) for plan in more]
    if not on_top and isinstance(found, Refusal):
        return Searched(refusal=found)
    return Searched(_tried((*on_top, *others)[:MOST], trial))


def _searched(found: Sequence[Planned] | Refusal, trial: TrialLaunch) -> Searched:
    if isinstance(found, Refusal):
        return Searched(refusal=found)
    return Searched(_tried(found, trial))


def ways_that_fall_short(
    why: Refusal | None, trial: TrialLaunch, *, keep: Sequence[str], failed: bool
) -> Iterator[Tried]:
    """Try what frees most where nothing is enough: with what is missing said, it is a start."""
    if why is not None and why.not_enough:
        found = short_plan(trial.around, why, keep=keep, failed=failed or None)
        if found is not None:
            yield try_plan(found, trial, trial.around.lang)


def _agree(plans: Sequence[Planned], trial: TrialLaunch) -> None:
    """Let remedies be judged by the scale plans are: one answer tells one figure of the job."""
    found = trial.before.memory
    before = next((plan.before for plan in plans if plan.before is not None), None)
    if before is not None and not isinstance(found, Refusal):
        trial.scale = before.gib / found.card.gib


def meets(plan: Planned, remedy: FixOut) -> bool:
    """Tell whether a plan pulls a lever of a remedy."""
    levers = {name for change in remedy.changes for name in (change.canonical, change.param)} - {""}
    return any(change.canonical in levers or change.param in levers for change in plan.changes)


def _led(plan: Planned, remedy: FixOut) -> Planned:
    """Name what meets the cause before what goes with it."""
    levers = {change.canonical for change in remedy.changes} - {""}

    def later(move: Move) -> bool:
        return levers.isdisjoint(name for name, _ in move.values)

    return msgspec.structs.replace(
        plan,
        moves=tuple(sorted(plan.moves, key=later)),
        changes=tuple(sorted(plan.changes, key=lambda change: change.canonical not in levers)),
    )


def _tried(plans: Sequence[Planned], trial: TrialLaunch) -> tuple[Tried, ...]:
    return tuple(try_plan(plan, trial, trial.around.lang) for plan in plans)


def _first(cause: CauseOut | None, keep: Sequence[str]) -> FixOut | None:
    """Give the first remedy of a cause, where it is an edit the user did not forbid."""
    first = cause.fixes[0] if cause is not None and cause.fixes else None
    if first is None or touches(first, keep) or not settled(first):
        return None
    return first


def _quality(remedy: FixOut, knowledge: Knowledge) -> int:
    """Grade what a remedy costs in quality: as the lever it pulls does, else by its safety."""
    names = {change.canonical for change in remedy.changes} - {""}
    grades = [
        step.price.quality
        for lever in knowledge.levers.values()
        for step in lever.steps
        if step.set.keys() == names
    ]
    return min(grades, default=QUALITY[remedy.safety])


def _move(remedy: FixOut, cause: CauseOut, trial: TrialLaunch) -> Move | None:
    """Give a remedy as a move a search starts from, with the values its edit reads back as."""
    attempt = trial.attempt([c for c in remedy.changes if c.kind in IN_FILES])
    values = dict(_values(remedy, attempt))
    if not values:
        return None
    return Move(
        lever=remedy.id,
        values=tuple(values.items()),
        price=Price(quality=QUALITY[remedy.safety]),
        why=_title(remedy, cause, trial.around.knowledge),
    )


def _values(remedy: FixOut, attempt: Attempt) -> Iterator[tuple[str, bool | int | float | str]]:
    for change in remedy.changes if attempt.reading is not None else ():
        value = attempt.reading.facts.value(change.canonical) if attempt.reading else None
        if change.canonical and value is not None:
            yield change.canonical, value


def _title(remedy: FixOut, cause: CauseOut, knowledge: Knowledge) -> Text:
    known = (fix.title for fix in knowledge.causes[cause.id].fixes if fix.id == remedy.id)
    return next(known, Text(en=remedy.title, zh=remedy.title))
