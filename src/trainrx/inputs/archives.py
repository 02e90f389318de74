"""The members of a run folder that is packed as tar or zip."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import BinaryIO, cast

from trainrx.inputs.bundle import read_manifest
from trainrx.inputs.folder import MOST_FILES, is_wanted_member
from trainrx.inputs.stream import GZIP, LIMIT, ZSTD
from trainrx.model.bundle import MANIFEST
from trainrx.model.findings import Unread

MOST_BYTES = 1 << 28
"""Bytes of all members together that are unpacked."""
MOST_MEMBER = 1 << 26
TAR_AT = 257


def is_archive(handle: BinaryIO) -> bool:
    """Tell by content whether something is a zip or a (packed) tar archive."""
    head = handle.read(512)
    handle.seek(0)
    if head.startswith(b"PK\x03\x04"):
        return True
    if head[TAR_AT : TAR_AT + 5] == b"ustar":
        return True
    if not head.startswith((GZIP, b"BZh", b"\xfd7zXZ", ZSTD)):
        return False
    # hardly any input is an archive
    import tarfile

    import zstandard

    try:
        with tarfile.open(fileobj=_unpacking(handle), mode="r|*"):
            return True
    except (tarfile.TarError, zstandard.ZstdError, OSError, EOFError, zlib.error):
        return False
    finally:
        handle.seek(0)


def _unpacking(handle: BinaryIO) -> BinaryIO:
    """Give what an archive is read from: of one that is packed with Zstandard what is in it."""
    packed = handle.read(4) == ZSTD
    handle.seek(0)
    if not packed:
        return handle
    import zstandard

    reader = zstandard.ZstdDecompressor().stream_reader(handle, read_across_frames=True)
    return cast("BinaryIO", reader)


def members(source: str, opened: BinaryIO, unread: list[Unread]) -> Iterator[tuple[str, bytes]]:
    """Give name and bytes of the members worth reading; what stops it goes to `unread`."""
    import tarfile
    import zipfile

    import zstandard

    left = MOST_BYTES
    given = 0
    wanted = _Wanted()
    damage = (tarfile.TarError, zipfile.BadZipFile, zstandard.ZstdError, zlib.error)
    try:
        for member, handle in _entries(opened, wanted):
            name = f"{source}!{member}"
            if given >= MOST_FILES or left <= 0:
                unread.append(Unread(source=source, reason="the archive is larger than is read"))
                return
            data = handle.read(min(MOST_MEMBER, left) + 1)
            if len(data) > min(MOST_MEMBER, left):
                data = data[:-1]
                unread.append(Unread(source=name, reason=f"only the first {len(data)} bytes read"))
            left -= len(data)
            given += 1
            if wanted.keeps(member, data):
                yield name, data
    except (*damage, OSError, EOFError) as error:
        unread.append(Unread(source=source, reason=f"the archive is damaged: {error}"))
    except (RuntimeError, NotImplementedError) as error:
        unread.append(Unread(source=source, reason=f"the archive cannot be unpacked: {error}"))


class _Wanted:
    """Tells which members are read: by their names, those of a bundle by its manifest."""

    def __init__(self) -> None:
        self.items: frozenset[str] = frozenset()

    def __call__(self, name: str) -> bool:
        """Tell whether a member may be wanted."""
        place = PurePosixPath(name)
        return place.name == MANIFEST or name in self.items or is_wanted_member(place)

    def keeps(self, name: str, data: bytes) -> bool:
        """Learn from a manifest what it names; one of something else is of no use."""
        if PurePosixPath(name).name != MANIFEST or name in self.items:
            return True
        manifest = read_manifest(data)
        if manifest is not None:
            self.items = frozenset(name.removesuffix(MANIFEST) + i.path for i in manifest.items)
        return manifest is not None


def _entries(opened: BinaryIO, wanted: _Wanted) -> Iterator[tuple[str, BinaryIO]]:
    import tarfile
    import zipfile

    if zipfile.is_zipfile(opened):
        with zipfile.ZipFile(opened) as packed:
            for info in sorted(packed.infolist(), key=lambda info: MANIFEST not in info.filename):
                if not info.is_dir() and wanted(info.filename):
                    with packed.open(info) as handle:
                        yield info.filename, cast("BinaryIO", handle)
        return
    opened.seek(0)
    with tarfile.open(fileobj=_unpacking(opened), mode="r|*") as archive:
        for member in archive:
            if member.offset > LIMIT:
                raise tarfile.ReadError(f"goes on beyond {LIMIT} bytes")
            if member.isfile() and wanted(member.name):
                found = archive.extractfile(member)
                if found is not None:
                    yield member.name, cast("BinaryIO", found)
