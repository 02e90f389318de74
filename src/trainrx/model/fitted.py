"""What is fitted or counted on cases and notes: generated, never typed."""

from __future__ import annotations

import msgspec

from trainrx.model.knowledge import Family


class FittedCause(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How one cause fared.

    `cases` are those it was a candidate in, `right` those in which one of its fixes worked. `shift`
    is added to the log-odds of its prior; `votes` to the weights of its evidence, by id, with the
    number of cases each counted in. All in nats.
    """

    cases: int
    right: int
    shift: float = 0.0
    votes: dict[str, tuple[float, int]] = {}


class Fitted(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The result of a fit: log-odds become `intercept` + `slope` x themselves.

    `cases` is the number of labelled cases, `pairs` that of their candidates; `prior_sd` and
    `weight_sd` say how far the fit may go from an author's judgement (nats).
    """

    schema: int
    cases: int
    pairs: int
    prior_sd: float
    weight_sd: float
    slope: float
    intercept: float
    causes: dict[str, FittedCause]


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


class WordIndex(msgspec.Struct, frozen=True, kw_only=True):
    """An inverted index of the causes' descriptions.

    `words` gives of each word how rare it is (its inverse document frequency) and then, cause by
    cause, the place in `causes` and the weight of the word there. Both in hundredths, as integers
    are stored and read faster than floats.
    """

    causes: tuple[str, ...]
    words: dict[str, tuple[int, ...]]
