from __future__ import annotations

import os
import shutil
from itertools import groupby
from pathlib import Path

import pytest

from trainrx.collect.follow import DISCOVERY, PIECE, Follower


@pytest.fixture
def following():
    """Make followers that are closed at the end."""
    made = []

    def follow(*paths):
        made.append(Follower(paths))
        return made[-1]

    yield follow
    for follower in made:
        follower.close()


def read(follower, now=0.0):
    """Give what is new by file, put together."""
    pieces = list(follower.poll(now))
    return {name: b"".join(p.data for p in of) for name, of in groupby(pieces, lambda p: p.name)}


def append(path: Path, data: bytes):
    with path.open("ab") as handle:
        handle.write(data)


def test_only_what_is_new_is_given(tmp_path, following):
    log = tmp_path / "train.log"
    log.write_bytes(b"one\n")
    follower = following(log)

    first = read(follower)
    again = read(follower)
    append(log, b"two\n")

    assert first == {str(log): b"one\n"}
    assert again == {}
    assert read(follower) == {str(log): b"two\n"}


def test_a_file_that_appears_later_is_read(tmp_path, following):
    log = tmp_path / "later" / "train.log"
    follower = following(log)

    assert read(follower) == {}
    log.parent.mkdir()
    log.write_bytes(b"here\n")

    assert read(follower) == {str(log): b"here\n"}


def test_the_end_of_a_log_that_is_rotated_away_is_read_before_the_new_one(tmp_path, following):
    log = tmp_path / "train.log"
    log.write_bytes(b"one\n")
    follower = following(log)
    read(follower)

    append(log, b"last\n")
    log.rename(tmp_path / "train.log.1")
    log.write_bytes(b"new\n")
    pieces = list(follower.poll(0.0))

    assert [(p.data, p.begins) for p in pieces] == [(b"last\n", ""), (b"new\n", "rotated")]


def test_a_log_that_is_cut_begins_anew(tmp_path, following):
    log = tmp_path / "train.log"
    log.write_bytes(b"a long line that goes\n")
    follower = following(log)
    read(follower)

    log.write_bytes(b"short\n")
    pieces = list(follower.poll(0.0))

    assert [(p.data, p.begins) for p in pieces] == [(b"short\n", "new")]


def test_a_log_that_is_gone_is_waited_for(tmp_path, following):
    log = tmp_path / "train.log"
    log.write_bytes(b"one\n")
    follower = following(log)
    read(follower)

    log.unlink()
    gone = read(follower)
    log.write_bytes(b"again\n")

    assert gone == {}
    assert [(p.data, p.begins) for p in follower.poll(0.0)] == [(b"again\n", "new")]


def test_a_large_log_comes_in_pieces_that_fit_into_memory(tmp_path, following):
    log = tmp_path / "train.log"
    log.write_bytes(b"x" * (2 * PIECE + 1))

    sizes = [len(piece.data) for piece in following(log).poll(0.0)]

    assert sizes == [PIECE, PIECE, 1]


def test_of_a_folder_the_logs_and_steps_are_followed_and_new_ones_are_found(tmp_path, following):
    for name in ("train.log", "logging.jsonl", "launch.sh", "old.log.gz", "args.json", "x.log.1"):
        (tmp_path / name).write_bytes(b"text\n")
    follower = following(tmp_path)

    first = {Path(name).name for name in read(follower, now=0.0)}
    (tmp_path / "rank1.log").write_bytes(b"late\n")
    soon = read(follower, now=1.0)

    assert first == {"train.log", "logging.jsonl"}
    assert soon == {}
    assert list(read(follower, now=DISCOVERY)) == [str(tmp_path / "rank1.log")]


def test_of_the_starts_of_torchrun_the_last_is_followed(tmp_path, following):
    for attempt in (0, 1):
        for rank in (0, 1):
            place = tmp_path / "none_x" / f"attempt_{attempt}" / str(rank) / "stdout.log"
            place.parent.mkdir(parents=True)
            place.write_bytes(b"text\n")

    found = read(following(tmp_path))

    assert len(found) == 2
    assert all("attempt_1" in name for name in found)


def test_a_log_of_another_day_is_of_another_job(tmp_path, following):
    old, new = tmp_path / "old.log", tmp_path / "new.log"
    for log in (old, new):
        log.write_bytes(b"text\n")
    os.utime(old, (1.0, 1.0))

    assert list(read(following(tmp_path))) == [str(new)]


def test_a_pipe_is_not_opened(tmp_path, following):
    pipe = tmp_path / "train.log"
    os.mkfifo(pipe)

    assert read(following(pipe)) == {}


def test_a_link_that_leads_to_itself_is_passed_over(tmp_path, following):
    log = tmp_path / "train.log"
    log.symlink_to(log)

    assert read(following(log)) == {}


def test_a_folder_that_goes_away_is_no_error(tmp_path, following):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "train.log").write_bytes(b"text\n")
    follower = following(folder)
    read(follower)

    shutil.rmtree(folder)

    assert read(follower, now=2 * DISCOVERY) == {}
