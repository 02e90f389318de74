"""Which plans are worth showing: none that another one beats, and one on other levers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from trainrx.model.planning import Aim, Planned
from trainrx.prove.search import Space
from trainrx.prove.space import Pull

ORDER: tuple[Aim, ...] = ("least-change", "fastest", "most-headroom")
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


def without_pillars(space: Space, plans: Iterable[Planned]) -> Space:
    """Take away the lever each plan rests on: the one without which it would take most.

    Plans of one search are often variants of one idea (shard; shard and offload). Who cannot take
    that idea needs another.
    """
    pillars = {pillar_of(space, plan) for plan in plans}
    rows = (tuple(p for p in row if p.move.lever not in pillars) for row in space.levers)
    return space._replace(levers=tuple(row for row in rows if row))


def pillar_of(space: Space, plan: Planned) -> str:
    """Name the lever a plan rests on; "" where none of its moves is one of the search."""
    pulls = [pull for row in space.levers for pull in row if pull.move in plan.moves]

    def lacking(pull: Pull) -> float:
        return space.peak(space.work([other for other in pulls if other is not pull])).card

    return max(pulls, key=lacking).move.lever if pulls else ""
