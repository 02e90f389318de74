"""How much an observation is expected to say about which of several causes is at work."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from trainrx.reason.score import Scored

OTHER = 0.3
"""Weight of a cause that nobody wrote down: no observation speaks for or against it."""
NOBODY = ""
"""Its name."""

Shifts = Mapping[str, float]
"""What an outcome does to the log-odds of causes, in nats; those it leaves alone may be absent."""


def shares(scored: Sequence[Scored]) -> dict[str, float]:
    """Give the share each cause has of what was seen, what nobody wrote down included."""
    weights = {item.cause.id: item.probability for item in scored} | {NOBODY: OTHER}
    whole = math.fsum(weights.values())
    return {name: weight / whole for name, weight in weights.items()}


def entropy(now: Mapping[str, float]) -> float:
    """Give how much there is to know of which cause is at work, in bits."""
    return -math.fsum(share * math.log2(share) for share in now.values() if share > 0)


def information(
    now: Mapping[str, float], outcomes: Sequence[Shifts], bases: Sequence[float] = ()
) -> float:
    """Give the entropy of the causes now minus the one expected once the outcome is known, in bits.

    Each cause expects an outcome by what it does to the cause: as e to the shift. Outcomes that do
    the same to all causes tell nothing.

    Args:
        now: the share of each cause; they sum to one.
        outcomes: what can come out, as what it does to each cause.
        bases: how likely each is for a cause it leaves alone (nats); all the same where not given.
    """
    likely_as = list(bases) or [0.0] * len(outcomes)
    concerned = {name for shifts in outcomes for name in shifts}
    others = _expected(NOBODY, outcomes, likely_as)
    expected = {
        name: _expected(name, outcomes, likely_as) if name in concerned else others for name in now
    }
    gained = []
    for at in range(len(outcomes)):
        whole = math.fsum(share * expected[name][at] for name, share in now.items())
        gained += [
            share * likely * math.log2(likely / whole)
            for name, share in now.items()
            if (likely := expected[name][at]) > 0 and share > 0
        ]
    return max(0.0, math.fsum(gained))


def _expected(cause: str, outcomes: Sequence[Shifts], bases: Sequence[float]) -> list[float]:
    """Give how likely a cause makes each outcome."""
    weights = [
        math.exp(shifts.get(cause, 0.0) + base)
        for shifts, base in zip(outcomes, bases, strict=True)
    ]
    whole = math.fsum(weights)
    return [weight / whole for weight in weights]
