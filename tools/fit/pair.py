"""What a fit learns from."""

from __future__ import annotations

from typing import NamedTuple


class Pair(NamedTuple):
    """A candidate of a case: prior log-odds, signed votes that counted, and what the label says.

    `holds`: what worked stands among its changes. `right` None: it holds that too, but another
    candidate explains the case, so nothing is learnt of this one.
    """

    case: int
    cause: str
    prior: float
    votes: tuple[tuple[str, float], ...]
    holds: bool
    right: bool | None
