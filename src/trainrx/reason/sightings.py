"""Fewer facts where a log shows the same thing over and over, so that reasoning stays bounded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from trainrx.model.facts import Fact, identity
from trainrx.reason.base import comparable


def spread(facts: Iterable[Fact], most: int) -> tuple[list[Fact], int]:
    """Keep at most `most` facts of each kind, and say how many were left out.

    The earliest of every rank stay first, then the second of every rank, and so on: who was first
    and which ranks are concerned is what rules ask about.
    """
    by_kind: dict[str, list[Fact]] = defaultdict(list)
    for fact in sorted(facts, key=_time):
        by_kind[fact.kind].append(fact)
    kept: list[Fact] = []
    left_out = 0
    for of_kind in by_kind.values():
        kept += of_kind if len(of_kind) <= most else _by_turns(of_kind)[:most]
        left_out += max(0, len(of_kind) - most)
    return kept, left_out


def _by_turns(facts: Sequence[Fact]) -> list[Fact]:
    turn: dict[object, int] = defaultdict(int)
    order: list[tuple[int, int]] = []
    for at, fact in enumerate(facts):
        rank = repr(fact.get("rank"))
        order.append((turn[rank], at))
        turn[rank] += 1
    return [facts[at] for _, at in sorted(order)]


def _time(fact: Fact) -> tuple[object, ...]:
    at = comparable(fact.get("at"))
    number = at if isinstance(at, (int, float)) else float("inf")
    return (number, *identity(fact))
