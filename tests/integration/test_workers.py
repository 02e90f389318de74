"""The processes that answer, when they hang, die or break altogether."""

from __future__ import annotations

import time
from collections.abc import Iterator

import psutil
import pytest

from trainrx.share.task import Task, TaskFile
from trainrx.share.workers import Limits, Workers, outcome_of

LAUNCH = TaskFile(name="launch.sh", data=b"swift sft --model a\n", role="")
LOG = TaskFile(
    name="a.log", data=b"CUDA out of memory. Tried to allocate 1 GiB\n" * 200_000, role="log"
)
LONG = Task(kind="diagnose", files=(LOG,))
TASK = Task(kind="lint", files=(LAUNCH,))


@pytest.fixture
def workers() -> Iterator[Workers]:
    made = Workers(Limits(processes=1, seconds=3))
    yield made
    made.close()


def answers(workers: Workers) -> bool:
    return bool(outcome_of(workers.submit(TASK)).json)


def answering() -> psutil.Process:
    """Give the process that answers: the child of the one that forks."""
    own = psutil.Process()
    forks = [one for one in own.children() if one.children() and "forkserver" in str(one.cmdline())]
    return forks[-1].children()[-1]


def test_a_process_that_hangs_or_dies_is_replaced(workers):
    assert answers(workers)

    asked = workers.submit(LONG)
    time.sleep(0.3)
    answering().suspend()
    assert "too long" in outcome_of(asked).error
    assert answers(workers)

    answering().kill()
    assert any(answers(workers) for _ in range(3))


def test_a_pool_that_broke_is_replaced(workers):
    assert answers(workers)
    workers._pool.stop()
    assert not workers.alive

    assert answers(workers)
    assert workers.alive
