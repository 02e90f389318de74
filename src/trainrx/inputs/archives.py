"""The members of a run folder that is packed as tar or zip."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import BinaryIO, cast

from trainrx.inputs.folder import MOST_FILES, is_wanted_member
from trainrx.inputs.stream import LIMIT
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
    if not head.startswith((b"\x1f\x8b", b"BZh", b"\xfd7zXZ")):
        return False
    import tarfile  # hardly any input is an archive

    try:
        with tarfile.open(fileobj=handle, mode="r|*"):
            return True
    except (tarfile.TarError, OSError, EOFError, zlib.error):
        return False
    finally:
        handle.seek(0)


def members(source: str, opened: BinaryIO, unread: list[Unread]) -> Iterator[tuple[str, bytes]]:
    """Give name and bytes of the members worth reading; what stops it goes to `unread`."""
    import tarfile
    import zipfile

    left = MOST_BYTES
    given = 0
    try:
        for name, handle in _entries(source, opened):
            if given >= MOST_FILES or left <= 0:
                unread.append(Unread(source=source, reason="the archive is larger than is read"))
                return
            data = handle.read(min(MOST_MEMBER, left) + 1)
            if len(data) > min(MOST_MEMBER, left):
                data = data[:-1]
                unread.append(Unread(source=name, reason=f"only the first {len(data)} bytes read"))
            left -= len(data)
            given += 1
            yield name, data
    except (tarfile.TarError, zipfile.BadZipFile, OSError, EOFError, zlib.error) as error:
        unread.append(Unread(source=source, reason=f"the archive is damaged: {error}"))
    except (RuntimeError, NotImplementedError) as error:
        unread.append(Unread(source=source, reason=f"the archive cannot be unpacked: {error}"))


def _entries(source: str, opened: BinaryIO) -> Iterator[tuple[str, BinaryIO]]:
    import tarfile
    import zipfile

    if zipfile.is_zipfile(opened):
        with zipfile.ZipFile(opened) as packed:
            for info in packed.infolist():
                if not info.is_dir() and is_wanted_member(PurePosixPath(info.filename)):
                    with packed.open(info) as handle:
                        yield f"{source}!{info.filename}", cast("BinaryIO", handle)
        return
    opened.seek(0)
    with tarfile.open(fileobj=opened, mode="r|*") as archive:
        for member in archive:
            if member.offset > LIMIT:
                raise tarfile.ReadError(f"goes on beyond {LIMIT} bytes")
            if member.isfile() and is_wanted_member(PurePosixPath(member.name)):
                found = archive.extractfile(member)
                if found is not None:
                    yield f"{source}!{member.name}", cast("BinaryIO", found)
