from __future__ import annotations

import shutil
import tarfile
from pathlib import Path

import pytest
import zstandard

from trainrx.inputs.files import read_path, whole_contents
from trainrx.launch import given
from trainrx.model.errors import UsageError

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
