"""Frameworks by what is so of them."""

from __future__ import annotations

from trainrx.frameworks import frameworks


def having(trait: str) -> frozenset[str]:
    """Give the frameworks of which something is so."""
    return frozenset(one.name for one in frameworks() if getattr(one, trait))
