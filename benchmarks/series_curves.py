"""Curves of memory drawn by what makes it grow, from a seed: readings as jobs log them."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import NamedTuple

from trainrx.evidence.series.shapes import FLAT_GIB, FLAT_SHARE, settled
from trainrx.model.curves import Curve, Shape

CARDS = (24.0, 40.0, 80.0, 140.0)


class Drawn(NamedTuple):
    """A curve, what it is, and the step at which it runs out where it does."""

    curve: Curve
    used: Curve | None
    shape: Shape
    kind: str
    healthy: bool
    ends: float | None = None
    card: float = 80.0


class Job:
    """What all curves of a job have in common."""

    def __init__(self, seed: int) -> None:
        self.random = pick = random.Random(seed)  # noqa: S311 (a curve, not a secret)
        self.points = round(math.exp(pick.uniform(math.log(30), math.log(2000))))
        self.every = pick.choice((1, 1, 1, 2, 5, 10, 20))
        self.card = pick.choice(CARDS)
        self.base = self.card * pick.uniform(0.25, 0.6)
        self.warm = max(1, round(self.points * pick.uniform(0, 0.04)))
        self.keeps_highest = pick.random() < 0.6
        self.noise = 0.0 if self.keeps_highest else self.base * pick.choice((0, 0, 0.002, 0.01))

    def readings(self, more: Sequence[float], *, highest: bool | None = None) -> tuple[float, ...]:
        """Add the base, the warm-up and noise to what grows, as it is logged."""
        values = []
        for i, grown in enumerate(more):
            level = self.base * (0.6 + 0.4 * min(1.0, (i + 1) / self.warm))
            values.append(level + grown + self.random.gauss(0, self.noise))
        if self.keeps_highest if highest is None else highest:
            values = list(accumulate(values, max))
        return tuple(round(value, 2) for value in values)

    def curve(self, values: Sequence[float], evaluations: Sequence[int] = ()) -> Curve:
        """Make readings of steps, some of which are lost."""
        steps = [self.every * (i + 1) for i in range(len(values))]
        lost = self.random.choice((0.0, 0.0, 0.1))
        kept = [i for i in range(len(values)) if self.random.random() >= lost]
        return Curve(
            quantity="memory",
            source="drawn",
            at=tuple(float(steps[i]) for i in kept),
            values=tuple(values[i] for i in kept),
            lines=tuple(i + 1 for i in kept),
            evaluations=tuple(self.every * (i + 0.5) for i in evaluations),
        )

    def lengths(self) -> list[float]:
        """Draw the largest sample of each logged step, of a median sample."""
        pick = self.random
        sigma, batch = pick.uniform(0.3, 0.9), pick.choice((1, 2, 4, 8, 16)) * self.every
        cap = math.exp(sigma * pick.uniform(2.0, 4.5))
        samples = min(batch, 64)
        return [
            min(cap, max(math.exp(pick.gauss(0, sigma)) for _ in range(samples)))
            for _ in range(self.points)
        ]


def leak(job: Job) -> Drawn:
    """Grow by as much each step, in blocks of the allocator, with longer samples beside it."""
    pick, n = job.random, job.points
    total = max(job.card * pick.uniform(0.12, 0.8), 2.0)
    block = pick.choice((0.0, 0.02, 0.25, 1.0)) if total > 12 else pick.choice((0.0, 0.02))
    grown = [total * i / n for i in range(n)]
    if block:
        grown = [math.floor(value / block) * block for value in grown]
    if pick.random() < 0.4:
        lengths = job.lengths()
        share = pick.uniform(0.05, 0.3) * total / max(lengths)
        highest = list(accumulate(lengths, max))
        grown = [value + share * length for value, length in zip(grown, highest, strict=True)]
    limit = job.base + grown[-1]
    curve = job.curve(job.readings(grown))
    ends = float(n * job.every)
    return Drawn(curve, None, "linear", "leak", healthy=False, ends=ends, card=limit)


def staircase(job: Job) -> Drawn:
    """Keep the peak of the longest sample so far."""
    lengths = job.lengths()
    scale = job.card * job.random.uniform(0.1, 0.6) / max(lengths)
    values = job.readings([scale * length for length in lengths], highest=True)
    return Drawn(job.curve(values), None, "staircase", "staircase", healthy=False, card=job.card)


def jump(job: Job) -> Drawn:
    """Need much more once, late."""
    place = job.random.uniform(0.55, 0.92) * job.points
    size = max(job.base * job.random.uniform(0.1, 0.8), 2.0)
    values = job.readings([size if i >= place else 0.0 for i in range(job.points)])
    return Drawn(job.curve(values), None, "jump", "jump", healthy=False, card=job.card)


def evaluation(job: Job) -> Drawn:
    """Rise where evaluations begin."""
    pick, n = job.random, job.points
    apart = max(5, n // pick.randint(3, 15))
    places = list(range(apart, n, apart))
    rises = {place: max(job.base * pick.uniform(0.05, 0.2), 1.0) for place in places}
    for late in places[pick.randint(1, len(places)) :]:
        rises[late] = 0.0
    grown = list(accumulate(rises.get(i, 0.0) for i in range(n)))
    curve = job.curve(job.readings(grown), places)
    return Drawn(curve, None, "evaluation", "evaluation", healthy=False, card=job.card)


def fragmentation(job: Job) -> Drawn:
    """Reserve ever more while what is used swings as ever."""
    pick, n = job.random, job.points
    total, bend = max(job.base * pick.uniform(0.15, 0.6), 2.0), pick.uniform(0.5, 1.0)
    gap = [total * (i / n) ** bend for i in range(n)]
    gap = [math.floor(value / 0.25) * 0.25 if pick.random() < 0.9 else value for value in gap]
    peak = [job.base * pick.uniform(0.7, 0.95) for _ in range(n)]
    values = job.readings(list(accumulate(gap, max)), highest=True)
    state = job.random.getstate()
    curve = job.curve(values)
    job.random.setstate(state)
    used = job.curve(tuple(round(value, 2) for value in peak))
    return Drawn(curve, used, "fragmentation", "fragmentation", healthy=False, card=job.card)


def level(job: Job) -> Drawn:
    """Stay, but for noise and the warm-up."""
    return _healthy(job, [0.0] * job.points, "level")


def swinging(job: Job) -> Drawn:
    """Go up and down around one level: a cache that is emptied, an engine that sleeps."""
    pick = job.random
    wide = job.base * pick.uniform(0.05, 0.4)
    job.keeps_highest = False
    wave = pick.choice((0, pick.randint(3, 12)))
    return _healthy(
        job,
        [
            wide * (math.sin(6.2832 * i / wave) if wave else pick.uniform(-1, 1))
            for i in range(job.points)
        ],
        "swinging",
    )


def sawtooth(job: Job) -> Drawn:
    """Grow within an epoch and fall back at its end."""
    pick = job.random
    job.keeps_highest = False
    long = max(6, job.points // pick.randint(3, 12))
    high = job.base * pick.uniform(0.06, 0.4)
    return _healthy(job, [high * (i % long) / long for i in range(job.points)], "sawtooth")


def early(job: Job) -> Drawn:
    """Reach the longest sample within the first steps and stay there."""
    high = job.base * job.random.uniform(0.1, 0.8)
    soon = max(1, round(job.points * job.random.uniform(0.0, 0.05)))
    job.keeps_highest = True
    return _healthy(job, [high * min(1.0, i / soon) for i in range(job.points)], "early")


def _healthy(job: Job, more: Sequence[float], kind: str) -> Drawn:
    return Drawn(job.curve(job.readings(more)), None, "flat", kind, healthy=True, card=job.card)


GROWING = (leak, staircase, jump, evaluation, fragmentation)
STEADY = (level, swinging, sawtooth, early)
MAKERS: tuple[Callable[[Job], Drawn], ...] = (*GROWING, *STEADY)


def draw(seed: int) -> Drawn:
    """Draw a curve of the kind whose turn it is, which rises as far as a rise is called one."""
    make = MAKERS[seed % len(MAKERS)]
    for again in range(50):
        made = make(Job(seed * 1000 + again))
        kept = list(accumulate(settled(made.curve.values), max))
        rises = kept[-1] - kept[0] >= max(FLAT_SHARE * kept[0], FLAT_GIB)
        if rises or made.shape == "flat":
            return made
    raise AssertionError(make.__name__)
