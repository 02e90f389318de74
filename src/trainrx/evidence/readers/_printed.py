"""What commands print into a text: the lines from a headline on, each with where it stands."""

from __future__ import annotations

from collections.abc import Iterator
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


def _line(raw: bytes, name: str, number: int) -> PrintedLine:
    text = raw[:LONGEST].decode("utf-8", "replace").rstrip()
    return PrintedLine(text, Origin(source=name, line=number, text=text.strip()[:MAX_QUOTE]))
