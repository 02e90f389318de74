"""Which folders are jobs."""

import os
from pathlib import Path

import pytest

from trainrx.fleet.sources import sources_of
from trainrx.model.errors import UsageError


def _write(root: Path, *names: str) -> None:
    for name in names:
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("x\n")


def _names(root: Path, *words: str, since: float | None = None) -> list[tuple[str, str]]:
    found = [job for source in sources_of(words) for job in source.jobs(since)]
    return [(os.path.relpath(job.folder or job.logs[0], root), job.source) for job in found]


def test_a_folder_of_jobs_is_taken_apart_and_a_job_keeps_what_its_ranks_left(tmp_path: Path):
    _write(tmp_path, "README.md", "a/launch.sh", "a/logs/rank0/stdout", "a/logs/rank1/stdout")
    _write(tmp_path, "team/b/train.log", "team/c/output/v0/args.json", "weights/model.safetensors")
    _write(tmp_path, "bundles/trainrx-1.tar.zst", "bundles/trainrx-2.tar.zst", "kept/manifest.json")

    assert _names(tmp_path, str(tmp_path)) == [
        ("a", "folder"),
        ("bundles/trainrx-1.tar.zst", "bundle"),
        ("bundles/trainrx-2.tar.zst", "bundle"),
        ("kept", "bundle"),
        ("team/b", "folder"),
        ("team/c/output/v0", "folder"),
    ]


def test_a_file_beside_several_launches_makes_no_job_of_their_folder(tmp_path: Path):
    _write(tmp_path, "submit_all.sh", "a/launch.sh", "b/launch.sh", "c/train.log")

    assert [name for name, _ in _names(tmp_path, str(tmp_path))] == ["a", "b", "c"]


def test_patterns_name_jobs_and_single_logs(tmp_path: Path):
    _write(tmp_path, "run-1/train.log", "run-2/train.log", "other/train.log", "slurm-7.out")

    words = (f"{tmp_path}/run-*", f"{tmp_path}/*.out")

    assert [name for name, _ in _names(tmp_path, *words)] == ["run-1", "run-2", "slurm-7.out"]


def test_what_ended_before_is_left_out(tmp_path: Path):
    _write(tmp_path, "old/train.log", "new/train.log")
    os.utime(tmp_path / "old", (1000, 1000))

    assert [name for name, _ in _names(tmp_path, str(tmp_path), since=5000)] == ["new"]


def test_nothing_there_is_said_with_what_to_do(tmp_path: Path):
    with pytest.raises(UsageError, match="no file matches this pattern"):
        list(sources_of([f"{tmp_path}/none-*"]))


def test_the_digest_follows_every_file_that_is_read_and_no_other(tmp_path: Path):
    _write(tmp_path, "a/launch.sh", "a/logs/rank0/stdout", "a/model.safetensors")
    source = next(iter(sources_of([str(tmp_path)])))
    (job,) = source.jobs(None)
    before = source.prepared(job).inputs_digest

    (tmp_path / "a/model.safetensors").write_text("more\n")
    same = source.prepared(job).inputs_digest
    (tmp_path / "a/logs/rank0/stdout").write_text("more\n")
    other = source.prepared(job).inputs_digest

    assert same == before
    assert other != before
