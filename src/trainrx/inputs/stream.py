"""The bytes of an input, piece by piece, decompressed on the way and never all in memory."""

from __future__ import annotations

import errno
import os
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from trainrx.inputs.encoding import decode_text
from trainrx.inputs.ends import BothEnds, ReadingPace, is_blank
from trainrx.inputs.unpack import GZIP, ZSTD, Report, Unpacker, is_packed
from trainrx.inputs.wrappers.unwrap import LineTimes, Unwrapping, unwrapped
from trainrx.knowledge.regular import open_regular
from trainrx.model.findings import Unread
from trainrx.model.job import Input, InputKind
from trainrx.model.limits import LIMITS
from trainrx.model.pattern import late
from trainrx.model.progress import advance

CHUNK = 1 << 18
UNPACKED_AGAIN = 64 << 20
"""Bytes that packed files may hold for their ends to be looked for once more."""
SECTOR = 512
"""Bytes of what the system counts a file by on its disk."""


def chunks(
    source: Input, report: Report, *, limit: int | None = None, times: LineTimes | None = None
) -> Iterator[bytes]:
    """Give the bytes of an input; what stops the reading early goes to `report`.

    A log comes as its programs printed it: without what containers, journals and CI put around it;
    what that says of when goes to `times`.
    """
    raw = _raw(source, report, limit)
    return unwrapped(raw, times) if source.kind in PRINTED else raw


PRINTED: tuple[InputKind, ...] = ("log", "output")


def _raw(source: Input, report: Report, limit: int | None) -> Iterator[bytes]:
    if source.path is None:
        data = held_bytes(source)
        for start in range(0, len(data), CHUNK):
            yield data[start : start + CHUNK]
        return
    yield from file_chunks(source.path, source.name, report, limit=limit, sharing=source.sharing)


class InputTail(NamedTuple):
    """The last bytes of an input.

    Attributes:
        data: the bytes.
        whole: whether they are all there are.
        unpacked: bytes that were unpacked to come to them.
    """

    data: bytes
    whole: bool
    unpacked: int = 0


def held_bytes(source: Input) -> bytes:
    """Give the bytes of an input that is in memory."""
    return source.data or (source.text or "").encode("utf-8", "replace")


def tail(source: Input, size: int = CHUNK, *, again: int = UNPACKED_AGAIN) -> InputTail:
    """Give the last bytes of an input; nothing where it cannot be read again.

    Those of a log come without its wrapping.

    Args:
        source: what is read.
        size: bytes at most.
        again: bytes that may be unpacked for it: what is packed cannot be read from behind.
    """
    last, unpacked = _last(source, size, again)
    whole = len(last) < size
    if source.kind in PRINTED and last:
        head = b"" if whole else next(_raw(source, lambda _: None, size), b"")
        work = Unwrapping(head)
        last = b"".join((*work.feed(last), *work.end()))
    return InputTail(last, whole, unpacked)


def _last(source: Input, size: int, again: int) -> tuple[bytes, int]:
    """Give the last bytes as they stand, and how many were unpacked for them."""
    if source.path is None:
        return held_bytes(source)[-size:], 0
    try:
        with open_regular(source.path) as handle:
            if not is_packed(handle.read(len(ZSTD))):
                handle.seek(max(0, handle.seek(0, 2) - size))
                return handle.read(size), 0
            handle.seek(0)
            unpacker = Unpacker(handle, source.name, lambda _: None)
            return _last_unpacked(unpacker.pieces(CHUNK), size, again)
    except OSError:
        return b"", 0


def _last_unpacked(pieces: Iterator[bytes], size: int, most: int) -> tuple[bytes, int]:
    seen = held = 0
    last: deque[bytes] = deque()
    while seen <= most and (piece := next(pieces, b"")):
        seen += len(piece)
        held += len(piece)
        last.append(piece)
        while held - len(last[0]) >= size:
            held -= len(last.popleft())
    return (b"" if seen > most else b"".join(last)[-size:]), seen


def file_chunks(
    path: Path,
    name: str,
    report: Report,
    *,
    limit: int | None = None,
    size: int = CHUNK,
    sharing: int = 1,
) -> Iterator[bytes]:
    """Give the bytes of a file, `size` at a time, decompressed when it is gzip or Zstandard.

    What is written to it meanwhile is left out; so are the NULs that a log begins with which was
    truncated while it was written. Of what is packed too tightly the middle is left out.
    """
    try:
        with open_regular(path) as handle:
            head = handle.read(len(ZSTD))
            handle.seek(0)
            length = os.fstat(handle.fileno()).st_size
            most = limit or LIMITS.read
            if not is_packed(head):
                until = min(most, length) if length else most
                beyond = report if length > most else None
                yield from _first(_plain(handle, size), until, name, beyond)
                return
            unpacker = Unpacker(handle, name, report)
            ends = _both_ends(unpacker, length, sharing)
            if limit is not None:
                yield from _first(ends.beginning(unpacker.pieces(size)), limit, name, report)
                return
            yield from ends.of(unpacker.pieces(size))
            tool = "zcat" if head.startswith(GZIP) else "zstdcat"
            if reason := ends.why(f"{tool} FILE"):
                report(Unread(source=name, reason=reason))
    except OSError as error:
        report(Unread(source=name, reason=f"cannot be read: {error.strerror or error}"))


def _first(pieces: Iterator[bytes], most: int, name: str, report: Report | None) -> Iterator[bytes]:
    """Give the first bytes of a file; that more follow is told where that is not by its growing."""
    left = most
    begun = False
    for piece in pieces:
        begun = begun or not is_blank(piece)
        if begun:
            yield piece[:left]
        advance(0)
        left -= len(piece)
        if left < 0 and report is not None:
            report(Unread(source=name, reason=f"only the first {most} bytes were read"))
        if left < 0 or (left == 0 and report is None):
            return


def _both_ends(unpacker: Unpacker, length: int, sharing: int) -> BothEnds:
    """Tell how much is given of a packed file of some length."""
    most = LIMITS.unpacking_of(length, sharing)
    pace = ReadingPace(lambda: unpacker.used, LIMITS.ratio, most.spare)
    return BothEnds(pace, first=LIMITS.read, last=most.last, passed=most.passed)


def _plain(handle: BinaryIO, size: int) -> Iterator[bytes]:
    stated = os.fstat(handle.fileno())
    has_holes = stated.st_blocks * SECTOR < stated.st_size
    while piece := handle.read(min(size, _behind_hole(handle)) if has_holes else size):
        yield piece


def _behind_hole(handle: BinaryIO) -> int:
    """Go to the next bytes of a file that somebody wrote, and give how many there are."""
    number = handle.fileno()
    before = os.lseek(number, 0, os.SEEK_CUR)
    try:
        begins = os.lseek(number, handle.tell(), os.SEEK_DATA)
        ends = os.lseek(number, begins, os.SEEK_HOLE)
    except OSError as error:  # nothing more was written, or the file system knows no holes
        begins = os.fstat(number).st_size if error.errno == errno.ENXIO else handle.tell()
        ends = begins + CHUNK
    os.lseek(number, before, os.SEEK_SET)
    handle.seek(begins)
    return ends - begins


MOST_LINES = 8
"""Lines of a log that are taken for what it says of the failure: its last exceptions."""
LONGEST = 2000
"""Characters of such a line that are read."""
FRAMES = 60
"""Frames of a log that are taken for those of its last tracebacks."""
_PATH = late(r"[^\s'\"()]*/[^\s'\"()]*/[^\s'\"()]*")
"""Where something is installed says nothing of why it failed."""
_EXCEPTION = late(r"(?:Error|Exception)\b")
_FUNCTION = late(r"\.py(?:\", line [\dX]{1,7}|:\d{1,7}),? in (\w{1,100})")


def without_paths(text: str) -> str:
    """Take the paths out of a text."""
    return _PATH.sub(" ", text)


def exceptions(logs: Sequence[Input]) -> Iterator[str]:
    """Give the last exceptions of each log, without paths."""
    for lines in _ends(logs):
        found = [line[:LONGEST] for line in lines if _EXCEPTION.search(line)][-MOST_LINES:]
        yield from map(without_paths, found)


def functions(logs: Sequence[Input]) -> Iterator[str]:
    """Give the functions of the last tracebacks of each log."""
    for lines in _ends(logs):
        found = [m[1] for line in lines if (m := _FUNCTION.search(line[:LONGEST]))]
        yield from found[-FRAMES:]


def _ends(logs: Sequence[Input]) -> Iterator[list[str]]:
    """Give the last lines of each log."""
    left = UNPACKED_AGAIN
    for log in logs:
        last = tail(log, again=left)
        left -= last.unpacked
        yield decode_text(last.data).splitlines()
