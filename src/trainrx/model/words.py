"""The words that the causes of the knowledge are described in."""

from __future__ import annotations

import msgspec


class WordIndex(msgspec.Struct, frozen=True, kw_only=True):
    """An inverted index of the causes' descriptions.

    `words` gives of each word how rare it is (its inverse document frequency) and then, cause by
    cause, the place in `causes` and the weight of the word there. Both in hundredths, as integers
    are stored and read faster than floats.
    """

    causes: tuple[str, ...]
    words: dict[str, tuple[int, ...]]
