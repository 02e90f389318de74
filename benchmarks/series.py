"""Shapes of memory and forecasts of when it ends, beside a straight line by least squares.

    python benchmarks/series.py [--first 100000] [--count 900] [--wrong]

Curves are drawn by what makes them grow (`series_curves`), and read from `data/series_real.yaml`:
readings that public jobs logged, with what a person says of each. Exits 1 below the marks.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec
from series_curves import GROWING, Drawn, draw

from trainrx.evidence.series.forecast import forecast
from trainrx.evidence.series.shapes import FLAT_GIB, FLAT_SHARE, grows, shape_of
from trainrx.model.curves import Curve, Shape

REAL = Path(__file__).parent / "data" / "series_real.yaml"
WAY, NEAR = 0.6, 0.15
LEAST_RIGHT, LEAST_FORECASTS = 0.95, 0.85


class RealCurve(msgspec.Struct, frozen=True, kw_only=True):
    """Readings a public job logged; `shape` and `grows` as a person says of them."""

    source: str
    shape: Shape
    grows: bool
    by: Literal["step", "second"]
    at: tuple[float, ...]
    gib: tuple[float, ...]
    evaluations: tuple[float, ...] = ()

    def curve(self) -> Curve:
        """Give the readings."""
        lines = tuple(range(1, len(self.gib) + 1))
        return Curve(
            quantity="memory",
            source=self.source,
            at=self.at,
            by=self.by,
            values=self.gib,
            lines=lines,
            evaluations=self.evaluations,
        )


def straight(curve: Curve) -> tuple[float, float]:
    """Fit a straight line by least squares: slope and level."""
    n = len(curve.values)
    at, value = sum(curve.at) / n, sum(curve.values) / n
    around = sum((x - at) ** 2 for x in curve.at)
    both = zip(curve.at, curve.values, strict=True)
    slope = sum((x - at) * (y - value) for x, y in both) / around if around else 0.0
    return slope, value - slope * at


def peer_grows(curve: Curve) -> bool:
    """Say by the straight line whether memory grows beyond what is noise."""
    slope, level = straight(curve)
    start = level + slope * curve.at[0]
    rise = slope * (curve.at[-1] - curve.at[0])
    return rise >= max(FLAT_SHARE * abs(start), FLAT_GIB)


def peer_forecast(curve: Curve, limit: float) -> float | None:
    """Say by the straight line where the limit is reached."""
    slope, level = straight(curve)
    return (limit - level) / slope if peer_grows(curve) else None


def used_forecast(drawn: Drawn) -> float | None:
    """Say where the card is full, of a leak alone, as an answer does."""
    if shape_of(drawn.curve, drawn.used) != "linear":
        return None
    made = forecast(drawn.curve, drawn.card)
    return None if made is None else made.at


def until(curve: Curve, end: float) -> Curve:
    """Give the readings up to a place."""
    kept = sum(place <= end for place in curve.at)
    return msgspec.structs.replace(
        curve, at=curve.at[:kept], values=curve.values[:kept], lines=curve.lines[:kept]
    )


class Counts:
    """What was counted of drawn curves."""

    def __init__(self) -> None:
        self.all: Counter[str] = Counter()
        self.right: Counter[str] = Counter()
        self.mistaken: Counter[tuple[str, str]] = Counter()
        self.figures: Counter[str] = Counter()
        self.wrong: list[str] = []

    def take(self, seed: int, drawn: Drawn) -> None:
        """Ask of one curve."""
        found = shape_of(drawn.curve, drawn.used)
        self.all[drawn.kind] += 1
        self.right[drawn.kind] += found == drawn.shape
        if found != drawn.shape:
            self.mistaken[drawn.kind, str(found)] += 1
            self.wrong.append(f"seed {seed}: {drawn.kind} taken for {found}")
        if drawn.ends is not None:
            self._forecast(seed, drawn, drawn.ends)
        else:
            self.figures["no leaks"] += 1
            made = used_forecast(drawn)
            peer = peer_forecast(drawn.curve, drawn.card)
            self.figures["false"] += made is not None
            self.figures["false, peer"] += peer is not None
        if drawn.healthy:
            self.figures["healthy"] += 1
            self.figures["alarm"] += grows(drawn.curve)
            self.figures["alarm, peer"] += peer_grows(drawn.curve)
            self.figures["healthy foretold"] += forecast(drawn.curve, drawn.card) is not None

    def _forecast(self, seed: int, drawn: Drawn, ends: float) -> None:
        curve = until(drawn.curve, WAY * ends)
        made, peer = forecast(curve, drawn.card), peer_forecast(curve, drawn.card)
        self.figures["leaks"] += 1
        if made is not None:
            self.figures["foretold"] += 1
            self.figures["near"] += abs(made.at - ends) <= NEAR * ends
            self.figures["within"] += made.low <= ends <= made.high
        if made is None or abs(made.at - ends) > NEAR * ends:
            said = None if made is None else round(made.at / ends, 2)
            self.wrong.append(f"seed {seed}: forecast {said} of the way")
        if peer is not None:
            self.figures["near, peer"] += abs(peer - ends) <= NEAR * ends


def real_curves() -> Iterator[tuple[RealCurve, Shape | None, bool]]:
    """Give each real curve with what is said of it."""
    for one in msgspec.yaml.decode(REAL.read_bytes(), type=list[RealCurve]):
        curve = one.curve()
        yield one, shape_of(curve), grows(curve)


def report(counts: Counts) -> bool:
    """Print the figures; tells whether all marks are reached."""
    for kind, count in counts.all.items():
        taken = {to: n for (of, to), n in counts.mistaken.items() if of == kind}
        print(f"{kind:14} {counts.right[kind]:4} of {count}  {taken or ''}")
    figures = counts.figures
    right, of = sum(counts.right.values()), sum(counts.all.values())
    print(f"shape right: {right} of {of} ({right / of:.1%}); the peer knows no shapes")
    leaks, near = figures["leaks"], figures["near"]
    print(
        f"forecast within {NEAR:.0%} at {WAY:.0%} of the way: {near} of {leaks}"
        f" ({near / leaks:.1%}), peer {figures['near, peer']};"
        f" {leaks - figures['foretold']} abstained, {figures['within']} within the interval"
    )
    print(
        f"forecasts of what is no leak: {figures['false']} of {figures['no leaks']},"
        f" peer {figures['false, peer']}"
    )
    print(
        f"healthy: {figures['alarm']} alarms and {figures['healthy foretold']} forecasts"
        f" on {figures['healthy']}, peer {figures['alarm, peer']} alarms"
    )
    quiet = not figures["alarm"] and not figures["healthy foretold"]
    return right >= LEAST_RIGHT * of and near >= LEAST_FORECASTS * leaks and quiet


def main(arguments: Sequence[str] | None = None) -> int:
    """Count and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=100_000, help="the first seed")
    parser.add_argument("--count", type=int, default=100 * (len(GROWING) + 4))
    parser.add_argument("--wrong", action="store_true", help="name what was wrong")
    given = parser.parse_args(arguments)
    counts = Counts()
    for seed in range(given.first, given.first + given.count):
        counts.take(seed, draw(seed))
    reached = report(counts)
    found = list(real_curves())
    right = [shape == one.shape and grew == one.grows for one, shape, grew in found]
    print(f"real: {sum(right)} of {len(right)} right")
    for one, shape, grew in found:
        if (shape, grew) != (one.shape, one.grows):
            print(f"  {one.source}: {one.shape} taken for {shape}, grows: {grew}")
    if given.wrong:
        print("\n".join(counts.wrong))
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
