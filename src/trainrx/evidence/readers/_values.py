"""Values of dumps: what is not of the type it should be counts as absent."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from trainrx.model.facts import Origin
from trainrx.model.ranks import StackFrame

LARGEST_NUMBER = 1 << 64
MOST_FRAMES = 256
_NUMBER = re.compile(r"-?\d{1,18}")


def whole(value: object) -> int | None:
    """Give a whole number, or one that is written as a text."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        return int(value) if _NUMBER.fullmatch(value) else None
    return value if isinstance(value, int) and abs(value) < LARGEST_NUMBER else None


def text_of(value: object) -> str:
    """Give a text, or a number as one; never what holds others."""
    if isinstance(value, str):
        return value
    number = whole(value)
    return "" if number is None else str(number)


def mapping(value: object) -> Mapping[Any, Any]:
    """Give a mapping."""
    return value if isinstance(value, dict) else {}


def sequence(value: object) -> tuple[Any, ...]:
    """Give a sequence."""
    return tuple(value) if isinstance(value, (list, tuple)) else ()


def frames_of(value: object, source: str) -> Iterator[StackFrame]:
    """Give the frames of a stack as PyTorch writes them."""
    for frame in sequence(value)[:MOST_FRAMES]:
        name = text_of(mapping(frame).get("name"))
        if name:
            file, line = text_of(frame.get("filename")), whole(frame.get("line"))
            origin = Origin(source=source, text=f"{name} ({file}:{line})"[:200])
            yield StackFrame(function=name, file=file, line=line or None, origin=origin)
