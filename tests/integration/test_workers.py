"""The processes that answer, when they hang, die or are stopped."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from trainrx.share.spool import PrivateFolder
from trainrx.share.task import Task, TaskFile
from trainrx.share.workers import BusyError, Limits, Workers

LAUNCH = TaskFile(name="launch.sh", data=b"swift sft --model a\n", role="")
LOG = TaskFile(
    name="a.log", data=b"CUDA out of memory. Tried to allocate 1 GiB\n" * 200_000, role="log"
)
WAIT = 30.0
"""Seconds, far more than it takes."""
LONG = Task(kind="diagnose", files=(LOG,))
TASK = Task(kind="lint", files=(LAUNCH,))


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    made = Workers(Limits(processes=1, seconds=2, taken=4, waiting=3))
    yield made
    made.close()


def answers(workers: Workers) -> bool:
    return bool(workers.submit(TASK).result(timeout=60).json)


def answering(workers: Workers) -> psutil.Process:
    """Give the process that answers, once it is there."""
    until = time.monotonic() + WAIT
    while (process := workers._processes[0]._process) is None and time.monotonic() < until:
        time.sleep(0.05)
    # psutil takes None for this process itself
    assert process is not None
    assert process.pid is not None
    return psutil.Process(process.pid)


def test_one_that_is_stopped_while_nothing_is_asked_does_not_keep_the_next_question(workers):
    assert answers(workers)
    stopped = answering(workers)
    stopped.suspend()

    assert answers(workers)

    assert not stopped.is_running()


def test_one_that_hangs_over_a_question_is_replaced(workers):
    assert answers(workers)
    asked = workers.submit(LONG)
    time.sleep(0.3)
    answering(workers).suspend()

    outcome = asked.result(timeout=30)

    assert (outcome.failure, outcome.json) == ("time", b"")
    assert answers(workers)


def test_one_that_dies_is_replaced_before_and_while_it_answers(workers):
    assert answers(workers)
    answering(workers).kill()
    assert answers(workers)

    asked = workers.submit(LONG)
    time.sleep(0.3)
    answering(workers).kill()
    assert asked.result(timeout=30).failure == "ended"
    assert answers(workers)


def test_more_than_may_wait_is_refused(workers):
    made = [workers.submit(task) for task in (LONG, TASK, TASK)]
    with pytest.raises(BusyError):
        workers.submit(TASK)
    answering(workers).kill()
    assert all(one.result(timeout=60) for one in made)


def test_what_waits_too_long_is_told_so():
    impatient = Workers(Limits(processes=1, patience=0))

    outcome = impatient.submit(TASK).result(timeout=60)

    assert outcome.failure == "waited"
    impatient.close()


def test_what_was_sent_is_gone_with_the_last_question_that_names_it(workers):
    sent = Path(workers.spool.kept(TASK).files[0].path)
    task = workers.spool.kept(TASK)
    path = Path(task.files[0].path)

    assert not sent.exists()
    assert workers.submit(task).result(timeout=60).json
    assert path.read_bytes() == LAUNCH.data
    del task
    for _ in range(100):  # the thread that answered it lets go of it last
        if not path.exists():
            return
        time.sleep(0.01)
    pytest.fail("it is still there")


def test_nothing_is_left_of_processes_that_were_closed():
    workers = Workers(Limits(processes=1))
    assert answers(workers)
    process, folder = answering(workers), workers._folder.path

    workers.close()

    assert not folder.exists()
    assert not process.is_running()


def test_what_a_killed_service_left_is_removed_by_the_next_one(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left, lives = PrivateFolder(), PrivateFolder()
    left._lock.close()

    third = PrivateFolder()

    assert not left.path.exists()
    assert lives.path.exists()
    for folder in (lives, third):
        folder.remove()
    assert list(tmp_path.iterdir()) == []
