"""What the words of a note say of the kind of failure: a fitted model's numbers."""

from __future__ import annotations

import msgspec

from trainrx.model.knowledge import Family


class Wording(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Multinomial logistic regression over the words of a note.

    `faces` names the observation that stands for each kind, in the order of the weights; behind
    them stands one weight for "no failure at all". `constants` are its intercepts, `words` the
    weights of each word (nats). `least` is the probability below which nothing is said, `notes`
    how many notes it was fitted on.
    """

    faces: dict[Family, str]
    constants: tuple[float, ...]
    words: dict[str, tuple[float, ...]]
    least: float
    notes: int


class WordingVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """The kind of failure a note tells of by its words: how sure, and which words say so most."""

    family: Family
    probability: float
    words: tuple[str, ...]
