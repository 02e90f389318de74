from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import shutil
import tarfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import zstandard

from trainrx.inputs.archives import members
from trainrx.inputs.budget import ReadingBudget
from trainrx.inputs.files import read_path, whole_contents
from trainrx.launch import given
from trainrx.model.errors import UsageError
from trainrx.model.findings import Unread
from trainrx.model.limits import LIMITS, ReadingLimits

STACKS = Path(__file__).parents[1] / "evidence" / "stacks"


def packed(form: str, folder: Path, run: Path) -> Path:
    if form != "tar.zst":
        return Path(shutil.make_archive(str(folder / "run"), form, run.parent, run.name))
    plain = Path(shutil.make_archive(str(folder / "run"), "tar", run.parent, run.name))
    path = folder / "run.tar.zst"
    path.write_bytes(zstandard.compress(plain.read_bytes()))
    return path


@pytest.mark.parametrize("form", ["gztar", "zip", "tar.zst"])
def test_dumps_in_an_archive_are_evidence_as_those_in_a_folder(tmp_path: Path, form: str) -> None:
    run = STACKS / "slow-storage-in-worker"

    found = given._evidence(read_path(packed(form, tmp_path, run))[0])

    dumps = [one for one in found if one.kind == "evidence"]
    assert {one.format for one in dumps} == {"pystack"}
    assert len(dumps) == sum(path.is_file() for path in run.rglob("*"))


def test_a_member_that_was_taken_apart_is_found_again_as_a_whole(tmp_path: Path) -> None:
    path = packed("gztar", tmp_path, STACKS / "slow-storage-in-worker")
    with tarfile.open(path) as archive:
        member = next(one for one in archive if one.name.endswith("rank1-worker1.txt"))
        text = archive.extractfile(member).read()

    (found,) = whole_contents([f"{path}!{member.name}"])

    assert found.data == text


@pytest.mark.parametrize("kept", [5, 60, 600])
def test_a_damaged_archive_is_told(tmp_path: Path, kept: int) -> None:
    path = packed("tar.zst", tmp_path, STACKS / "straggler")
    path.write_bytes(path.read_bytes()[:kept])

    with pytest.raises(UsageError, match=str(path)):
        read_path(path)


def tar_of(*entries: tuple[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in entries:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def zip_of(*entries: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return out.getvalue()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": lambda data: gzip.compress(data, 9),
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.compress,
}
ZEROS = bytes(12 << 20)
BOMBS: dict[str, Callable[[], bytes]] = {
    **{
        form: lambda pack=pack: pack(tar_of(("run/model.bin", ZEROS)))
        for form, pack in PACKERS.items()
    },
    "members": lambda: gzip.compress(tar_of(*((f"a{n}", b"") for n in range(12_000))), 1),
    "zip": lambda: zip_of(*((f"run/{n}.log", ZEROS) for n in range(2))),
    "zip lzma": lambda: zip_of(("run/a.log", ZEROS), method=zipfile.ZIP_LZMA),
    "directory": lambda: zip_of(*((f"{n}/{'x' * 400}", b"") for n in range(12_000))),
    "header": lambda: tar_of((f"run/{'x' * 60_000}.log", b"x")),
    "global header": lambda: gzip.compress(tar_of((f"{'1' * 60_000}", b"x")), 9),
}


@pytest.mark.parametrize("form", BOMBS)
def test_a_bomb_is_left_in_time_and_told(form: str) -> None:
    data = BOMBS[form]()
    unread: list[Unread] = []
    start = time.process_time()

    found = list(members("run", io.BytesIO(data), unread, ReadingBudget(ReadingLimits(spare=9))))

    assert time.process_time() - start < 2
    assert sum(len(held) for _, held in found) < len(ZEROS)
    assert "the archive is larger than is read: " in unread[-1].reason


def test_what_came_before_an_archive_is_damaged_or_too_large_is_read() -> None:
    log = b"".join(b"%d {'loss': 1.25}\n" % n for n in range(9999))
    torn = gzip.compress(tar_of(("run/a.log", log)))[:-9000]
    bomb = gzip.compress(tar_of(("run/a.log", log + ZEROS)))
    unread: list[Unread] = []

    ((_, half),) = members("torn", io.BytesIO(torn), unread, ReadingBudget())
    ((_, first),) = members("bomb", io.BytesIO(bomb), unread, ReadingBudget(ReadingLimits(spare=9)))

    assert log.startswith(half)
    assert first.startswith(log)
    assert len(half) > 9999
    reasons = [(one.source, one.reason.partition(": ")[0]) for one in unread]
    assert reasons[0] == ("torn", "the archive is damaged")
    assert reasons[1][0] == "bomb!run/a.log"
    assert reasons[2] == ("bomb", "the archive is larger than is read")


def test_archives_in_archives_draw_on_one_budget() -> None:
    budget = ReadingBudget(ReadingLimits(files=3))
    unread: list[Unread] = []
    packed = tar_of(("a.log", b"x"), ("b.log", b"x"))

    first = [name for name, _ in members("1", io.BytesIO(packed), unread, budget)]
    second = [name for name, _ in members("2", io.BytesIO(packed), unread, budget.inside())]

    assert (first, second) == (["1!a.log", "1!b.log"], ["2!a.log"])
    assert [one.source for one in unread] == ["2"]


def test_an_archive_that_lies_too_deep_is_told() -> None:
    budget = ReadingBudget()
    unread: list[Unread] = []
    for _ in range(LIMITS.nested + 1):
        budget = budget.inside()

    assert list(members("x", io.BytesIO(tar_of(("a.log", b"x"))), unread, budget)) == []
    assert unread


@pytest.mark.parametrize("form", ["zip", *PACKERS])
def test_what_is_packed_inside_of_an_archive_is_told(tmp_path: Path, form: str) -> None:
    inner = zip_of(("a.log", b"x")) if form == "zip" else PACKERS[form](b"RuntimeError: x\n")
    path = tmp_path / "run.zip"
    path.write_bytes(zip_of(("inner.log", inner), ("train.log", b"RuntimeError: x\n")))

    inputs, unread = read_path(path)

    assert [item.name for item in inputs if item.kind == "log"] == [f"{path}!train.log"]
    assert [(one.source, "inside of" in one.reason) for one in unread] == [
        (f"{path}!inner.log", True)
    ]


def damaged(data: bytes) -> Iterator[bytes]:
    yield from (data[: len(data) * part // 7] for part in range(1, 7))
    yield from (data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :] for at in range(0, 600, 3))


@pytest.mark.parametrize("form", [*PACKERS, "zip", "zip lzma", "zip bz2"])
def test_damage_of_any_byte_is_told_and_not_raised(form: str) -> None:
    log = b"".join(b"%d {'loss': 1.25}\n" % n for n in range(999))
    names = (("run/\u8bad.log", log), ("run/a.sh", b"swift sft --model x\n"))
    methods = {"zip": 8, "zip lzma": 14, "zip bz2": 12}
    data = (
        zip_of(*names, method=methods[form]) if form in methods else PACKERS[form](tar_of(*names))
    )

    for torn in damaged(data):
        for _, held in members("run", io.BytesIO(torn), [], ReadingBudget()):
            assert len(held) <= LIMITS.held


@pytest.mark.parametrize("kind", ["fifo", "socket", "loop", "folder"])
def test_what_is_no_plain_file_in_a_folder_is_passed_over(tmp_path: Path, kind: str) -> None:
    (tmp_path / "train.log").write_text("RuntimeError: x\n")
    odd = tmp_path / "events.json"
    if kind == "fifo":
        os.mkfifo(odd)
        os.mkfifo(tmp_path / "manifest.json")
        os.mkfifo(tmp_path / "rank1.log")
    elif kind == "socket":
        os.mknod(odd, 0o140600)
    elif kind == "loop":
        odd.symlink_to(odd)
        (tmp_path / "rank1.log").symlink_to(tmp_path / "rank1.log")
    else:
        odd.mkdir()

    inputs, _ = read_path(tmp_path)

    assert [item.name for item in inputs] == [str(tmp_path / "train.log")]
