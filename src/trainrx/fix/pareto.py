"""Which plans are worth showing: none that another one beats in everything."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from trainrx.model.planning import Aim, Planned

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
