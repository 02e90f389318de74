"""What labelled cases say of the weights and priors of causes: generated, never typed."""

from __future__ import annotations

import msgspec


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
