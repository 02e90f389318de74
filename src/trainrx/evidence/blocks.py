r"""A log as clean blocks of whole lines: no colours, no NULs, counted by the lines an editor shows.

`\r` ends a line of text (progress bars) but not a numbered one. One endless line is handed on in
overlapping pieces, so that neither memory nor time depends on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from trainrx.evidence.matcher import Candidate
from trainrx.inputs.encoding import to_utf8
from trainrx.inputs.stream import chunks as chunks_of
from trainrx.inputs.wrappers.unwrap import ANSI
from trainrx.model.job import Input

LONGEST = 1 << 20
"""Bytes of one line that are held at once."""
OVERLAP = 1 << 14
"""Bytes of an endless line that both pieces around a cut hold: longer than any match."""
FIRST = 1 << 16
"""Bytes the first block has at least (where there are as many): labels are judged on it."""
EARLY, LEAST_EARLY = 16 << 20, 128 << 10
"""Bytes that count as the beginning of a log, and of each of many logs at least."""


class LogBlock(msgspec.Struct, frozen=True, kw_only=True):
    r"""Some lines of a log. `data` still holds `\r`; `line` numbers its first line from 1.

    `resumes`: its first line began in the block before; `breaks`: its last line goes on.
    """

    data: bytes
    line: int
    ends: int
    size: int
    resumes: bool = False
    breaks: bool = False


def clean_blocks(chunks: Iterable[bytes], *, longest: int = LONGEST) -> Iterator[LogBlock]:
    """Cut a stream of bytes into clean blocks."""
    work = BlockCutter(longest=longest)
    for chunk in to_utf8(chunks):
        yield from work.feed(chunk)
    yield from work.end()


def beginnings(logs: Sequence[Input]) -> Iterator[tuple[Input, Iterator[LogBlock]]]:
    """Give each log with the blocks in which it says what is said once, before the first step.

    The first log has `EARLY` bytes; all others, which ranks mostly print alike, have as many
    together.
    """
    logs = [log for log in logs if log.kind == "log"]
    for log in logs:
        size = EARLY if log is logs[0] else max(LEAST_EARLY, EARLY // len(logs))
        yield log, _within(clean_blocks(chunks_of(log, lambda _: None, limit=size)), size)


def _within(blocks: Iterable[LogBlock], size: int) -> Iterator[LogBlock]:
    for block in blocks:
        yield block
        size -= block.size
        if size <= 0:
            return


class BlockCutter:
    """Cuts UTF-8 into clean blocks as it comes; `feed` it piece by piece, then `end` it.

    Args:
        longest: bytes of one line that are held at once.
        first: bytes the first block has at least.
    """

    def __init__(self, *, longest: int = LONGEST, first: int = FIRST) -> None:
        self._longest = longest
        self._first = first
        self._overlap = min(OVERLAP, longest // 2)
        self._pending = b""
        self._line = 1
        self._again = 0

    def feed(self, chunk: bytes) -> Iterator[LogBlock]:
        """Give the lines that a piece completes."""
        pending = self._pending = self._pending + chunk if self._pending else chunk
        if len(pending) < self._first:
            return
        cut = max(pending.rfind(b"\n"), pending.rfind(b"\r", 0, len(pending) - 1)) + 1
        breaks = cut == 0
        if breaks and len(pending) < self._longest:
            return
        cut = cut or len(pending)
        self._first = 0
        block = _block(pending[:cut], self._line, self._again, breaks=breaks)
        self._line += block.ends
        self._again = self._overlap if breaks else 0
        self._pending = pending[cut - self._again :]
        yield block

    def end(self) -> Iterator[LogBlock]:
        """Give what no line end follows."""
        if len(self._pending) > self._again:
            yield _block(self._pending, self._line, self._again, breaks=False)
        self._pending = b""


def _block(raw: bytes, line: int, again: int, *, breaks: bool) -> LogBlock:
    data = raw.replace(b"\0", b"") if b"\0" in raw else raw
    if b"\x1b" in data:
        data = ANSI.sub(b"", data)
    ends = data.count(b"\n")
    size = len(raw) - again
    return LogBlock(data=data, line=line, ends=ends, size=size, resumes=again > 0, breaks=breaks)


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
