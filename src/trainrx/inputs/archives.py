"""The members of a run folder that is packed as tar or zip."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from io import BufferedIOBase
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, BinaryIO, Protocol, cast

from trainrx.inputs.budget import ReadingBudget
from trainrx.inputs.bundle import read_manifest
from trainrx.inputs.ends import BothEnds, ReadingPace
from trainrx.inputs.folder import is_wanted_member
from trainrx.inputs.unpack import GZIP, ZSTD, Unpacker, is_packed
from trainrx.model.bundle import MANIFEST
from trainrx.model.findings import Unread

if TYPE_CHECKING:
    import tarfile

BZIP2 = b"BZh"
XZ = b"\xfd7zXZ"
PIECE = 1 << 18
BLOCK = 512
"""Bytes of the header of a member of a tar archive."""
LARGER = "the archive is larger than is read"


class BeyondBudgetError(Exception):
    """An archive asks for more than is given to one; says of what."""


class _Pieces(Protocol):
    """What is read piece by piece."""

    def read1(self, size: int, /) -> bytes:
        """Read at most so many bytes at once; none at the end."""


def _whole(source: _Pieces, size: int) -> bytes:
    """Read so many bytes, less only at the end."""
    parts: list[bytes] = []
    while size and (piece := source.read1(size)):
        parts.append(piece)
        size -= len(piece)
    return b"".join(parts)


class _Parts:
    """What a packed file holds, piece by piece; damage is raised behind what stands before it."""

    def __init__(self, handle: BinaryIO) -> None:
        self._damage: list[Unread] = []
        self._pieces = Unpacker(handle, "", self._damage.append).pieces(PIECE)
        self._rest = b""

    def read1(self, size: int, /) -> bytes:
        """Read at most so many bytes at once.

        Raises:
            EOFError: the data is damaged here.
        """
        rest = self._rest or next(self._pieces, b"")
        if not rest and self._damage:
            raise EOFError(self._damage[0].reason)
        self._rest = rest[size:]
        return rest[:size]


class _Forward:
    """What is unpacked, read forward only: no more of it than is allowed, nor much at once."""

    def __init__(self, source: _Pieces, allowed: int, budget: ReadingBudget) -> None:
        self._source = source
        self._budget = budget
        self._at = 0
        self.allowed = allowed

    def read(self, size: int = -1) -> bytes:
        """Read so many bytes, as readers of archives do what is said of a member.

        Raises:
            BeyondBudgetError: it is more than is allowed.
        """
        most = self._budget.limits.header
        if not 0 <= size <= most:
            raise BeyondBudgetError(f"it states more than {most} bytes of a member")
        return _whole(self, size)

    def read1(self, size: int) -> bytes:
        """Read at most so many bytes at once: what stands before damage is not lost with it.

        Raises:
            BeyondBudgetError: it is more than is allowed.
        """
        data = self._source.read1(size)
        self._at += len(data)
        self.allowed -= len(data)
        left = self._budget.left
        left.unpacked -= len(data)
        if self.allowed < 0 or left.unpacked < 0:
            raise BeyondBudgetError("it unpacks to far more than it holds")
        if not left.is_timely:
            raise BeyondBudgetError(f"it takes more than {self._budget.limits.seconds:.0f} seconds")
        return data

    def seek(self, place: int, _whence: int = 0) -> int:
        """Pass over what stands before a place."""
        while self._at < place and self.read1(min(PIECE, place - self._at)):
            pass
        return self._at

    def tell(self) -> int:
        """Tell the place."""
        return self._at


class _Unpacked(_Forward):
    """The same of an archive that is not packed: what is passed over is not read."""

    def seek(self, place: int, _whence: int = 0) -> int:
        """Go to a place."""
        self._at = cast("BufferedIOBase", self._source).seek(place)
        return self._at


class _Stored:
    """The bytes of a member of a tar archive as they stand there: holes are none."""

    def __init__(self, archive: _Forward, member: tarfile.TarInfo) -> None:
        archive.seek(member.offset_data)
        self._archive = archive
        parts = getattr(member, "sparse", None)
        self._left = member.size if parts is None else sum(size for _, size in parts)

    def read1(self, size: int, /) -> bytes:
        """Read at most so many bytes at once.

        Raises:
            EOFError: the archive ends within the member.
        """
        if self._left <= 0:
            return b""
        data = self._archive.read1(min(size, self._left))
        if not data:
            raise EOFError("unexpected end of data")
        self._left -= len(data)
        return data


class _Guarded:
    """The file of a zip, of which its reader wants no more at once than `most`."""

    def __init__(self, source: BinaryIO, most: int) -> None:
        self._source = source
        self._most = most
        self.seek = source.seek
        self.tell = source.tell
        self.seekable = source.seekable

    def read(self, size: int = -1) -> bytes:
        """Read so many bytes.

        Raises:
            BeyondBudgetError: the archive lists more members than anybody packs.
        """
        if size > self._most:
            raise BeyondBudgetError("it lists more members than are looked at")
        return self._source.read(size)


def is_archive(handle: BinaryIO) -> bool:
    """Tell by content whether something is a zip or a (packed) tar archive."""
    head = handle.read(BLOCK)
    handle.seek(0)
    if head.startswith(b"PK\x03\x04"):
        return True
    if head[257:262] == b"ustar":
        return True
    if not head.startswith((GZIP, BZIP2, XZ, ZSTD)):
        return False
    # hardly any input is an archive
    import tarfile

    try:
        tarfile.TarInfo.frombuf(_whole(_unpacking(handle), BLOCK), "utf-8", "surrogateescape")
    except _damage():
        return False
    finally:
        handle.seek(0)
    return True


def _damage() -> tuple[type[Exception], ...]:
    """Give what the readers of archives raise of one that is damaged or forged."""
    import lzma
    import tarfile
    import zipfile

    import zstandard

    own = (tarfile.TarError, zipfile.BadZipFile, zstandard.ZstdError, zlib.error, lzma.LZMAError)
    return (*own, OSError, EOFError, ValueError, LookupError, OverflowError, struct.error)


def _unpacking(handle: BinaryIO) -> _Pieces:
    """Give what an archive is read from: of one that is packed what is in it."""
    head = handle.read(len(XZ))
    handle.seek(0)
    if is_packed(head):
        return _Parts(handle)
    if head.startswith(BZIP2):
        import bz2

        return bz2.BZ2File(handle)
    if head.startswith(XZ):
        import lzma

        return lzma.LZMAFile(handle)
    return cast("BufferedIOBase", handle)


def members(
    source: str, opened: BinaryIO, unread: list[Unread], budget: ReadingBudget
) -> Iterator[tuple[str, bytes]]:
    """Give name and bytes of the members worth reading; what stops it goes to `unread`."""
    wanted = _Wanted()
    most = budget.limits.unpacking_of(opened.seek(0, 2), budget.sharing)
    pace = ReadingPace(opened.tell, budget.limits.ratio, most.spare)
    try:
        for member, handle in _entries(opened, most.all, wanted, budget):
            reading = _MemberReading(handle, pace, budget)
            data = b"".join(reading.pieces())
            if reason := reading.why:
                unread.append(Unread(source=f"{source}!{member}", reason=reason))
            if (data or reading.stopped is None) and wanted.keeps(member, data):
                yield f"{source}!{member}", data
            if reading.stopped is not None:
                raise reading.stopped
    except BeyondBudgetError as error:
        unread.append(Unread(source=source, reason=f"{LARGER}: {error}"))
    except _damage() as error:
        unread.append(Unread(source=source, reason=f"the archive is damaged: {error}"))
    except (RuntimeError, MemoryError) as error:
        unread.append(Unread(source=source, reason=f"the archive cannot be unpacked: {error}"))


class _MemberReading:
    """One member as it is read: what came before it broke off counts.

    Attributes:
        stopped: what it broke off with.
    """

    def __init__(self, handle: _Pieces, pace: ReadingPace, budget: ReadingBudget) -> None:
        left = budget.left
        if left.held <= 0 or left.files <= 0:
            raise BeyondBudgetError(f"no more than {budget.limits.files} files are read")
        self._handle = handle
        self._budget = budget
        most = min(budget.limits.member, left.held)
        last = min(budget.limits.last, most // 4)
        self._ends = BothEnds(pace, first=most - last, last=last, passed=budget.limits.unpacked)
        self.stopped: Exception | None = None

    def pieces(self) -> Iterator[bytes]:
        """Give its bytes, as many as may be held."""
        self._budget.left.files -= 1
        for piece in self._ends.of(self._read()):
            self._budget.left.held -= len(piece)
            yield piece

    def _read(self) -> Iterator[bytes]:
        try:
            while piece := self._handle.read1(PIECE):
                yield piece
        except BeyondBudgetError as error:
            self.stopped = error
            self._ends.is_whole = False
        except _damage() as error:
            self.stopped = error

    @property
    def why(self) -> str:
        """Say what of it was not read; "" where all was."""
        return self._ends.why("tar -xOf ARCHIVE MEMBER")


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


def _entries(
    opened: BinaryIO, allowed: int, wanted: _Wanted, budget: ReadingBudget
) -> Iterator[tuple[str, _Pieces]]:
    if budget.depth > budget.limits.nested:
        raise BeyondBudgetError(f"it lies in more than {budget.limits.nested} others")
    opened.seek(0)
    head = opened.read(4)
    opened.seek(0)
    found = _of_zip if head == b"PK\x03\x04" else _of_tar
    yield from found(opened, allowed, wanted, budget)


def _count(budget: ReadingBudget) -> None:
    """Take note that a member is looked at."""
    budget.left.members -= 1
    if budget.left.members < 0:
        raise BeyondBudgetError(f"no more than {budget.limits.members} members are looked at")


def _of_zip(
    opened: BinaryIO, allowed: int, wanted: _Wanted, budget: ReadingBudget
) -> Iterator[tuple[str, _Pieces]]:
    import zipfile

    guarded = cast("BinaryIO", _Guarded(opened, budget.limits.directory))
    with zipfile.ZipFile(guarded) as packed:
        for info in sorted(packed.infolist(), key=lambda info: MANIFEST not in info.filename):
            _count(budget)
            if info.is_dir() or not wanted(info.filename):
                continue
            with packed.open(info) as handle:
                unpacked = _Forward(cast("_Pieces", handle), allowed, budget)
                yield info.filename, unpacked
            allowed = unpacked.allowed


def _of_tar(
    opened: BinaryIO, allowed: int, wanted: _Wanted, budget: ReadingBudget
) -> Iterator[tuple[str, _Pieces]]:
    import tarfile

    source = _unpacking(opened)
    kind = _Unpacked if source is cast("_Pieces", opened) else _Forward
    forward = kind(source, allowed, budget)
    with tarfile.open(fileobj=cast("BinaryIO", forward), mode="r:") as archive:
        while (member := archive.next()) is not None:
            _count(budget)
            if member.isfile() and wanted(member.name):
                yield member.name, _Stored(forward, member)
