"""Archives that are cut, or of which bytes are others: nothing is raised nor lost before them."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import tarfile
import zipfile
import zlib
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from trainrx.inputs.archives import is_archive, members
from trainrx.inputs.budget import ReadingBudget
from trainrx.inputs.files import read_path
from trainrx.inputs.stream import chunks, file_chunks
from trainrx.model.errors import UsageError
from trainrx.model.findings import Unread

LOG = b"".join(
    b"step %d: loss %s\n" % (n, hashlib.sha384(b"%d" % n).hexdigest().encode()) for n in range(1000)
)
"""About 100 KB that pack to half of it."""


def tar() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in (("run/train.log", LOG), ("run/run.sh", b"torchrun train.py\n")):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def zipped(method: int) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        archive.writestr("run/train.log", LOG)
    return out.getvalue()


PACKED = {
    "log.gz": gzip.compress(LOG),
    "log.zst": zstandard.compress(LOG),
    "tar": tar(),
    "tar.gz": gzip.compress(tar()),
    "tar.bz2": bz2.compress(tar(), 1),
    "tar.xz": lzma.compress(tar()),
    "tar.zst": zstandard.compress(tar()),
    "zip": zipped(zipfile.ZIP_DEFLATED),
    "zip stored": zipped(zipfile.ZIP_STORED),
    "zip lzma": zipped(zipfile.ZIP_LZMA),
    "zip bz2": zipped(zipfile.ZIP_BZIP2),
}
BEFORE: dict[str, Callable[[bytes], bytes]] = {
    "log.gz": lambda data: zlib.decompressobj(31).decompress(data),
    "log.zst": lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data),
    "tar": lambda data: data[512:],
    "tar.gz": lambda data: zlib.decompressobj(31).decompress(data)[512:],
}
"""What can be unpacked of the beginning of a file, at most."""
STEP = 512
"""Packed bytes that Zstandard is unpacked by: what shares them with the damage may be lost."""


def read(path: Path) -> tuple[bytes, list[Unread]]:
    """Read the log in a file, whatever a damaged text may look like."""
    with suppress(UsageError):
        inputs, _ = read_path(path)
        for item in inputs:
            deque(chunks(item, lambda _: None), maxlen=0)
    unread: list[Unread] = []
    with path.open("rb") as handle:
        if is_archive(handle):
            found = list(members("run", handle, unread, ReadingBudget()))
            return b"".join(data for name, data in found if name.endswith(".log")), unread
    return b"".join(file_chunks(path, "run", unread.append)), unread


@pytest.mark.parametrize("form", PACKED)
def test_a_damaged_archive_raises_nothing_and_what_stands_before_the_damage_is_read(
    tmp_path: Path, form: str
) -> None:
    data = PACKED[form]

    @examples(6)
    @given(st.integers(0, len(data) - 1), st.binary(max_size=12))
    def check(at: int, other: bytes) -> None:
        path = tmp_path / "run.log"
        path.write_bytes(data[:at] + other + (data[at + len(other) :] if other else b""))

        found, _ = read(path)

        if form in BEFORE and at > 2 * STEP:
            whole = BEFORE[form](data[: at - STEP if form == "log.zst" else at])
            assert found.startswith(whole[: len(LOG)])

    check()


@pytest.mark.parametrize("form", ["tar", "tar.gz"])
@pytest.mark.parametrize("size", [b"77777777777\0", b"00000000001\0", b"\x80" + b"\xff" * 11])
def test_a_size_that_is_not_true_is_told_or_read_as_it_says(
    tmp_path: Path, form: str, size: bytes
) -> None:
    plain = bytearray(tar())
    plain[124:136] = size
    total = sum(plain[:148]) + 8 * 32 + sum(plain[156:512])
    plain[148:156] = b"%06o\0 " % total
    path = tmp_path / "run.log"
    path.write_bytes(gzip.compress(bytes(plain)) if form == "tar.gz" else bytes(plain))

    found, unread = read(path)

    assert len(found) <= len(plain)
    assert unread or LOG.startswith(found)
