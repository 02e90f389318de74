"""The beginning and the end of what unpacks to more than is read: a log says at its end why."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from trainrx.model.progress import advance

_NULS = bytes(1 << 16)


class BothEnds:
    """Gives the first and the last bytes of a stream, and of what is between them the line ends.

    So each line keeps its number, and what is left out costs no more than to unpack it. NULs that a
    stream begins with are left out, too: a log has them that was truncated while it was written.

    Attributes:
        size: bytes that came.
        left_out: bytes between the two.
        is_whole: whether the end was reached.
    """

    def __init__(self, first: int, last: int, most: int) -> None:
        self._first = first
        self._last = last
        self._most = most
        self._end: deque[bytes] = deque()
        self._held = 0
        self._lines = 0
        self.size = 0
        self.left_out = 0
        self.is_whole = True

    def of(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """Read a stream, no more than `most` bytes of it, nor of more lines than bytes are read."""
        room = self._first
        for piece in without_nuls(self._counted(pieces)):
            if begins := piece[:room]:
                yield begins
                room -= len(begins)
            if len(begins) < len(piece):
                self._end.append(piece[len(begins) :])
                self._held += len(piece) - len(begins)
                yield from self._pushed_out()
        if self.is_whole and self._end:
            beyond = max(0, self._held - self._last)
            self._end[0], old = self._end[0][beyond:], self._end[0][:beyond]
            yield from self._passed_over(old)
            yield from self._end

    def why(self, alone: str) -> str:
        """Say what was not given; "" where all was.

        Args:
            alone: how to give the end alone.
        """
        first = min(self.size, self._first)
        if not self.is_whole:
            return (
                f"unpacks to more than {self.size} bytes: the first {first} were read and the end "
                f"was not; give it alone: `{alone} | tail -c 50M | diagnose -`"
            )
        if not self.left_out:
            return ""
        last = self._held
        return f"holds {self.size} bytes, of which the first {first} and the last {last} were read"

    def _counted(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            advance(0)
            if self.size + len(piece) > self._most or self._lines > self._first:
                self.is_whole = False
                return
            self.size += len(piece)
            yield piece

    def _pushed_out(self) -> Iterator[bytes]:
        """Pass over what is further from the end now than is held."""
        while self._held - len(self._end[0]) >= self._last:
            yield from self._passed_over(self._end.popleft())

    def _passed_over(self, piece: bytes) -> Iterator[bytes]:
        self._held -= len(piece)
        self.left_out += len(piece)
        if lines := piece.count(b"\n"):
            self._lines += lines
            yield b"\n" * lines


def without_nuls(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Leave out the pieces at the beginning that are nothing but NULs."""
    stream = iter(pieces)
    for piece in stream:
        if not is_blank(piece):
            yield piece
            break
    yield from stream


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
