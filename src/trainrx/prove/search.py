"""Search candidates in the order of what they cost: best first, with a bound.

Uniform-cost search (Dijkstra 1959) over which step of which lever is taken. A branch is cut when
the job would not fit even with every lever that is still open at its strongest (branch and bound,
Land and Doig 1960). Each lever adds a cost of at least 0, so the first candidate that fits is the
cheapest one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple

from trainrx.memory.model import Model
from trainrx.memory.predict import Peak, peak
from trainrx.model.constants import Constants
from trainrx.model.memory import Workload
from trainrx.model.planning import Move, Price
from trainrx.prove.space import (
    BatchSplit,
    Pull,
    combine,
    divides,
    keeps_batch,
    nearly_keeps_batch,
)

MOST_CANDIDATES = 5000
"""How many candidates one search looks at: under half a second on one core."""
NOTHING = 0.003
"""Share of the card a move must free, alone or beside others, to be looked at."""
OTHER_BATCH = 1.5
"""What another effective batch costs, in edits: it is said, and it changes results a little."""


class Weights(NamedTuple):
    """What counts when candidates are ordered, in edits.

    `edit`: one more setting; `quality` and `effort` by their grade (0 to 3); `doubling`: a step
    that takes twice as long. `rewards_speed`: a move that makes steps faster is worth something.
    """

    edit: float
    quality: tuple[float, float, float, float]
    effort: tuple[float, float, float, float]
    doubling: float
    rewards_speed: bool = False


LEAST_CHANGE = Weights(1.0, (0.0, 1.0, 7.0, 40.0), (0.0, 1.3, 4.0, 12.0), 2.0)
FASTEST = Weights(0.3, (0.0, 1.0, 7.0, 40.0), (0.0, 1.0, 4.0, 12.0), 14.0, rewards_speed=True)


class Space(NamedTuple):
    """What is searched: a base, the open moves lever by lever, and what a candidate must be.

    `scale` corrects the memory model by what the job was seen to take (1.0: nothing was seen);
    `beside` gives GiB the model knows nothing of. `limit` is the card in GiB, `fill` the share of
    it a plan may take.
    """

    base: Workload
    model: Model
    constants: Constants
    levers: tuple[tuple[Pull, ...], ...]
    batch: BatchSplit
    limit: float
    fill: float
    scale: float = 1.0
    beside: Callable[[Workload], float] = lambda _: 0.0
    allowed: Callable[[Workload], bool] = lambda _: True

    def work(self, pulls: Sequence[Pull]) -> Workload:
        """Give the workload of a candidate."""
        return combine(self.base, pulls, self.batch)

    def peak(self, work: Workload) -> Peak:
        """Give what a candidate takes, GiB per GPU."""
        found = peak(work, self.model, self.constants)
        more = self.beside(work)
        return Peak(*(self.scale * value + more for value in found))

    def fits(self, work: Workload) -> bool:
        """Tell whether a candidate fits with the margin."""
        found = self.peak(work)
        return found.card <= self.fill * self.limit and found.need <= self.limit


def price_of(moves: Sequence[Move]) -> Price:
    """Add up what moves cost: slowdowns multiply, the worst quality and effort count.

    The bands are taken to be independent, so their widths add up as squares do.
    """
    middle = width = 0.0
    for move in moves:
        low, high = (math.log(max(0.05, value)) for value in move.price.slowdown)
        middle += (low + high) / 2
        width += ((high - low) / 2) ** 2
    spread = math.sqrt(width)
    return Price(
        quality=max((move.price.quality for move in moves), default=0),
        slowdown=(round(math.exp(middle - spread), 2), round(math.exp(middle + spread), 2)),
        effort=max((move.price.effort for move in moves), default=0),
    )


def cost(price: Price, edits: int, weights: Weights) -> float:
    """Weigh a move, in edits; below 0 only where speed is rewarded.

    Speed that is bought with quality is no reward.
    """
    low, high = price.slowdown
    doublings = math.log2(max(0.05, (low + high) / 2))
    rewarded = weights.rewards_speed and price.quality == 0
    speed = doublings if rewarded else max(0.0, doublings)
    return (
        weights.edit * edits
        + weights.quality[min(price.quality, 3)]
        + weights.effort[min(price.effort, 3)]
        + weights.doubling * speed
    )


def weigh(pull: Pull, weights: Weights) -> float:
    """Weigh one move, with the accumulation that goes along with another batch or layout."""
    edits = pull.move.edits or len(pull.move.values)
    edits += "micro_batch" in pull.flat or "world" in pull.flat or "context" in pull.flat
    return cost(pull.move.price, edits, weights)


class Search:
    """One search; `looked_at` counts the candidates whose memory was worked out."""

    def __init__(self, space: Space, weights: Weights) -> None:
        self._space = space
        self._weights = weights
        self._strongest = strongest(space)
        self._costs = [[weigh(pull, weights) for pull in lever] for lever in space.levers]
        # not to take a move that pays costs what it would have paid
        self._none = [max(0.0, -min(row, default=0.0)) for row in self._costs]
        self._rest = [sum(self._none[at:]) for at in range(len(self._none) + 1)]
        self.looked_at = 0

    def run(self, most: int = MOST_CANDIDATES) -> Iterator[tuple[Pull, ...]]:
        """Give the candidates that fit, the cheapest first."""
        order = count()
        queue: list[tuple[float, int, int, str, tuple[Pull, ...]]] = []
        heappush(queue, (self._rest[0], next(order), 0, "whole", ()))
        heappush(queue, (0.0, next(order), 0, "open", ()))
        while queue and self.looked_at < most:
            spent, _, at, kind, pulls = heappop(queue)
            if kind != "open":
                self.looked_at += 1
                work = self._space.work(pulls)
                if not self._is_good(work):
                    continue
                if kind == "whole" and not keeps_batch(work, self._space.batch):
                    heappush(queue, (spent + OTHER_BATCH, next(order), at, "said", pulls))
                    continue
                yield pulls
            elif self._may_fit(pulls, at):
                for now, index, more in self._children(spent, at, pulls):
                    whole = now + self._rest[index]
                    heappush(queue, (whole, next(order), index, "whole", more))
                    heappush(queue, (now, next(order), index, "open", more))

    def _children(
        self, spent: float, at: int, pulls: tuple[Pull, ...]
    ) -> Iterator[tuple[float, int, tuple[Pull, ...]]]:
        for index in range(at, len(self._costs)):
            for pull, price in zip(self._space.levers[index], self._costs[index], strict=True):
                if go_together(pulls, pull):
                    yield spent + price + self._none[index], index + 1, (*pulls, pull)
            spent += self._none[index]

    def _is_good(self, work: Workload) -> bool:
        near = nearly_keeps_batch(work, self._space.batch)
        return near and divides(work) and self._space.allowed(work) and self._space.fits(work)

    def _may_fit(self, pulls: tuple[Pull, ...], at: int) -> bool:
        """Tell whether a branch can fit at all, with all that is open at its strongest."""
        self.looked_at += 1
        return any(
            self._space.fits(self._space.work((*pulls, *_taken(end[at:]))))
            for end in self._strongest
        )


def strongest(space: Space) -> list[list[Pull | None]]:
    """Give, for some ways to go, the step of each lever that takes least beside the others.

    One lever at a time, the others as they stand, from three places: moves can get in each other's
    way (sharded weights are gathered for an engine), so that one way up may end too early. Levers
    that exclude others are gone without as well: what they lead to may not be allowed.
    """
    plain = tuple(() if any(p.excludes for p in lever) else lever for lever in space.levers)
    ways = [space.levers] if plain == space.levers else [space.levers, plain]
    ends: list[list[Pull | None]] = []
    for levers in ways:
        starts: tuple[list[Pull | None], ...] = (
            [None] * len(levers),
            [lever[0] if lever else None for lever in levers],
            [lever[-1] if lever else None for lever in levers],
        )
        climbed = [_climbed(space._replace(levers=levers), start) for start in starts]
        ends.append(min(climbed, key=lambda chosen: space.peak(space.work(_taken(chosen))).card))
    return ends


def _climbed(space: Space, chosen: list[Pull | None]) -> list[Pull | None]:
    for _ in range(2):
        for index, lever in enumerate(space.levers):
            others = _taken([p for at, p in enumerate(chosen) if at != index])
            takes: list[tuple[float, int, Pull | None]] = [
                (space.peak(space.work(others)).card, -1, None)
            ]
            takes += [
                (space.peak(space.work((*others, pull))).card, at, pull)
                for at, pull in enumerate(lever)
            ]
            chosen[index] = min(takes, key=lambda item: item[:2])[2]
    return chosen


def _taken(chosen: Sequence[Pull | None]) -> list[Pull]:
    return [pull for pull in chosen if pull is not None]


def useful(space: Space) -> tuple[tuple[Pull, ...], ...]:
    """Leave out the moves that free nothing, neither alone nor beside all others.

    Another number of generations stays: it makes batches divide.
    """
    ends = [_taken(end) for end in strongest(space)]
    rows = (
        tuple(pull for pull in lever if "generations" in pull.flat or _helps(space, pull, ends))
        for lever in space.levers
    )
    return tuple(row for row in rows if row)


def _helps(space: Space, pull: Pull, ends: Sequence[Sequence[Pull]]) -> bool:
    others = [[p for p in end if p.move.lever != pull.move.lever] for end in ends]
    return any(_frees(space, beside, pull) > NOTHING * space.limit for beside in ([], *others))


def _frees(space: Space, beside: Sequence[Pull], pull: Pull) -> float:
    before, after = space.work(beside), space.work((*beside, pull))
    return space.peak(before).card - space.peak(after).card


def go_together(pulls: Sequence[Pull], pull: Pull) -> bool:
    """Tell whether a move goes with those taken."""
    taken = {other.move.lever for other in pulls}
    if not taken.isdisjoint(pull.excludes):
        return False
    return not any(pull.move.lever in other.excludes for other in pulls)


def roomiest(space: Space) -> tuple[Pull, ...]:
    """Take every move that leaves clearly more room, the strongest first.

    A move stays out when it frees less than 3 % of the card, or less than 10 % and makes steps
    half as slow again.
    """
    taken: tuple[Pull, ...] = ()
    left = [pull for lever in space.levers for pull in lever]
    now = space.peak(space.base).card
    while left:
        tried = [(space.peak(work).card, pull) for pull, work in _next(space, taken, left)]
        if not tried:
            break
        found, best = min(tried, key=lambda item: item[0])
        least = 0.1 if sum(best.move.price.slowdown) >= 3.0 else 0.03
        if now - found < least * space.limit:
            cheaper = [(p, b) for p, b in tried if sum(b.move.price.slowdown) < 3.0]
            if not cheaper:
                break
            found, best = min(cheaper, key=lambda item: item[0])
            if now - found < 0.03 * space.limit:
                break
        taken, now = (*taken, best), found
        left = [pull for pull in left if pull.move.lever != best.move.lever]
    return taken


def _next(
    space: Space, taken: tuple[Pull, ...], left: Sequence[Pull]
) -> Iterator[tuple[Pull, Workload]]:
    for pull in left:
        if go_together(taken, pull):
            work = space.work((*taken, pull))
            fine = divides(work) and space.allowed(work)
            if fine and nearly_keeps_batch(work, space.batch):
                yield pull, work
