"""Plans: the fewest changes, the fastest job, the one with most room, another way; each proved."""

from __future__ import annotations

from collections.abc import Iterator

from trainrx.model.planning import Aim, Planned
from trainrx.prove.pareto import ORDER, front, without_pillars
from trainrx.prove.planner import PlannedJob, PlanOutcome, first, planned, space_of
from trainrx.prove.search import FASTEST, LEAST_CHANGE, Search, Space, Weights, roomiest, useful
from trainrx.prove.space import Pull

GRADES = (1, 2, 3)
"""Losses of quality that are gone to one after the other: only when the one before is not enough.
"""
_AIMS: tuple[tuple[Aim, Weights], ...] = (("least-change", LEAST_CHANGE), ("fastest", FASTEST))


def plan_front(bench: PlannedJob, *, another: bool = False) -> PlanOutcome:
    """Find at most three plans; none when nothing that may be changed makes the job fit.

    With `another`, a place that stays open goes to a way without what the others rest on; and to a
    job that failed one that just fits is better than none, where none leaves the margin.
    """
    space = space_of(bench)
    made: dict[Aim, Planned] = {}
    looked_at = proved = 0
    for most in GRADES:
        graded = _graded(space, most)
        for aim, weights in _AIMS:
            search = Search(graded, weights)
            found, tries = first(bench, aim, search.run(), graded)
            looked_at, proved = looked_at + search.looked_at, proved + tries
            if found is None:
                break  # the cheapest in edits is looked for first: where there is none, none is
            made[aim] = found
        if made:
            found, tries = first(bench, "most-headroom", _roomy(graded), graded)
            proved += tries
            made |= {"most-headroom": found} if found is not None else {}
            break
    if not made and another and bench.scale > 1.0:
        # the scale of a job that failed is its own: what is as much as the card may be tried
        tight = _graded(space._replace(fill=1.0), GRADES[-1])
        found, tries = first(bench, "most-headroom", _roomy(tight), tight)
        proved += tries
        made |= {"most-headroom": found} if found is not None else {}
    plans = front(made)
    if another and 0 < len(plans) < len(ORDER):
        found, seen, tries = _another(bench, without_pillars(space, plans))
        looked_at, proved = looked_at + seen, proved + tries
        plans = (*plans, found) if found is not None else plans
    return PlanOutcome(plans, looked_at, proved)


def _another(bench: PlannedJob, space: Space) -> tuple[Planned | None, int, int]:
    """Give the least change of what is left, with what was looked at and proved for it."""
    looked_at = proved = 0
    for most in GRADES:
        graded = _graded(space, most)
        search = Search(graded, LEAST_CHANGE)
        found, tries = first(bench, "another-way", search.run(), graded)
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


def nearest(bench: PlannedJob) -> Planned | None:
    """Give what frees most, proved but for the room: there is none where all is not enough."""
    space = space_of(bench)
    taken = roomiest(space._replace(levers=useful(space)))
    return planned(bench, "most-headroom", taken, space, enough=False) if taken else None
