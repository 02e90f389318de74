"""Where no cause is likely: those whose entries are written in the words of what was seen.

Most failures nobody wrote a signature for still have their cause among the entries. On four sets
of labelled threads (172), each asked of the knowledge as it was before anybody had read them, a fix
that worked stood under one of the first three causes in 75 without the nearest entries and in 95
with them; under the first in 66 and 73.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import msgspec

from trainrx.knowledge.words import HUNDREDTHS, words_of
from trainrx.model.fitted import WordIndex
from trainrx.model.knowledge import Cause, Family
from trainrx.model.result import Reason
from trainrx.model.text import Lang, Text
from trainrx.reason.order import LIKELY, SUSPECTED, USUAL, Ranking
from trainrx.reason.score import Scored, logit

PRIOR = 0.03
"""How likely a cause is of which nothing but some words speaks."""
NATS = 2.4
"""Weight of a description that holds every word of what was seen."""
SAME_FAMILY = 0.2
"""Weight of being filed under the kind of failure that was seen, in nats. With all three together
words still make no suspicion; of the causes so named one in four had a fix that worked."""
MOST = logit(SUSPECTED) - 0.01
"""Nor do they make one of a cause that is merely common."""
ANY_FACE: tuple[Family, ...] = ("config_error", "version_conflict", "crash_other")
"""Kinds that show themselves as any other: a wrong setting may end in an OOM or a hang."""
PAIR = 0.5
"""Weight of a pair of Chinese signs: most words of two are in three pairs."""
BEHIND = 0.01
"""Nats by which words stay behind evidence."""
SUPPORTED = 0.05
"""From here on a cause that evidence speaks for goes before any that only words do."""
LEAST = 0.1
"""Share of the words, by rarity, below which a text is not near."""
LEAST_UNSEEN = 0.25
"""The same where no failure was recognised: then the words are all there is."""
ENOUGH = 50 * HUNDREDTHS
"""Rarity of some ten words: a shorter text shares less with anything."""
LOOKED_AT = 15
SHOWN = 4
REASON = "nearest-in-words"
WHY = Text(
    en="No evidence, only kinship: of all known causes its entry is among the nearest in words"
    " to what was seen ({words}).",
    zh="没有直接证据，只是用词相近：在全部已知原因中，它的描述与所见内容最接近（{words}）。",
)


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


def has_room(ranking: Ranking) -> bool:
    """Tell whether an answer leaves open what happened."""
    supported = [item for item in ranking.causes if _is_supported(item)]
    return len(supported) < USUAL and all(item.probability < LIKELY for item in supported)


def with_nearest(
    ranking: Ranking,
    near: Sequence[tuple[Near, Cause]],
    seen: Collection[Family],
    lang: Lang,
) -> Ranking:
    """Let the nearest causes take part in the first places that evidence leaves open.

    Args:
        ranking: the causes as evidence orders them.
        near: the nearest that nothing rules out, with their entries.
        seen: the kinds of failure that were seen, as far as they are known.
        lang: language of the reason.
    """
    near = [(item, cause) for item, cause in near if _is_such(cause, seen)]
    shares = {item.cause: item for item, _ in near}
    supported = [item for item in ranking.causes if _is_supported(item)]
    named = [item for item in ranking.causes if item not in supported]
    own = {item.cause.id for item in ranking.causes}
    further = [_bare(cause) for _, cause in near if cause.id not in own]
    limit = min([MOST, *(item.score - BEHIND for item in supported)])
    voted = [
        (item.score, item)
        if (found := shares.get(item.cause.id)) is None
        else _voted(item, found, _weight(item.cause, found, seen), limit, lang)
        for item in (*named, *further)
    ]
    order = [item for _, item in sorted(voted, key=lambda pair: (-pair[0], pair[1].cause.id))]
    room = max(USUAL - len(supported), 0)
    rest = [item for item in order[room:] if item.cause.id in own]
    # where the limit makes them equal, the nearer stands first
    causes = sorted((*supported, *order[:room], *rest), key=lambda item: -item.score)
    return msgspec.structs.replace(ranking, causes=tuple(causes))


def _is_supported(item: Scored) -> bool:
    return item.supported and item.probability >= SUPPORTED


def _bare(cause: Cause) -> Scored:
    return Scored(cause=cause, prior=PRIOR, score=logit(PRIOR), reasons=(), supported=False)


def _is_such(cause: Cause, seen: Collection[Family]) -> bool:
    known = set(seen) - {"crash_other"}
    return not known or cause.family in known or cause.family in ANY_FACE


def _weight(cause: Cause, near: Near, seen: Collection[Family]) -> float:
    return NATS * near.share + SAME_FAMILY * (cause.family in seen)


def _voted(
    item: Scored, near: Near, weight: float, limit: float, lang: Lang
) -> tuple[float, Scored]:
    """Give a cause with the vote of the words, which brings it no higher than the limit.

    Before it stands what the score would be without one.
    """
    counted = min(weight, max(0.0, limit - item.score))
    why = WHY.in_(lang).format(words=", ".join(near.words))
    reason = Reason(id=REASON, text=why, weight=round(counted, 2), holds=True)
    voted = msgspec.structs.replace(
        item, score=item.score + counted, reasons=(*item.reasons, reason)
    )
    return item.score + weight, voted
