"""Apply what was fitted on labelled cases to the weights and priors authors judged.

A cause whose claims nothing compared with a source yet counts a little less.
"""

from __future__ import annotations

import math
from collections.abc import Container, Mapping

import msgspec

from trainrx.model.fitted import Fitted, FittedCause
from trainrx.model.knowledge import Cause, Evidence, PriorCase

FILE = "ranking.yaml"
LEAST = 0.05
"""A vote that holds never speaks for the other side, however few cases bear it out (nats)."""
UNVERIFIED = 0.05
"""What is taken from the log-odds of a cause that only its author compared with its sources (nats).

Of 70 entries that others compared 5 were wrong, so the odds lose a twentieth: enough to decide
between causes that stand level. With twice as much one recorded case lost its verdict."""
NOT_FITTED = FittedCause(cases=0, right=0)


def with_fit(
    causes: Mapping[str, Cause], fitted: Fitted | None, unverified: Container[str] = ()
) -> dict[str, Cause]:
    """Give causes with fitted weights and priors; as they are when nothing was fitted.

    The calibration is folded in, so that a score is still the sum of its parts.
    """
    if fitted is None:
        return dict(causes)
    return {
        ident: _refit(
            cause,
            fitted.causes.get(ident, NOT_FITTED),
            fitted,
            less=UNVERIFIED if ident in unverified else 0.0,
        )
        for ident, cause in causes.items()
    }


def _refit(cause: Cause, own: FittedCause, fitted: Fitted, *, less: float) -> Cause:
    def prior(value: float) -> float:
        odds = math.log(value / (1.0 - value)) + own.shift
        return 1.0 / (1.0 + math.exp(less - (fitted.intercept + fitted.slope * odds)))

    def votes(listed: tuple[Evidence, ...], sign: int) -> tuple[Evidence, ...]:
        return tuple(
            msgspec.structs.replace(
                vote, weight=fitted.slope * max(vote.weight + sign * _shift(own, vote.id), LEAST)
            )
            for vote in listed
        )

    return msgspec.structs.replace(
        cause,
        prior=prior(cause.prior),
        priors=tuple(PriorCase(when=case.when, prior=prior(case.prior)) for case in cause.priors),
        evidence=msgspec.structs.replace(
            cause.evidence,
            supports=votes(cause.evidence.supports, 1),
            contradicts=votes(cause.evidence.contradicts, -1),
        ),
    )


def _shift(own: FittedCause, vote: str) -> float:
    return own.votes[vote][0] if vote in own.votes else 0.0
