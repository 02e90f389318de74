"""Packed files unpacked piece by piece: what stands before damage is given."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import BinaryIO

from trainrx.model.findings import Unread
from trainrx.model.limits import LIMITS

GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
STEP = 512
"""Bytes of Zstandard data unpacked at once: even a bomb makes no more than 16 MiB of them."""
BLOCK = 1 << 14
"""Bytes of gzip data read at once."""
WITH_HEADER = 31
"""What tells zlib that data has the header and the check of gzip."""
TINY = 512
"""Bytes of a part of gzip data below which unpacking it costs more than it gives."""

Report = Callable[[Unread], None]


def is_packed(head: bytes) -> bool:
    """Tell by its first bytes whether a file is packed."""
    return head.startswith((GZIP, ZSTD))


class Unpacker:
    """Unpacks one file.

    Args:
        handle: the file, at its beginning.
        name: what it is cited by.
        report: what damage is told to.

    Attributes:
        used: packed bytes that were unpacked.
    """

    def __init__(self, handle: BinaryIO, name: str, report: Report) -> None:
        self._handle = handle
        self._name = name
        self._report = report
        self.used = 0

    def pieces(self, size: int) -> Iterator[bytes]:
        """Give what the file holds, about so many bytes at a time."""
        head = self._handle.read(len(ZSTD))
        self._handle.seek(0)
        return self._gunzip(size) if head.startswith(GZIP) else self._unzstd(size)

    def _gunzip(self, size: int) -> Iterator[bytes]:
        tiny = 0
        packed = b""
        before: zlib._Decompress | None = None
        try:
            while packed := self._without_padding(packed):
                given = 0
                part = zlib.decompressobj(WITH_HEADER)
                while not part.eof:
                    packed = packed or self._handle.read(BLOCK)
                    is_missing = not packed
                    before = part.copy()
                    piece = part.flush() if is_missing else part.decompress(packed, size)
                    packed = part.unused_data if part.eof else part.unconsumed_tail
                    self.used = self._handle.tell() - len(packed)
                    given += len(piece)
                    if piece:
                        yield piece
                    if is_missing:
                        self._damaged("gzip", "its end is missing")
                        return
                tiny += given < TINY
                if tiny > LIMITS.members:
                    reason = f"no more than {LIMITS.members} members are looked at"
                    self._report(Unread(source=self._name, reason=reason))
                    return
        except zlib.error as error:
            if before is not None and (piece := _until_damage(before, packed)):
                yield piece
            self._damaged("gzip", str(error))

    def _without_padding(self, packed: bytes) -> bytes:
        """Give what comes next but for the NULs that parts are padded with."""
        while not (rest := packed.lstrip(b"\0")) and (packed := self._handle.read(BLOCK)):
            pass
        return rest

    def _unzstd(self, size: int) -> Iterator[bytes]:
        try:
            import zstandard
        except ImportError:
            reason = "Zstandard data: install the package zstandard"
            self._report(Unread(source=self._name, reason=reason))
            return
        unpack = zstandard.ZstdDecompressor().decompressobj
        frame = unpack()
        unpacked = bytearray()
        try:
            while packed := self._handle.read(STEP):
                self.used += len(packed)
                while packed:
                    frame = unpack() if frame.eof else frame
                    unpacked += frame.decompress(packed)
                    packed = frame.unused_data
                while len(unpacked) >= size:
                    yield bytes(unpacked[:size])
                    del unpacked[:size]
        except zstandard.ZstdError as error:
            self._damaged("Zstandard", str(error))
        else:
            if not frame.eof:
                self._damaged("Zstandard", "no end")
        if unpacked:
            yield bytes(unpacked)

    def _damaged(self, form: str, why: str) -> None:
        reason = f"the {form} data is damaged or cut off: {why}"
        self._report(Unread(source=self._name, reason=reason))


def _until_damage(part: zlib._Decompress, packed: bytes) -> bytes:
    """Give what stands in some bytes before those that are damaged."""
    found = bytearray()
    with suppress(zlib.error):
        for byte in packed:
            found += part.decompress(bytes((byte,)))
    return bytes(found)
