"""What readers of card listings have in common: a card, and what all of them tell together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from trainrx.evidence.readers._printed import PrintedLine
from trainrx.model.curves import Curve, Quantity
from trainrx.model.facts import Fact
from trainrx.model.ranks import ranges

IDLE, BUSY = 0, 90
"""Per cent of its time in which a card computes, or waits within a kernel for others."""
IN_USE = 1.0
"""GiB on a card from which on a job has it."""


class Card(msgspec.Struct, kw_only=True):
    """What is shown of one card."""

    index: int
    line: PrintedLine
    used: float | None = None
    total: float | None = None
    load: int | None = None
    uncorrected: int | None = None
    waits_for_reset: bool = False
    recovery: str = ""
    throttled: str = ""
    broken: bool = False


class Round(msgspec.Struct, kw_only=True):
    """What was read of all cards at one time; `at` in seconds, where it is known."""

    cards: list[Card]
    at: float | None = None


MOST_READINGS = 4096


def card_curves(source: str, rounds: Sequence[Round]) -> Iterator[Curve]:
    """Give the memory and the use of each card over time, or else over the readings."""
    timed = all(one.at is not None for one in rounds)
    thinned = rounds[:: len(rounds) // MOST_READINGS + 1]
    places = [one.at or 0.0 if timed else float(i) for i, one in enumerate(thinned)]
    readings: dict[tuple[Quantity, int], list[tuple[float, float, Card]]] = {}
    for place, one in zip(places, thinned, strict=True):
        for card in one.cards:
            if card.used is not None:
                readings.setdefault(("memory", card.index), []).append((place, card.used, card))
            if card.load is not None:
                found = readings.setdefault(("utilisation", card.index), [])
                found.append((place, float(card.load), card))
    for (quantity, index), found in readings.items():
        yield Curve(
            quantity=quantity,
            source=source,
            at=tuple(place - found[0][0] for place, _, _ in found),
            values=tuple(value for _, value, _ in found),
            lines=tuple(card.line.origin.line or 0 for _, _, card in found),
            by="second" if timed else "reading",
            unit="card",
            number=index,
            limit=found[-1][2].total if quantity == "memory" else None,
        )


def card_facts(cards: Sequence[Card]) -> Iterator[Fact]:
    """Say what the cards tell together."""
    counted = [card for card in cards if card.uncorrected is not None]
    if counted:
        worst = max(counted, key=lambda card: card.uncorrected or 0)
        yield worst.line.says("gpu.uncorrected_errors", worst.uncorrected or 0)
    for card in cards:
        if card.waits_for_reset:
            yield card.line.says("gpu.memory_needs_reset", value=True)
        if card.recovery:
            yield card.line.says("gpu.recovery_action", card.recovery)
        if card.throttled:
            yield card.line.says("gpu.throttled", card.throttled)
        if card.broken:
            yield card.line.says("gpu.unreadable", str(card.index))
    own = [card for card in cards if card.used is not None and card.used >= IN_USE]
    idle = [card for card in own if card.load is not None and card.load <= IDLE]
    busy = [card for card in own if card.load is not None and card.load >= BUSY]
    if idle and busy and len(idle) + len(busy) == len(own):
        yield idle[0].line.says("gpu.idle_among_busy", ranges(card.index for card in idle))


def programs(seen: Iterable[tuple[str, str, PrintedLine]]) -> Iterator[Fact]:
    """Count the programs on a card, from the card, the process and the line of each."""
    first: dict[tuple[str, str], PrintedLine] = {}
    for card, pid, line in seen:
        first.setdefault((card, pid), line)
    counts = Counter(card for card, _ in first)
    if counts:
        fullest, most = counts.most_common(1)[0]
        line = next(line for (card, _), line in first.items() if card == fullest)
        yield line.says("gpu.processes_on_a_card", most)
