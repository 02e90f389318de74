"""How many processes the program of a framework starts by itself."""

from __future__ import annotations

import msgspec

from trainrx.frameworks.common.view import Truth

_MOST_DIGITS = 6


class Processes(msgspec.Struct, frozen=True):
    """How many processes the job has, and whether a launcher starts them."""

    world_size: int | None = None
    distributed: Truth = None


def times(*texts: str | None) -> int | None:
    """Multiply counts; None when one of them is no plain number."""
    product = 1
    for text in texts:
        if not text or len(text) > _MOST_DIGITS or not (text.isascii() and text.isdecimal()):
            return None
        product *= int(text)
    return product
