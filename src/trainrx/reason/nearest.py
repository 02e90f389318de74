"""Where no cause is likely: the entries written in the words of what was seen, to read.

Words are no evidence: of the causes named by them one in four had a fix that worked. So they make
no cause and bring no fix.
"""

from __future__ import annotations

import math
from collections.abc import Collection

import msgspec

from trainrx.knowledge.words import HUNDREDTHS, words_of
from trainrx.model.fitted import WordIndex
from trainrx.model.knowledge import Cause, Family

ANY_FACE: tuple[Family, ...] = ("config_error", "version_conflict", "crash_other")
"""Kinds that show themselves as any other: a wrong setting may end in an OOM or a hang."""
PAIR = 0.5
"""Weight of a pair of Chinese signs: most words of two are in three pairs."""
LEAST = 0.1
"""Share of the words, by rarity, below which a text is not near."""
ENOUGH = 50 * HUNDREDTHS
"""Rarity of some ten words: a shorter text shares less with anything."""
LOOKED_AT = 15
SHOWN = 4


class Near(msgspec.Struct, frozen=True, kw_only=True):
    """A cause whose entry is near: the share of the words it holds, 0 to 1, and the rarest."""

    cause: str
    share: float
    words: tuple[str, ...]


def nearest(text: str, index: WordIndex) -> tuple[Near, ...]:
    """Give the causes nearest to a text, best first."""
    asked = {word: 1.0 if word.isascii() else PAIR for word in words_of(text)}
    known = {word: index.words[word] for word in asked if word in index.words}
    rarest = HUNDREDTHS * math.log(1 + len(index.causes))
    whole = math.fsum(asked[w] * (known[w][0] if w in known else rarest) for w in asked)
    whole = max(whole, ENOUGH)
    sums: dict[int, float] = {}
    for word, postings in known.items():
        for place, weight in zip(postings[1::2], postings[2::2], strict=True):
            sums[place] = sums.get(place, 0.0) + asked[word] * weight
    best = sorted(sums, key=lambda place: (-sums[place], index.causes[place]))[:LOOKED_AT]
    return tuple(
        Near(
            cause=index.causes[place],
            share=min(1.0, sums[place] / whole),
            words=_telling(place, known),
        )
        for place in best
        if sums[place] >= LEAST * whole
    )


def _telling(place: int, known: dict[str, tuple[int, ...]]) -> tuple[str, ...]:
    postings = [word for word, postings in known.items() if place in postings[1::2]]
    return tuple(sorted(postings, key=lambda word: -known[word][0])[:SHOWN])


def of_kind(cause: Cause, seen: Collection[Family]) -> bool:
    """Tell whether a cause can show itself as a kind of failure that was seen."""
    known = set(seen) - {"crash_other"}
    return not known or cause.family in known or cause.family in ANY_FACE
