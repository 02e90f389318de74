"""Run folders packed as tar or zip: their logs and launches, held as text."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from trainrx.inputs.folder import MOST_FILES, is_wanted
from trainrx.inputs.stream import LIMIT
from trainrx.model.findings import Unread

MOST_BYTES = 1 << 28
"""Bytes of all members together that are unpacked."""
MOST_MEMBER = 1 << 26
TAR_AT = 257


def is_archive(path: Path, head: bytes) -> bool:
    """Tell by content whether a file is a zip or a (packed) tar archive."""
    if head.startswith(b"PK\x03\x04"):
        return True
    if head[TAR_AT : TAR_AT + 5] == b"ustar":
        return True
    if not head.startswith((b"\x1f\x8b", b"BZh", b"\xfd7zXZ")):
        return False
    import tarfile  # hardly any input is an archive

    try:
        with tarfile.open(path, "r|*"):
            return True
    except (tarfile.TarError, OSError, EOFError, zlib.error):
        return False


def members(path: Path, unread: list[Unread]) -> Iterator[tuple[str, bytes]]:
    """Give name and bytes of the members worth reading; what stops it goes to `unread`."""
    import tarfile
    import zipfile

    left = MOST_BYTES
    given = 0
    try:
        for name, handle in _entries(path):
            if given >= MOST_FILES or left <= 0:
                unread.append(Unread(source=str(path), reason="the archive is larger than is read"))
                return
            data = handle.read(min(MOST_MEMBER, left) + 1)
            if len(data) > min(MOST_MEMBER, left):
                data = data[:-1]
                unread.append(Unread(source=name, reason=f"only the first {len(data)} bytes read"))
            left -= len(data)
            given += 1
            yield name, data
    except (tarfile.TarError, zipfile.BadZipFile, OSError, EOFError, zlib.error) as error:
        unread.append(Unread(source=str(path), reason=f"the archive is damaged: {error}"))
    except (RuntimeError, NotImplementedError) as error:
        unread.append(Unread(source=str(path), reason=f"the archive cannot be unpacked: {error}"))


def _entries(path: Path) -> Iterator[tuple[str, BinaryIO]]:
    import tarfile
    import zipfile

    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as packed:
            for info in packed.infolist():
                if not info.is_dir() and is_wanted(PurePosixPath(info.filename).name):
                    with packed.open(info) as handle:
                        yield f"{path}!{info.filename}", cast("BinaryIO", handle)
        return
    with tarfile.open(path, "r|*") as archive:
        for member in archive:
            if member.offset > LIMIT:
                raise tarfile.ReadError(f"goes on beyond {LIMIT} bytes")
            if member.isfile() and is_wanted(PurePosixPath(member.name).name):
                found = archive.extractfile(member)
                if found is not None:
                    yield f"{path}!{member.name}", cast("BinaryIO", found)
