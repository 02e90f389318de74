"""Sets of releases as ranges, as pip takes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

OR = "|"
"""Stands between the ranges of what went and came back."""


def spec_of(mask: int, releases: Sequence[str]) -> str:
    """Give a set of releases as ranges; what the first or last one has is open at that end."""
    return OR.join(_range(first, end, releases) for first, end in runs(mask))


def runs(mask: int) -> Iterator[tuple[int, int]]:
    """Give each stretch of set bits: its first, and the one behind its last."""
    at = 0
    while mask >> at:
        if not mask >> at & 1:
            at += 1
            continue
        end = at
        while mask >> end & 1:
            end += 1
        yield at, end
        at = end


def _range(first: int, end: int, releases: Sequence[str]) -> str:
    parts = [f">={releases[first]}"] if first else []
    parts += [f"<{releases[end]}"] if end < len(releases) else []
    return ",".join(parts)
