"""The words of causes, for finding the entries nearest to a text (Okapi BM25).

BM25 as of Robertson and Zaragoza, The Probabilistic Relevance Framework (2009), eq. 3.15. Written
here because the packages that have it (rank-bm25, bm25s) bring numpy along, and weigh each query
against texts they keep, where this index is made once and stored with the knowledge.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from trainrx.knowledge.conditions import symptoms_of
from trainrx.knowledge.store import Knowledge
from trainrx.model.fitted import WordIndex
from trainrx.model.knowledge import Cause, Symptom

SATURATION = 1.0
"""BM25's k1: how soon a word repeated counts no more."""
LENGTH = 0.4
"""BM25's b: how far a long description is held against its words."""
HUNDREDTHS = 100
SHARED = 10
"""A symptom more causes have in common says little of each."""
SAMPLES = 6
VOTED = 0.5
"""Weight of the words of a symptom that only a vote asks for."""
LONG = 4
_STOP = (
    "a about after all also always an and any are as at be been before both but by can cannot "
    "could did do does each even every few for from get gets got had has have how however i if "
    "in into is it its just like many more most much my no not of off on once one only or other "
    "our out over own same set since so some still such than that the their them then there "
    "these they this those though through to too two under until up upon use used uses using "
    "very want was we well were what when where which while who why will with without would yet "
    "you your"
)
STOPWORDS = frozenset(_STOP.split())
_WORD = re.compile(r"[a-z_][a-z0-9_]+(?:\.[a-z_][a-z0-9_]+)*|[\u4e00-\u9fff]+")
_PART = re.compile(r"[._]")


def words_of(text: str) -> Iterator[str]:
    """Cut a text into words: names whole and in parts, plurals as one, pairs of Chinese signs."""
    for word in _WORD.findall(text.lower()):
        if word[0] >= "\u4e00":
            yield from (word[i : i + 2] for i in range(max(1, len(word) - 1)))
            continue
        if word in STOPWORDS:
            continue
        parts = [part for part in _PART.split(word) if len(part) > 2]
        for part in (word, *(parts if len(parts) > 1 else ())):
            yield part[:-1] if len(part) > LONG and part.endswith("s") else part


def with_words(knowledge: Knowledge) -> Knowledge:
    """Add the index of the causes' words, encoded: few runs ask for it."""
    return msgspec.structs.replace(knowledge, words=msgspec.msgpack.encode(index_of(knowledge)))


def read_index(knowledge: Knowledge) -> WordIndex:
    """Give the index of the causes' words; made anew for knowledge that came without one."""
    if not knowledge.words:
        return index_of(knowledge)
    return msgspec.msgpack.decode(knowledge.words, type=WordIndex)


def index_of(knowledge: Knowledge) -> WordIndex:
    """Count the words of each cause's entry and of the symptoms it speaks of."""
    causes = tuple(cause for cause in knowledge.causes.values() if cause.fixes)
    behind = Counter(name for cause in causes for name in cause.explains)
    counts = [_counted(cause, knowledge.symptoms, behind) for cause in causes]
    lengths = [sum(found.values()) for found in counts]
    mean = sum(lengths) / max(1, len(lengths))
    holders = Counter(word for found in counts for word in found)
    rarity = {
        word: math.log(1 + (len(causes) - n + 0.5) / (n + 0.5)) for word, n in holders.items()
    }
    words: dict[str, list[int]] = {w: [round(HUNDREDTHS * rare)] for w, rare in rarity.items()}
    for place, (found, length) in enumerate(zip(counts, lengths, strict=True)):
        damped = SATURATION * (1 - LENGTH + LENGTH * length / mean)
        for word, count in found.items():
            weight = rarity[word] * count * (SATURATION + 1) / (count + damped)
            words[word] += (place, round(HUNDREDTHS * weight))
    return WordIndex(
        causes=tuple(cause.id for cause in causes),
        words={word: tuple(held) for word, held in words.items()},
    )


def _counted(
    cause: Cause, symptoms: Mapping[str, Symptom], behind: Mapping[str, int]
) -> dict[str, float]:
    counts: dict[str, float] = {}
    voted = {name for vote in cause.evidence.supports for name in symptoms_of(vote.when)}
    telling = [name for name in cause.explains if behind[name] <= SHARED]
    for texts, weight in (
        (_own_texts(cause), 1.0),
        (_texts_of(telling, symptoms), 1.0),
        (_texts_of(sorted(voted), symptoms), VOTED),
    ):
        for text in texts:
            for word in words_of(text):
                counts[word] = counts.get(word, 0.0) + weight
    return counts


def _own_texts(cause: Cause) -> Iterator[str]:
    yield cause.id.replace("-", " ")
    yield from cause.aliases
    texts = [cause.title, cause.summary, *(vote.why for vote in cause.evidence.supports)]
    for fix in cause.fixes:
        texts += [fix.title] if fix.steps is None else [fix.title, fix.steps]
        yield from (measure.param for measure in fix.measures)
        yield from fix.set
        yield from (package.name for package in fix.packages)
    for text in texts:
        yield from (text.en, text.zh)


def _texts_of(names: Iterable[str], symptoms: Mapping[str, Symptom]) -> Iterator[str]:
    for symptom in (symptoms[name] for name in names if name in symptoms):
        yield from (symptom.title.en, symptom.title.zh, *symptom.samples.match[:SAMPLES])
