"""What commands print into a text: the lines from a headline on, each with where it stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from trainrx.evidence.readers import Source
from trainrx.model.facts import MAX_QUOTE, Fact, Origin, Scalar, fact

LONGEST = 512
"""Bytes of a line that are looked at."""
MOST_PASSAGES = 16
"""A command that is repeated all along a log counts by what it printed last."""


class PrintedLine(NamedTuple):
    """A line, and where it stands."""

    text: str
    origin: Origin

    def says(self, kind: str, value: Scalar) -> Fact:
        """Make a fact that this line shows."""
        return fact(kind, value, self.origin, how="printed")


def passages(
    data: bytes, source: Source, mark: bytes, most: int = 40
) -> Iterator[tuple[PrintedLine, ...]]:
    """Give what stands from each line with a mark on, the last passage first."""
    end = len(data)
    for _ in range(MOST_PASSAGES):
        at = data.rfind(mark, 0, end)
        if at < 0:
            return
        start = data.rfind(b"\n", 0, at) + 1
        number = source.line + data.count(b"\n", 0, start)
        rows = data[start : start + most * LONGEST].split(b"\n")[:most]
        yield tuple(_line(raw, source.name, number + i) for i, raw in enumerate(rows))
        end = start


class MarkedLine(NamedTuple):
    """A line of a text that bears a mark: its number, and its bounds."""

    number: int
    start: int
    end: int


def marked_lines(data: bytes, first: int, marks: Iterable[bytes]) -> Iterator[MarkedLine]:
    """Give the lines with any of some marks, in order; `first` numbers the first line."""
    number, at = first, 0
    for start, end in sorted({place for mark in marks for place in _marked(data, mark)}):
        number, at = number + data.count(b"\n", at, start), start
        yield MarkedLine(number, start, end)


def _marked(data: bytes, mark: bytes) -> Iterator[tuple[int, int]]:
    at = data.find(mark)
    while at >= 0:
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        yield data.rfind(b"\n", 0, at) + 1, end
        at = data.find(mark, end)


def _line(raw: bytes, name: str, number: int) -> PrintedLine:
    text = raw[:LONGEST].decode("utf-8", "replace").rstrip()
    return PrintedLine(text, Origin(source=name, line=number, text=text.strip()[:MAX_QUOTE]))
