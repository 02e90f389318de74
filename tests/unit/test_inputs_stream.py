"""The end of an input."""

from __future__ import annotations

import gzip
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from trainrx.inputs.files import read_path
from trainrx.inputs.stream import chunks, tail
from trainrx.model.findings import Unread
from trainrx.model.job import Input
from trainrx.model.limits import LIMITS

LINES = b"".join(b"line %d\n" % n for n in range(5000))


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize("size", [10, 20000, 1 << 18])
def test_the_end_of_a_file_is_the_end_of_what_it_holds(
    tmp_path: Path, pack: Callable[[bytes], bytes], size: int
) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(pack(LINES))

    assert tail(Input(kind="log", name="train.log", path=path), size).data == LINES[-size:]


def test_the_end_of_a_text() -> None:
    assert tail(Input(kind="log", name="-", text="first\nlast"), 4).data == b"last"


def test_a_file_that_is_gone_has_no_end(tmp_path: Path) -> None:
    assert tail(Input(kind="log", name="x", path=tmp_path / "x")).data == b""


PACKS = pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])


@PACKS
@pytest.mark.parametrize("piece", [b"a", b"\0", b"step 1 of 2\n", b"\n"])
def test_a_packed_file_gives_no_more_than_its_size_allows(
    tmp_path: Path, pack: Callable[[bytes], bytes], piece: bytes
) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(pack(piece * ((64 << 20) // len(piece))))
    log = Input(kind="other", name="x", path=path, sharing=16)
    unread: list[Unread] = []
    start = time.process_time()

    size = sum(map(len, chunks(log, unread.append)))

    most = LIMITS.unpacking_of(path.stat().st_size, 16)
    assert time.process_time() - start < 1
    given = most.spare + LIMITS.ratio * path.stat().st_size
    assert size <= 2 * given + most.last < 32 << 20
    assert "FILE | tail -c 50M | diagnose -" in unread[0].reason


@pytest.mark.parametrize(("pack", "same"), [(gzip.compress, 5), (zstandard.compress, 1)])
def test_of_too_much_the_beginning_and_the_end_are_read_and_lines_keep_their_numbers(
    tmp_path: Path, pack: Callable[[bytes], bytes], same: int
) -> None:
    path = tmp_path / "train.log"
    lines = [b"loading checkpoint shards, step %d\n" % (n // same) for n in range(200_000)]
    lines[0], lines[-1] = b"first\n", b"RuntimeError: last\n"
    path.write_bytes(pack(b"".join(lines)))
    log = Input(kind="log", name="x", path=path, sharing=40)
    unread: list[Unread] = []

    found = b"".join(chunks(log, unread.append)).splitlines(keepends=True)

    assert len(found) == len(lines)
    assert (found[0], found[-1], found.count(b"\n") > 50_000) == (lines[0], lines[-1], True)
    assert f"holds {sum(map(len, lines))} bytes, of which " in unread[0].reason


@PACKS
def test_what_repeats_little_is_read_wherever_it_stands(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "train.log"
    bars = (b"100%%|%s|\n" % (b"#" * 90)) * 100_000
    error = os.urandom(200_000).hex().encode() + b"\nRuntimeError: in its midst\n"
    path.write_bytes(pack(bars + error + bars + b"last\n"))
    unread: list[Unread] = []
    log = Input(kind="log", name="x", path=path, sharing=16)

    found = b"".join(chunks(log, unread.append))

    assert b"\nRuntimeError: in its midst\n" in found
    assert found.endswith(b"\nlast\n")
    assert found.count(b"\n") == 200_003
    assert len(found) < len(bars)
    assert unread[0].reason.endswith("the end and what repeats little between them")


def test_the_end_of_a_packed_log_that_packs_unevenly_is_as_long_as_asked_for(
    tmp_path: Path,
) -> None:
    path = tmp_path / "train.log"
    lines = os.urandom(300_000).hex().encode() + LINES
    path.write_bytes(gzip.compress(lines))
    log = Input(kind="other", name="x", path=path)

    assert tail(log, 200_000).data == lines[-200_000:]
    assert tail(log, 200_000, again=100_000).data == b""


@pytest.mark.parametrize("hole", [1 << 20, 1 << 40], ids=["1 MiB", "1 TiB"])
def test_a_log_that_begins_with_nuls_is_read_from_its_first_line(tmp_path: Path, hole: int) -> None:
    path = tmp_path / "train.log"
    with path.open("wb") as file:
        file.seek(hole)
        file.write(b"RuntimeError: CUDA out of memory\n")
        file.truncate(hole * 2)
    start = time.process_time()

    (found,), unread = read_path(path)

    assert (found.kind, unread) == ("log", [])
    assert b"CUDA out of memory" in b"".join(chunks(found, unread.append))
    assert time.process_time() - start < 1


def test_nuls_on_disk_and_in_memory_are_passed_over_alike(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(bytes(300_000) + b"RuntimeError: x\n")

    (found,), _ = read_path(path)

    assert b"".join(chunks(found, lambda _: None)).lstrip(b"\0") == b"RuntimeError: x\n"


def test_what_is_written_to_a_log_while_it_is_read_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(b"x" * (1 << 20))
    unread: list[Unread] = []
    size = 0

    with path.open("ab") as file:
        for piece in chunks(Input(kind="other", name="x", path=path), unread.append):
            size += len(piece)
            file.write(b"y" * (1 << 20))
            file.flush()

    assert (size, unread) == (1 << 20, [])


def test_a_log_that_is_cut_while_it_is_read_ends_there(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(b"x" * (2 << 20))
    pieces = chunks(Input(kind="other", name="x", path=path), lambda _: None)
    first = next(pieces)

    path.write_bytes(b"")

    assert len(first) + sum(map(len, pieces)) < 2 << 20
