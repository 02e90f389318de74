"""What hardware would be enough for a job that no change of settings makes fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from trainrx.model.facts import Scalar
from trainrx.model.memory import Refusal
from trainrx.model.planning import Move, Price
from trainrx.model.text import Text
from trainrx.prove.planner import PlannedJob, space_of
from trainrx.prove.search import roomiest, useful
from trainrx.prove.space import BatchSplit

SIZES = (24, 32, 40, 48, 80, 96, 141, 180)
"""Memory of cards people have, GiB."""
COUNTS = (1, 2, 4, 8, 16, 32, 64)
PER_NODE = 8
USES = Text(
    en="The launch starts as many processes as these machines have cards for.",
    zh="让启动命令按这些机器的显卡数量启动进程。",
)


class Enough(NamedTuple):
    """The fewest cards of the same kind, and the memory of the smallest card (GiB), that will do.

    Each with all that frees memory changed as well; None where none of the usual will do.
    """

    cards: int | None = None
    size: int | None = None

    @property
    def end(self) -> str:
        """Give the end of the id of a refusal that says so (`trainrx.model.assumptions`)."""
        if self.cards and self.size:
            return "-both"
        return "-cards" if self.cards else "-size" if self.size else ""

    @property
    def values(self) -> dict[str, str]:
        """Give what fills its words."""
        named = (("cards", self.cards), ("size", self.size))
        return {name: str(value) for name, value in named if value is not None}


def enough_for(trial: PlannedJob) -> Enough:
    """Find the hardware on which what frees most fits with the margin."""
    alone = trial.base.rollout.mode != "server"
    counts = (n for n in COUNTS if n > trial.base.world and alone)
    sizes = (size for size in SIZES if size > trial.limit + 1.0)
    return Enough(
        cards=next((n for n in counts if _fits(trial, _processes(trial, n), world=n)), None),
        size=next((s for s in sizes if _fits(trial, {"hardware.gpu_gib": float(s)})), None),
    )


def _processes(trial: PlannedJob, cards: int) -> dict[str, Scalar]:
    nodes = max(1, -(-cards // PER_NODE))
    values: dict[str, Scalar] = {
        "parallel.processes_per_node": cards // nodes,
        "hardware.gpus": cards,
        "hardware.gpus_per_node": cards // nodes,
    }
    if nodes > 1 or (trial.job.facts.number("parallel.nodes") or 1) > 1:
        values["parallel.nodes"] = nodes
    return values


def _fits(trial: PlannedJob, values: Mapping[str, Scalar], *, world: int | None = None) -> bool:
    """Tell whether all that frees memory is enough with other hardware; not where it is ignored."""
    base = trial.work(values)
    if isinstance(base, Refusal) or not base.card_gib or world not in (None, base.world):
        return False
    move = Move(lever="hardware", values=tuple(values.items()), price=Price(effort=1), why=USES)
    moved = trial._replace(base=base, started=(*trial.started, move), limit=base.card_gib)
    # how a batch is divided among other cards is another matter than whether it fits
    space = space_of(moved)._replace(batch=BatchSplit())
    return space.fits(space.work(roomiest(space._replace(levers=useful(space)))))
