"""Hits counted and sampled: the first few per rank and the last, however many there are."""

from __future__ import annotations

import re
from collections import Counter

from trainrx.model.facts import MAX_QUOTE, Scalar
from trainrx.model.job import Hit, SymptomHits

FIRST = 3
"""Hits kept per signature and rank, besides the last."""
MOST = 256
"""Ranks (or cards) told apart per signature."""

Key = tuple[int | None, Scalar | None]
"""Who a hit belongs to: its rank, and the card it names."""


class Bucket:
    """The hits of one signature by one rank."""

    __slots__ = ("count", "first", "last")

    def __init__(self) -> None:
        self.count = 0
        self.first: list[Hit] = []
        self.last: Hit | None = None

    def wants(self) -> bool:
        """Tell whether the next hit is to be kept in full."""
        return len(self.first) < FIRST

    def hits(self) -> tuple[Hit, ...]:
        """Give the sampled hits in order."""
        return (*self.first, *((self.last,) if self.last is not None else ()))


class Tally:
    """All hits of all signatures in one log, by signature id; `repeats` are only counted."""

    def __init__(self) -> None:
        self.buckets: dict[str, dict[Key, Bucket]] = {}
        self.repeats: Counter[str] = Counter()

    def bucket(self, symptom: str, key: Key) -> Bucket:
        """Give the place for a signature's hits by one rank; ranks beyond the limit share one."""
        of_symptom = self.buckets.setdefault(symptom, {})
        found = of_symptom.get(key)
        if found is None:
            if len(of_symptom) >= MOST:
                key = (None, None)
            found = of_symptom.setdefault(key, Bucket())
        return found


def summed(tallies: list[Tally]) -> tuple[SymptomHits, ...]:
    """Put the tallies of several logs together; hits in the order of time, then of the logs."""
    found: list[SymptomHits] = []
    for symptom in dict.fromkeys(name for tally in tallies for name in tally.buckets):
        parts = [bucket for tally in tallies for bucket in tally.buckets.get(symptom, {}).values()]
        hits = sorted((hit for bucket in parts for hit in bucket.hits()), key=moment)
        ranks = sorted({hit.rank for hit in hits if hit.rank is not None})
        found.append(
            SymptomHits(
                symptom=symptom,
                count=sum(bucket.count for bucket in parts)
                + sum(tally.repeats[symptom] for tally in tallies),
                hits=tuple(hits),
                ranks=tuple(ranks),
            )
        )
    found.sort(key=lambda item: moment(item.hits[0]))
    return tuple(found)


def moment(hit: Hit) -> float:
    """Give a hit's place in time."""
    return hit.line if hit.at is None else hit.at


def quote(text: str, match: re.Match[str] | None = None) -> str:
    """Shorten a line to what may be quoted, around the match if the line is long."""
    if len(text) > MAX_QUOTE:
        start = 0 if match is None else max(0, min(match.start() - 40, len(text) - MAX_QUOTE))
        # begin with a whole word where one ends within reach
        blank = text.find(" ", max(0, start - 1), start + 40)
        start = blank + 1 if start and blank >= 0 else start
        text = text[start : start + MAX_QUOTE]
    return text.strip().replace("\0", "")
