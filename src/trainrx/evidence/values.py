"""What a signature captured, in the unit its entry promises."""

from __future__ import annotations

import math
import re

from trainrx.model.facts import Scalar
from trainrx.model.knowledge import CaptureType

SIZE = re.compile(r"([\d.,]{1,30})\s*([KMGT]?)(i?B|bytes?)?", re.IGNORECASE)
GIB = {"": 2.0**-30, "K": 2.0**-20, "M": 2.0**-10, "G": 1.0, "T": 2.0**10}
TIME = re.compile(r"([\d.,]{1,30})\s*(ms|milliseconds?|s|sec|seconds?|m|min|minutes?|h|hours?)?\b")
SECONDS = {"ms": 0.001, "mi": 60.0, "m": 60.0, "h": 3600.0, "ho": 3600.0}


def typed(text: str, kind: CaptureType) -> Scalar | None:
    """Read a captured text; None when it is not what its type says."""
    if kind == "text":
        return text
    if kind == "gib":
        return gib(text)
    if kind == "seconds":
        return duration(text)
    value = number(text)
    if value is None or kind == "float":
        return value
    return int(value)


def number(text: str) -> float | None:
    """Read a finite number, thousands separated by commas or not."""
    try:
        value = float(text.replace(",", "").strip())
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def gib(text: str) -> float | None:
    """Read an amount of memory in GiB; a bare number is GiB, `bytes` and `B` are bytes."""
    found = SIZE.search(text)
    value = number(found[1]) if found else None
    if found is None or value is None:
        return None
    prefix = found[2].upper()
    if not prefix and not found[3]:
        return value
    return round(value * GIB[prefix], 6)


def duration(text: str) -> float | None:
    """Read a time in seconds; a bare number is seconds."""
    found = TIME.search(text)
    value = number(found[1]) if found else None
    if found is None or value is None:
        return None
    unit = found[2] or "s"
    factor = SECONDS.get("ms" if unit.startswith(("ms", "mil")) else unit[:2], 1.0)
    return value * factor
