"""From bytes a gate named to the lines they stand on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from trainrx.evidence.blocks import LogBlock
from trainrx.evidence.matcher import Candidate


class LineBounds(msgspec.Struct, frozen=True):
    """The line a candidate stands on: its bounds in the block and its number in the log."""

    start: int
    end: int
    line: int


def bounds(text: bytes, at: int) -> tuple[int, int]:
    """Give start and end of the line that holds a byte; a line end belongs to the line it ends."""
    end = text.find(b"\n", at)
    return text.rfind(b"\n", 0, at) + 1, len(text) if end < 0 else end


def by_line(
    block: LogBlock, text: bytes, candidates: Sequence[Candidate]
) -> Iterator[tuple[LineBounds, set[int]]]:
    """Gather the candidates of each line, in the order of the lines."""
    counter = Counter(block)
    spot = LineBounds(0, -1, block.line)
    numbers: set[int] = set()
    for at, number in candidates:
        if at > spot.end:
            if numbers:
                yield spot, numbers
            start, end = bounds(text, at)
            spot = LineBounds(start, end, counter.line(start))
            numbers = set()
        numbers.add(number)
    if numbers:
        yield spot, numbers


class Counter:
    """Numbers the lines of a block, asked from front to back."""

    def __init__(self, block: LogBlock) -> None:
        self._data = block.data
        self._line = block.line
        self._at = 0

    def line(self, at: int) -> int:
        """Give the number of the line that starts at a byte."""
        self._line += self._data.count(b"\n", self._at, at)
        self._at = at
        return self._line


class Steps:
    """The metric lines of a block, taken from front to back; `done`: taken up to this byte."""

    def __init__(self, block: LogBlock, text: bytes, places: Sequence[int]) -> None:
        # the first line of a piece of an endless line was taken with the piece before
        self.done = bounds(text, 0)[1] if block.resumes else -1
        self._text = text
        self._places = places
        self._next = 0
        self._counter = Counter(block)

    def before(self, end: int) -> Iterator[int]:
        """Give a place on each metric line that starts before a byte and was not taken yet."""
        places, text = self._places, self._text
        while self._next < len(places) and places[self._next] < end:
            at = places[self._next]
            self._next += 1
            if at > self.done:
                stop = text.find(b"\n", at)
                self.done = len(text) if stop < 0 else stop
                yield at

    def spot(self, at: int) -> LineBounds:
        """Give the line of a place."""
        start, end = bounds(self._text, at)
        return LineBounds(start, end, self._counter.line(start))
