"""Cards that more failures of their node name than chance gives to one of its cards.

The log of a job that ran well names no card, so that a card is compared with the others of its
node: of `n` failures that name one, each of `g` cards gets `n / g` by chance (binomial law).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from math import comb

from trainrx.fleet.across.runs import RanJob
from trainrx.fleet.across.suspects import LEVEL, Suspect

CARDS = 8
"""Cards of a node, where it has not shown more."""
LEAST = 3
"""Failures a card must have been named in."""
_BUS = re.compile(r"PCI:(?:[0-9a-f]{4,8}:)?([0-9a-f]{2}:[0-9a-f]{2})", re.IGNORECASE)


def card_suspects(runs: Sequence[RanJob]) -> tuple[Suspect, ...]:
    """Name the cards suspected, the surest first: `node PCI bus:device`."""
    nodes: dict[str, Counter[str]] = defaultdict(Counter)
    for run in runs:
        if run.kind is not None:
            for node, card in _named(run):
                nodes[node][card] += 1
    tested = sum(max(CARDS, len(cards)) for cards in nodes.values())
    found = [suspect for node, cards in nodes.items() for suspect in _of_node(node, cards, tested)]
    return tuple(sorted(found, key=lambda one: (one.corrected, one.name)))


def _named(run: RanJob) -> Iterator[tuple[str, str]]:
    """Give the cards the lines of a failure name; whose they are is known of a single node."""
    if len(run.answer.nodes) == 1:
        text = "\n".join(run.answer.quoted)
        cards = {found[1].lower() for found in _BUS.finditer(text)}
        yield from ((run.answer.nodes[0], card) for card in cards)


def _of_node(node: str, cards: Counter[str], tested: int) -> Iterator[Suspect]:
    total, share = sum(cards.values()), 1 / max(CARDS, len(cards))
    for card, count in cards.items():
        p = _binomial_tail(total, share, count)
        if count >= LEAST and p * tested <= LEVEL:
            yield Suspect(
                axis="card",
                name=f"{node} PCI {card}",
                kind="",
                jobs=count,
                failed=count,
                other_jobs=total - count,
                other_failed=total - count,
                expected=round(total * share, 2),
                p=p,
                corrected=min(1.0, p * tested),
            )


def _binomial_tail(total: int, share: float, least: int) -> float:
    return sum(
        comb(total, count) * share**count * (1 - share) ** (total - count)
        for count in range(least, total + 1)
    )
