from __future__ import annotations

import json

import pytest

from trainrx.evidence.ranks.standing import job_standing
from trainrx.evidence.readers import as_evidence, read_evidence
from trainrx.knowledge.load import load
from trainrx.model.bundle import BundleItem
from trainrx.model.job import Input
from trainrx.model.ranks import Reading

BARRIER = [
    ("all_reduce", "torch/distributed/distributed_c10d.py", 2810),
    ("step", "train.py", 40),
]
DATA = [
    ("_try_get_data", "torch/utils/data/dataloader.py", 1130),
    ("step", "train.py", 38),
]


def stacks(rank: int, frames: list[tuple[str, str, int]], number: int) -> Input:
    pid = 100 + rank
    thread = {
        "pid": pid,
        "thread_name": "MainThread",
        "active": False,
        "owns_gil": False,
        "frames": [{"name": n, "filename": f, "line": line} for n, f, line in frames],
    }
    item = BundleItem(
        path="x", kind="stacks", host="a", pid=pid, rank=rank, at=10.0 * number, round=number
    )
    text = json.dumps([thread])
    return as_evidence(Input(kind="log", name=f"{rank}-{number}", text=text, taken=item))


def usage(rank: int, ticks: int, number: int, state: str = "S") -> Input:
    pid = 100 + rank
    fields = " ".join([state, *["0"] * 10, str(ticks), "0", *["0"] * 20])
    text = f"{pid} (a) b) {fields}\n{pid + 1000} (other) {fields}\n"
    item = BundleItem(
        path="y", kind="usage", host="a", pid=pid, rank=rank, at=10.0 * number - 0.1, round=number
    )
    return Input(kind="output", name=f"u{rank}-{number}", text=text, taken=item)


def seen(ticks_between: int) -> Reading:
    inputs = []
    for number in (1, 2):
        inputs += [stacks(rank, DATA if rank == 1 else BARRIER, number) for rank in range(3)]
        inputs += [usage(rank, 500 + ticks_between * number, number) for rank in range(3)]
    return read_evidence(inputs)


def test_processor_time_is_that_of_the_first_thread_at_each_look() -> None:
    found = [one.computed for one in seen(100).stacks if one.rank == 0]

    assert found == [6.0, 7.0]


@pytest.mark.parametrize(("ticks", "stuck"), [(0, True), (20, True), (300, False)])
def test_ranks_that_compute_between_two_looks_are_not_stuck(ticks: int, stuck: bool) -> None:
    standing = job_standing(seen(ticks).stacks, load().states.values(), 3)

    assert [one.rank for one in standing.culprits] == [1]
    assert standing.is_stuck is stuck


def test_without_processor_times_nothing_is_said_of_them() -> None:
    inputs = [stacks(0, BARRIER, 1), stacks(0, BARRIER, 2)]

    assert [one.computed for one in read_evidence(inputs).stacks] == [None, None]


@pytest.mark.parametrize("state", ["T", "t"])
@pytest.mark.parametrize("dumped", [True, False])
def test_a_process_that_is_stopped_is_the_one_the_others_wait_for(state: str, dumped: bool) -> None:
    inputs = [stacks(rank, BARRIER, 1) for rank in range(3) if dumped or rank != 1]
    inputs += [usage(rank, 500, 1, state if rank == 1 else "S") for rank in range(3)]

    standing = job_standing(read_evidence(inputs).stacks, load().states.values(), 3)

    assert [(one.rank, one.state.id) for one in standing.culprits] == [(1, "suspended")]
    assert (standing.missing, standing.is_stuck) == ((), True)


def test_a_process_that_runs_and_left_no_stack_is_missing() -> None:
    inputs = [stacks(rank, BARRIER, 1) for rank in range(3) if rank != 1]
    inputs += [usage(rank, 500, 1) for rank in range(3)]

    standing = job_standing(read_evidence(inputs).stacks, load().states.values(), 3)

    assert (standing.culprits, standing.missing) == ((), (1,))
