"""Where the secrets of a text stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from trainrx.sanitizer import MASK
from trainrx.sanitizer.assignments import pairs
from trainrx.sanitizer.surroundings import AROUND
from trainrx.sanitizer.tokens import SHAPES, Shape

SHORTEST = 6
"""No secret is found in less, its name or its own first letters included."""


class SecretSpan(NamedTuple):
    """A stretch of a text, and what is shown in its place."""

    start: int
    end: int
    shown: str = MASK


class Finder:
    """Finds secrets.

    Args:
        page: all that will be searched, one text a line: what is not met there is not looked for.
    """

    def __init__(self, page: str | None = None) -> None:
        self._shapes: tuple[Shape, ...] = (*AROUND, *SHAPES)
        self._pairs = True
        if page is not None:
            lowered = page.lower()
            self._pairs = next(pairs(page, lowered), None) is not None
            self._shapes = tuple(
                shape
                for shape in self._shapes
                if _may_hold(shape, lowered) and shape.pattern.search(page) is not None
            )

    @property
    def idle(self) -> bool:
        """Tell that nothing will be found."""
        return not self._pairs and not self._shapes

    def spans(self, text: str) -> list[SecretSpan]:
        """Give the stretches that must not be shown, in order, apart from each other."""
        if len(text) < SHORTEST or self.idle:
            return []
        lowered = text.lower()
        found = [SecretSpan(*span) for span in pairs(text, lowered)] if self._pairs else []
        for shape in self._shapes:
            if _may_hold(shape, lowered):
                found += _spans_of(shape, text)
        return joined(found)


def _may_hold(shape: Shape, lowered: str) -> bool:
    return not shape.needles or any(needle in lowered for needle in shape.needles)


def _spans_of(shape: Shape, text: str) -> Iterator[SecretSpan]:
    groups = shape.pattern.groupindex or (0,)
    for match in shape.pattern.finditer(text):
        yield from (SecretSpan(*match.span(group)) for group in groups if match.start(group) >= 0)


def joined(found: Iterable[SecretSpan]) -> list[SecretSpan]:
    """Join stretches that touch."""
    out: list[SecretSpan] = []
    for span in sorted(found):
        if out and span.start <= out[-1].end:
            out[-1] = SecretSpan(out[-1].start, max(out[-1].end, span.end))
        elif span.start < span.end:
            out.append(span)
    return out
