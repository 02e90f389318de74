"""The beginning and the end of what unpacks to more than is read: a log says at its end why."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator

from trainrx.model.progress import advance

_NULS = bytes(1 << 16)


class ReadingPace:
    """Decides which pieces of what is unpacked are given, by how tightly they are packed.

    What repeats packs tightly. Each packed byte that was read earns some that may be given; what
    was earned and cannot pay for a piece is halved, so that nothing of what only repeats is given.

    Args:
        packed: tells how many packed bytes were read.
        ratio: bytes that are given for each of them.
        spare: bytes that are given whatever was read.
    """

    def __init__(self, packed: Callable[[], int], ratio: int, spare: int) -> None:
        self._packed = packed
        self._ratio = ratio
        self._spare = spare
        self._seen = packed()
        self._earned = spare

    @property
    def most(self) -> int:
        """Give how many bytes may have been given by now."""
        return self._ratio * self._packed() + self._spare

    def take(self, size: int, *, some: bool = False) -> int:
        """Give how many of so many bytes may be given: all, or none unless `some` will do."""
        now = self._packed()
        self._earned += self._ratio * max(0, now - self._seen)
        self._seen = now
        if size <= self._earned:
            self._earned -= size
            return size
        taken = self._earned if some else 0
        self._earned = (self._earned - taken) // 2
        return taken


class BothEnds:
    """Gives of a stream its beginning, its end and what packs no tighter than logs do.

    Of the rest the line ends are given: so each line keeps its number, and what is left out costs
    no more than to unpack it. NULs that a stream begins with are left out, too: a log has them
    that was truncated while it was written.

    Args:
        pace: decides what is given, of this stream and others.
        first: bytes of this one that are given before its end.
        last: bytes of its end.
        passed: bytes that are passed over to come there.

    Attributes:
        size: bytes that came.
        read: bytes that were given.
        is_whole: whether the end was reached.
    """

    def __init__(self, pace: ReadingPace, *, first: int, last: int, passed: int) -> None:
        self._pace = pace
        self._first = first
        self._last = last
        self._passed = passed
        self._end: deque[bytes] = deque()
        self._held = 0
        self._lines = 0
        self._blank = 0
        self._is_beginning = True
        self._is_resumed = False
        self.size = 0
        self.read = 0
        self.is_whole = True

    def beginning(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """Give what stands before anything that is left out."""
        for piece in self._allowed(pieces):
            if taken := self._taken(piece):
                yield self._given(piece[:taken])
            if taken < len(piece):
                return

    def of(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """Read a stream, unless too much is passed over, or more lines than bytes are read."""
        for piece in self._allowed(pieces):
            if taken := self._taken(piece):
                yield from self._resumed()
                yield self._given(piece[:taken])
            if taken < len(piece):
                self._end.append(piece[taken:])
                self._held += len(piece) - taken
                yield from self._pushed_out()
        if self.is_whole and self._end:
            beyond = max(0, self._held - self._last)
            self._end[0], old = self._end[0][beyond:], self._end[0][:beyond]
            yield from self._passed_over(old)
            yield from map(self._given, self._end)

    def why(self, alone: str) -> str:
        """Say what was not given; "" where all was.

        Args:
            alone: how to give the end alone.
        """
        if not self.is_whole:
            return (
                f"unpacks to more than {self.size} bytes, of which {self.read} were read, and the "
                f"end was not: give it alone: `{alone} | tail -c 50M | diagnose -`"
            )
        if self.read + self._blank == self.size:
            return ""
        if not self._is_resumed:
            first, last = self.read - self._held, self._held
            return (
                f"holds {self.size} bytes, of which the first {first} and the last {last} were read"
            )
        return (
            f"holds {self.size} bytes, of which {self.read} were read: the beginning, the end and "
            "what repeats little between them"
        )

    def _allowed(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """Give the pieces as long as they may be unpacked, but for NULs at the beginning."""
        begun = False
        for piece in pieces:
            advance(0)
            beyond = self.size - self.read + len(piece) > self._passed + self._last
            if beyond or self._lines > self._pace.most:
                self.is_whole = False
                return
            self.size += len(piece)
            begun = begun or not is_blank(piece)
            if begun:
                yield piece
            else:
                self._blank += len(piece)

    def _taken(self, piece: bytes) -> int:
        """Give how many bytes of a piece are given: some of the first one that is too much."""
        room = min(len(piece), max(0, self._first - self.read))
        if room < len(piece) and not self._is_beginning:
            return 0
        taken = self._pace.take(room, some=self._is_beginning)
        self._is_beginning = self._is_beginning and taken == len(piece)
        return taken

    def _resumed(self) -> Iterator[bytes]:
        """Pass over what was held as the end, but for what stands right before what follows."""
        self._is_resumed = self._is_resumed or bool(self._end)
        while len(self._end) > 1:
            yield from self._passed_over(self._end.popleft())
        yield from map(self._given, self._end)
        self._end.clear()
        self._held = 0

    def _given(self, piece: bytes) -> bytes:
        self.read += len(piece)
        return piece

    def _pushed_out(self) -> Iterator[bytes]:
        """Pass over what is further from the end now than is held."""
        while self._end and self._held - len(self._end[0]) >= self._last:
            yield from self._passed_over(self._end.popleft())

    def _passed_over(self, piece: bytes) -> Iterator[bytes]:
        self._held -= len(piece)
        # to look for one is ten times as fast as to count them
        if b"\n" in piece:
            lines = piece.count(b"\n")
            self._lines += lines
            yield b"\n" * lines


def is_blank(piece: bytes) -> bool:
    """Tell whether there are only NULs in a piece."""
    return piece.startswith(b"\0") and leading_nuls(piece) == len(piece)


def leading_nuls(data: bytes) -> int:
    """Count the NULs something begins with: to strip millions of them one by one takes seconds."""
    at = 0
    while data[at : at + len(_NULS)] == _NULS:
        at += len(_NULS)
    rest = data[at : at + len(_NULS)]
    return at + len(rest) - len(rest.lstrip(b"\0"))
