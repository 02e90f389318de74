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

from trainrx.fix.space import Batch, Pull, combine, divides
from trainrx.memory.model import Model
from trainrx.memory.predict import Peak, peak
from trainrx.model.constants import Constants
from trainrx.model.memory import Workload
from trainrx.model.planning import Price

MOST_CANDIDATES = 6000
"""How many candidates one search looks at: under half a second on one core."""


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


LEAST_CHANGE = Weights(1.0, (0.0, 1.0, 7.0, 40.0), (0.0, 1.0, 4.0, 12.0), 2.0)
FASTEST = Weights(0.3, (0.0, 1.0, 7.0, 40.0), (0.0, 0.7, 4.0, 12.0), 14.0, rewards_speed=True)


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
    batch: Batch
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


def price_of(pulls: Sequence[Pull]) -> Price:
    """Add up what moves cost: slowdowns multiply, the worst quality and effort count."""
    low = math.prod(pull.move.price.slowdown[0] for pull in pulls)
    high = math.prod(pull.move.price.slowdown[1] for pull in pulls)
    return Price(
        quality=max((pull.move.price.quality for pull in pulls), default=0),
        slowdown=(round(low, 2), round(high, 2)),
        effort=max((pull.move.price.effort for pull in pulls), default=0),
    )


def cost(price: Price, edits: int, weights: Weights) -> float:
    """Weigh a move, in edits; below 0 only where speed is rewarded."""
    low, high = price.slowdown
    doublings = math.log2(max(0.05, (low + high) / 2))
    speed = doublings if weights.rewards_speed else max(0.0, doublings)
    return (
        weights.edit * edits
        + weights.quality[min(price.quality, 3)]
        + weights.effort[min(price.effort, 3)]
        + weights.doubling * speed
    )


def weigh(pull: Pull, weights: Weights) -> float:
    """Weigh one move, with the accumulation that goes along with another batch or layout."""
    edits = len(pull.move.values)
    edits += "micro_batch" in pull.flat or "world" in pull.flat or "context" in pull.flat
    return cost(pull.move.price, edits, weights)


class Search:
    """One search; `looked_at` counts the candidates whose memory was worked out."""

    def __init__(self, space: Space, weights: Weights) -> None:
        self._space = space
        self._costs = [[weigh(pull, weights) for pull in lever] for lever in space.levers]
        # not to take a move that pays costs what it would have paid
        self._none = [max(0.0, -min(row, default=0.0)) for row in self._costs]
        self._rest = [sum(self._none[at:]) for at in range(len(self._none) + 1)]
        self._strongest = self._strong()
        self.looked_at = 0

    def run(self, most: int = MOST_CANDIDATES) -> Iterator[tuple[Pull, ...]]:
        """Give the candidates that fit, the cheapest first."""
        order = count()
        queue: list[tuple[float, int, int, bool, tuple[Pull, ...]]] = []
        heappush(queue, (self._rest[0], next(order), 0, True, ()))
        heappush(queue, (0.0, next(order), 0, False, ()))
        while queue and self.looked_at < most:
            spent, _, at, is_whole, pulls = heappop(queue)
            if is_whole:
                if self._fits(pulls):
                    yield pulls
                continue
            if not self._may_fit(pulls, at):
                continue
            skipped = spent
            for index in range(at, len(self._costs)):
                for pull, price in zip(self._space.levers[index], self._costs[index], strict=True):
                    if not _go_together(pulls, pull):
                        continue
                    now = skipped + price + self._none[index]
                    more = (*pulls, pull)
                    whole = now + self._rest[index + 1]
                    heappush(queue, (whole, next(order), 0, True, more))
                    heappush(queue, (now, next(order), index + 1, False, more))
                skipped += self._none[index]

    def _fits(self, pulls: tuple[Pull, ...]) -> bool:
        self.looked_at += 1
        work = self._space.work(pulls)
        return divides(work) and self._space.allowed(work) and self._space.fits(work)

    def _may_fit(self, pulls: tuple[Pull, ...], at: int) -> bool:
        """Tell whether a branch can fit at all, with all that is open at its strongest."""
        self.looked_at += 1
        open_ones = [pull for pull in self._strongest[at:] if pull is not None]
        return self._space.fits(self._space.work((*pulls, *open_ones)))

    def _strong(self) -> list[Pull | None]:
        found: list[Pull | None] = []
        for lever in self._space.levers:
            takes = [(self._space.peak(self._space.work((pull,))).card, pull) for pull in lever]
            found.append(min(takes, key=lambda item: item[0])[1] if takes else None)
        return found


def _go_together(pulls: Sequence[Pull], pull: Pull) -> bool:
    taken = {other.move.lever for other in pulls}
    if not taken.isdisjoint(pull.excludes):
        return False
    return not any(pull.move.lever in other.excludes for other in pulls)


def roomiest(space: Space, allowed: Callable[[Pull], bool]) -> tuple[Pull, ...]:
    """Take every move that leaves clearly more room, the strongest first.

    A move stays out when it frees less than 3 % of the card, or less than 10 % and makes steps
    half as slow again.
    """
    taken: tuple[Pull, ...] = ()
    left = [pull for lever in space.levers for pull in lever if allowed(pull)]
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
        if _go_together(taken, pull):
            work = space.work((*taken, pull))
            if divides(work) and space.allowed(work):
                yield pull, work
