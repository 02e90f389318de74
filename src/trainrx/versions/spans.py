"""Ranges of releases as data/symbols writes them: `>=A,<B`, several with `|` between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from packaging.version import Version

from trainrx.versions.ranges import in_range


class Span(NamedTuple):
    """From a release on, up to before another; "" where it is open."""

    start: str
    end: str

    @property
    def spec(self) -> str:
        """Give it as pip takes it."""
        parts = [f">={self.start}"] if self.start else []
        return ",".join([*parts, f"<{self.end}"] if self.end else parts)


def read_spans(text: str) -> tuple[Span, ...]:
    """Read ranges, ascending; "" is one that holds all."""
    return tuple(_read(part) for part in text.split("|"))


def _read(text: str) -> Span:
    start = end = ""
    for part in text.split(","):
        if part.startswith(">="):
            start = part[2:]
        elif part.startswith("<"):
            end = part[1:]
    return Span(start, end)


def outside(spans: Sequence[Span]) -> tuple[Span, ...]:
    """Give what lies before, between and behind some ranges."""
    found: list[Span] = []
    start: str | None = ""
    for span in spans:
        if span.start and start is not None:
            found.append(Span(start, span.start))
        start = span.end or None
    return (*found, Span(start, "")) if start else tuple(found)


def common(first: Sequence[Span], second: Sequence[Span]) -> tuple[Span, ...]:
    """Give what lies in ranges of both kinds."""
    return tuple(_common(first, second))


def _common(first: Sequence[Span], second: Sequence[Span]) -> Iterator[Span]:
    for one in first:
        for other in second:
            start = _later(one.start, other.start)
            end = _sooner(one.end, other.end)
            if not start or not end or Version(start) < Version(end):
                yield Span(start, end)


def _later(one: str, other: str) -> str:
    if not one or not other:
        return one or other
    return one if Version(one) > Version(other) else other


def _sooner(one: str, other: str) -> str:
    if not one or not other:
        return one or other
    return one if Version(one) < Version(other) else other


def holds(spans: Sequence[Span], version: str) -> bool | None:
    """Tell whether a version lies in one of some ranges; None when that is not known."""
    answers = [in_range(version, span.spec) if span.spec else True for span in spans]
    if any(answer is True for answer in answers):
        return True
    return None if any(answer is None for answer in answers) else False


def nearest(spans: Sequence[Span], version: str | None) -> Span | None:
    """Give the range next to a version, rather a newer one.

    Where the version is not known, of two the older: what asks was written when it was there.
    """
    if not spans:
        return None
    if version is None:
        return spans[-2:][0]
    newer = [span for span in spans if span.start and in_range(version, f"<{span.start}")]
    older = [span for span in spans if span.end and in_range(version, f">={span.end}")]
    if newer:
        return newer[0]
    return older[-1] if older else spans[-1]
