"""The bytes of an input, piece by piece, decompressed on the way and never all in memory."""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from trainrx.model.findings import Unread
from trainrx.model.job import Input

CHUNK = 1 << 18
LIMIT = 8 << 30
"""Bytes of one decompressed input that are read; a decompression bomb ends here."""
GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
UNPACKED_AGAIN = 4 << 20
"""Bytes of a packed file up to which its end is looked for."""
STEP = 512
"""Bytes of Zstandard data unpacked at once: even a bomb makes no more than 16 MiB of them."""

Report = Callable[[Unread], None]


def chunks(source: Input, report: Report, *, limit: int = LIMIT) -> Iterator[bytes]:
    """Give the bytes of an input; what stops the reading early goes to `report`."""
    if source.path is None:
        data = (source.text or "").encode("utf-8", "replace")
        for start in range(0, len(data), CHUNK):
            yield data[start : start + CHUNK]
        return
    yield from file_chunks(source.path, source.name, report, limit=limit)


def tail(source: Input, size: int = CHUNK) -> bytes:
    """Give the last bytes of an input, at most `size`; nothing where it cannot be read again.

    What is packed cannot be read from behind: it is unpacked once more, unless it is large.
    """
    if source.path is None:
        return (source.text or "").encode("utf-8", "replace")[-size:]
    try:
        with source.path.open("rb") as handle:
            packed = handle.read(4).startswith((GZIP, ZSTD))
            end = handle.seek(0, 2)
            if not packed:
                handle.seek(max(0, end - size))
                return handle.read(size)
    except OSError:
        return b""
    if end > UNPACKED_AGAIN:
        return b""
    last = deque(file_chunks(source.path, source.name, lambda _: None, size=size), maxlen=2)
    return b"".join(last)[-size:]


def file_chunks(
    path: Path, name: str, report: Report, *, limit: int = LIMIT, size: int = CHUNK
) -> Iterator[bytes]:
    """Give the bytes of a file, `size` at a time, decompressed when it is gzip or Zstandard."""
    try:
        with path.open("rb") as handle:
            head = handle.read(4)
            handle.seek(0)
            packed = head.startswith((GZIP, ZSTD))
            left = limit
            for piece in _pieces(handle, head, name, report, size):
                if packed and len(piece) > left:
                    yield piece[:left]
                    report(
                        Unread(source=name, reason=f"only the first {limit} bytes were unpacked")
                    )
                    return
                left -= len(piece)
                yield piece
    except OSError as error:
        report(Unread(source=name, reason=f"cannot be read: {error.strerror or error}"))


def _pieces(handle: BinaryIO, head: bytes, name: str, report: Report, size: int) -> Iterator[bytes]:
    if head.startswith(GZIP):
        return _gunzip(handle, name, report, size)
    if head == ZSTD:
        return _unzstd(handle, name, report, size)
    return _plain(handle, size)


def _plain(handle: BinaryIO, size: int) -> Iterator[bytes]:
    while piece := handle.read(size):
        yield piece


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
    held = bytearray()
    try:
        while packed := handle.read(STEP):
            while packed:
                frame = unpack() if frame.eof else frame
                held += frame.decompress(packed)
                packed = frame.unused_data
            if len(held) >= size:
                yield bytes(held)
                held.clear()
    except zstandard.ZstdError as error:
        report(Unread(source=name, reason=f"the Zstandard data is damaged or cut off: {error}"))
    else:
        if not frame.eof:
            report(Unread(source=name, reason="the Zstandard data is damaged or cut off: no end"))
    if held:
        yield bytes(held)
