"""What a fit learns from."""

from __future__ import annotations

from typing import NamedTuple


class Pair(NamedTuple):
    """A candidate of a case: prior log-odds, signed votes that counted, whether a fix worked."""

    case: int
    cause: str
    prior: float
    votes: tuple[tuple[str, float], ...]
    right: bool
