"""The bytes of an input, piece by piece, decompressed on the way and never all in memory."""

from __future__ import annotations

import errno
import os
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from trainrx.inputs.encoding import decode_text
from trainrx.inputs.ends import BothEnds, Pace, is_blank
from trainrx.inputs.wrappers.unwrap import LineTimes, Unwrapping, unwrapped
from trainrx.knowledge.regular import open_regular
from trainrx.model.findings import Unread
from trainrx.model.job import Input, InputKind
from trainrx.model.limits import LIMITS
from trainrx.model.pattern import late
from trainrx.model.progress import advance

CHUNK = 1 << 18
GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
UNPACKED_AGAIN = 64 << 20
"""Bytes that packed files may hold for their ends to be looked for once more."""
STEP = 512
"""Bytes of Zstandard data unpacked at once: even a bomb makes no more than 16 MiB of them."""

Report = Callable[[Unread], None]


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
            head = handle.read(4)
            if not head.startswith((GZIP, ZSTD)):
                handle.seek(max(0, handle.seek(0, 2) - size))
                return handle.read(size), 0
            handle.seek(0)
            pieces = _pieces(handle, head, source.name, lambda _: None, CHUNK)
            return _last_unpacked(pieces, size, again)
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
            head = handle.read(4)
            handle.seek(0)
            pieces = _pieces(handle, head, name, report, size)
            length = os.fstat(handle.fileno()).st_size
            most = limit or LIMITS.read
            if not head.startswith((GZIP, ZSTD)):
                until = min(most, length) if length else most
                yield from _first(pieces, until, name, report if length > most else None)
                return
            ends = _both_ends(handle, length, sharing)
            if limit is not None:
                yield from _first(ends.beginning(pieces), limit, name, report)
                return
            yield from ends.of(pieces)
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


def _both_ends(handle: BinaryIO, length: int, sharing: int) -> BothEnds:
    """Tell how much is given of a packed file of some length."""
    most = LIMITS.unpacking_of(length, sharing)
    pace = Pace(handle.tell, LIMITS.ratio, most.spare)
    return BothEnds(pace, first=LIMITS.read, last=most.last, most=most.all)


def _pieces(handle: BinaryIO, head: bytes, name: str, report: Report, size: int) -> Iterator[bytes]:
    if head.startswith(GZIP):
        return _gunzip(handle, name, report, size)
    if head == ZSTD:
        return _unzstd(handle, name, report, size)
    return _plain(handle, size)


def _plain(handle: BinaryIO, size: int) -> Iterator[bytes]:
    while piece := handle.read(size):
        yield piece
        if is_blank(piece):
            _pass_hole(handle)


def _pass_hole(handle: BinaryIO) -> None:
    """Go on where the next bytes of a file are that somebody wrote."""
    number = handle.fileno()
    before = os.lseek(number, 0, os.SEEK_CUR)
    try:
        begins = os.lseek(number, handle.tell(), os.SEEK_DATA)
    except OSError as error:  # nothing more was written, or the file system knows no holes
        begins = os.fstat(number).st_size if error.errno == errno.ENXIO else handle.tell()
    os.lseek(number, before, os.SEEK_SET)
    handle.seek(begins)


def _gunzip(handle: BinaryIO, name: str, report: Report, size: int) -> Iterator[bytes]:
    import gzip

    with gzip.GzipFile(fileobj=handle) as unpacked:
        try:
            # read1: what was unpacked before the damage is handed on, not lost with the call
            while piece := unpacked.read1(size):
                yield piece
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            report(Unread(source=name, reason=f"the gzip data is damaged or cut off: {error}"))


def _unzstd(handle: BinaryIO, name: str, report: Report, size: int) -> Iterator[bytes]:
    try:
        import zstandard
    except ImportError:
        report(Unread(source=name, reason="Zstandard data: install the package zstandard"))
        return
    unpack = zstandard.ZstdDecompressor().decompressobj
    frame = unpack()
    unpacked = bytearray()
    try:
        while packed := handle.read(STEP):
            while packed:
                frame = unpack() if frame.eof else frame
                unpacked += frame.decompress(packed)
                packed = frame.unused_data
            while len(unpacked) >= size:
                yield bytes(unpacked[:size])
                del unpacked[:size]
    except zstandard.ZstdError as error:
        report(Unread(source=name, reason=f"the Zstandard data is damaged or cut off: {error}"))
    else:
        if not frame.eof:
            report(Unread(source=name, reason="the Zstandard data is damaged or cut off: no end"))
    if unpacked:
        yield bytes(unpacked)


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
