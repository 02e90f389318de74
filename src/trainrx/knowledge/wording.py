"""The kind of failure a note tells of by its words, where no known phrase says it.

People say "nothing moves", "it just sits there", or what nobody wrote a pattern for. The model is
fitted on labelled notes (`make fit`); it is asked last, and what it says is marked as such.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from trainrx.knowledge.places import held_in, shipped_root
from trainrx.knowledge.words import words_of
from trainrx.model.errors import KnowledgeError
from trainrx.model.fitted import Wording, WordingVerdict

if TYPE_CHECKING:
    from pathlib import Path

FILE = "wording.json"
MOST = 4000
"""Characters of a note that are read: a report, not a log pasted as one."""
SHOWN = 3
FEWEST = 3
"""Words known to the model below which a note says too little."""


@lru_cache(maxsize=4)
def read_wording(root: Path | None = None) -> Wording | None:
    """Read the fitted model; None where none is shipped.

    Raises:
        KnowledgeError: the file is not what `make fit` writes.
    """
    path = f"{root or shipped_root() / 'kb'}/{FILE}"
    data = held_in(path)
    if data is None:
        return None
    try:
        wording = msgspec.json.decode(data, type=Wording)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise KnowledgeError(path, "", str(error)) from error
    columns = len(wording.faces) + 1
    if any(len(row) != columns for row in (wording.constants, *wording.words.values())):
        raise KnowledgeError(path, "words", f"expected {columns} weights for each word")
    return wording


def told_by_words(text: str, wording: Wording) -> WordingVerdict | None:
    """Give the kind of failure the words of a note speak for; None where they leave it open."""
    known = {word: wording.words[word] for word in words_of(text[:MOST]) if word in wording.words}
    if len(known) < FEWEST:
        return None
    odds = [sum(column) for column in zip(wording.constants, *known.values(), strict=True)]
    top = max(odds)
    shares = [math.exp(value - top) for value in odds]
    best = max(range(len(shares)), key=shares.__getitem__)
    probability = shares[best] / sum(shares)
    if best >= len(wording.faces) or probability < wording.least:
        return None
    spoke = sorted(known, key=lambda word: (-known[word][best], word))[:SHOWN]
    return WordingVerdict(
        family=tuple(wording.faces)[best],
        probability=probability,
        words=tuple(word for word in spoke if known[word][best] > 0),
    )
