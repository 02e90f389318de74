"""Numbers as Python and YAML 1.2 write them."""

from __future__ import annotations

from trainrx.model.facts import INFINITE

MAX_DIGITS = 40


def read_number(text: str) -> float | None:
    """Read a finite number as Python and YAML 1.2 write it; None when it is none."""
    if len(text) > MAX_DIGITS:
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if -INFINITE < number < INFINITE else None
