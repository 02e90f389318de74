"""Where ranks stand by their stacks, and which ones the others wait for."""

from __future__ import annotations

import pytest

from trainrx.evidence.ranks.standing import (
    JobStanding,
    job_standing,
    stall_symptom,
    standing_facts,
)
from trainrx.evidence.ranks.states import place_of, stack_of, state_of
from trainrx.evidence.ranks.tree import tree
from trainrx.evidence.readers import Source, readers
from trainrx.knowledge.load import load
from trainrx.model.ranks import RankEnd, ThreadStack, ranges

BACKWARD = """
    _engine_run_backward (torch/autograd/graph.py:824)
    Tensor.backward (torch/_tensor.py:626)"""
BARRIER = """
    barrier (torch/distributed/distributed_c10d.py:4551)
    wrapper (torch/distributed/c10d_logger.py:83)"""
LOADER = """
    poll (multiprocessing/connection.py:257)
    get (multiprocessing/queues.py:113)
    _try_get_data (torch/utils/data/dataloader.py:1275)
    _get_data (torch/utils/data/dataloader.py:1443)"""
READS = """
    Path.open (pathlib.py:1044)
    read_image (dataset.py:42)"""
CODE = """
    augment (dataset.py:9)"""
WORKER = """
    fetch (torch/utils/data/_utils/fetch.py:54)
    _worker_loop (torch/utils/data/_utils/worker.py:349)
    _bootstrap (multiprocessing/process.py:314)
    _launch (multiprocessing/popen_fork.py:71)"""


def dump(pid: int, frames: str, at: int = 8, state: str = "idle") -> str:
    return (
        f"Process {pid}: python train.py\nPython v3.11.7 (/usr/bin/python3)\n\n"
        f'Thread {pid} ({state}): "MainThread"{frames}\n    fit (train.py:{at})\n'
    )


def stacks(**files: str) -> list[ThreadStack]:
    reader = readers()["py_spy"]
    read = (reader.read(text.encode(), Source(f"{name}.txt")) for name, text in files.items())
    return [stack for reading in read for stack in reading.stacks]


def standing(world_size: int | None = None, **files: str) -> JobStanding:
    return job_standing(stacks(**files), load().states.values(), world_size)


def facts(job: JobStanding) -> dict[str, object]:
    return {item.kind: item.value for item in standing_facts(job)}


def test_one_rank_that_reads_while_the_others_wait_is_the_culprit() -> None:
    job = standing(rank0=dump(1, BACKWARD), rank1=dump(2, READS, 7), rank2=dump(3, BACKWARD))

    said = facts(job)
    assert (said["stuck.culprits"], said["stuck.waiting"]) == ("1", "0,2")
    assert (said["stuck.state"], said["stuck.collective"]) == ("reads-storage", "all_reduce")
    assert (said["stuck.file"], said["stuck.function"]) == ("dataset.py", "read_image")
    origins = next(item.origins for item in standing_facts(job) if item.kind == "stuck.file")
    assert [(at.source, at.line) for at in origins] == [("rank1.txt", 6)]


def test_a_rank_that_waits_for_its_worker_stands_where_the_worker_does() -> None:
    job = standing(
        rank0=dump(1, BARRIER),
        rank1=dump(2, LOADER) + dump(9, READS + WORKER),
        **{"rank1-worker1": dump(10, READS + WORKER)},
    )

    (culprit,) = job.culprits
    assert (culprit.rank, culprit.state.id, culprit.frame.line) == (1, "reads-storage", 42)


def test_ranks_of_another_collective_than_most_are_the_culprits() -> None:
    job = standing(rank0=dump(1, BARRIER), rank1=dump(2, BACKWARD), rank2=dump(3, BACKWARD))

    assert [one.rank for one in job.culprits] == [0]
    assert facts(job)["stuck.state"] == "waits-in-collective"


def test_ranks_that_wait_in_one_collective_at_another_line_are_the_culprits() -> None:
    job = standing(rank0=dump(1, BARRIER, 60), rank1=dump(2, BARRIER), rank2=dump(3, BARRIER))

    assert [one.rank for one in job.culprits] == [0]


def test_two_ranks_in_two_collectives_are_not_told_apart() -> None:
    job = standing(rank0=dump(1, BARRIER), rank1=dump(2, BACKWARD))

    assert job.culprits == ()


def test_a_rank_of_the_world_that_has_no_stack_is_missing() -> None:
    job = standing(3, rank0=dump(1, BARRIER), rank2=dump(3, BARRIER))

    said = facts(job)
    assert (said["stuck.missing"], said["stuck.waiting"]) == ("1", "0,2")
    assert stall_symptom(job) is not None


def test_ranks_are_not_missing_where_only_a_part_of_the_job_was_looked_at() -> None:
    seen = {f"rank{rank}": dump(rank, BARRIER) for rank in range(4)}

    assert standing(8, **seen).missing == ()
    assert standing(7, **seen).missing == (4, 5, 6)


def test_the_same_process_id_on_two_nodes_is_two_ranks() -> None:
    job = standing(rank0=dump(9, BARRIER), rank1=dump(9, READS), rank2=dump(9, BARRIER))

    assert [one.rank for one in job.culprits] == [1]


def test_where_a_dump_does_not_say_who_computes_the_backward_pass_waits() -> None:
    backward = stack_of("_engine_run_backward (torch/autograd/graph.py:824) < fit (train.py:8)")

    found = state_of(backward, load().states.values())

    assert found is not None
    assert found.state.id == "waits-in-backward"


def test_processes_without_ranks_are_told_apart_by_their_numbers() -> None:
    job = standing(dumps=dump(11, BARRIER) + dump(12, READS) + dump(13, BARRIER))

    said = facts(job)
    assert (said["stuck.culprits"], said["stuck.waiting"]) == ("pid 12", "pid 11,13")


def test_nobody_is_missing_where_a_process_has_no_rank() -> None:
    job = standing(3, rank0=dump(1, BARRIER), pid5=dump(5, BARRIER))

    assert job.missing == ()


def test_what_each_step_does_is_no_stall_at_one_look() -> None:
    once = {"rank0": dump(1, BACKWARD), "rank1": dump(2, LOADER), "rank2": dump(3, BACKWARD)}

    assert stall_symptom(standing(**once)) is None
    assert stall_symptom(standing(**{name: text * 2 for name, text in once.items()})) is not None


def test_ranks_that_are_let_on_between_two_looks_are_not_stuck() -> None:
    job = standing(
        rank0=dump(1, BARRIER, 7) + dump(1, BARRIER, 9), rank1=dump(2, READS) + dump(2, READS)
    )

    assert facts(job) == {}
    assert stall_symptom(job) is None


def test_a_rank_that_computes_has_to_be_seen_at_it_three_times() -> None:
    for looks, is_stuck in ((2, None), (3, True)):
        job = standing(
            rank0=dump(1, BACKWARD) * looks,
            rank1=dump(2, BACKWARD) * looks,
            rank2=dump(3, CODE, state="active+gil") * looks,
        )

        assert job.is_stuck is is_stuck


def test_all_ranks_at_the_same_wait_agree_on_it() -> None:
    post = """
    readinto (socket.py:706)
    _make_request (urllib3/connectionpool.py:540)
    score (reward.py:14)"""
    job = standing(rank0=dump(1, post), rank1=dump(2, post))

    said = facts(job)
    assert (said["stuck.state"], said["stuck.function"]) == ("asks-server", "score")
    assert "stuck.culprits" not in said
    assert stall_symptom(job) is not None


def test_a_launcher_is_no_rank() -> None:
    agent = """
    _invoke_run (torch/distributed/elastic/agent/server/api.py:906)
    main (torch/distributed/run.py:892)"""
    job = standing(agent=dump(1, agent), rank0=dump(2, BARRIER), rank1=dump(3, READS))

    assert [one.rank for one in job.ranks] == [0, 1]


@pytest.mark.parametrize(
    ("sample", "place"),
    [
        ("wait (threading.py:3) < get (requests/api.py:9) < run (train.py:2)", "run"),
        ("save (torch/serialization.py:9) < _save (/opt/site-packages/swift/a.py:1)", "_save"),
        ("all_reduce (torch/distributed/distributed_c10d.py:9)", ""),
    ],
)
def test_the_place_is_in_the_users_or_a_frameworks_code(sample: str, place: str) -> None:
    found = place_of(stack_of(sample))

    assert ("" if found is None else found[1].function) == place


def test_a_stack_without_frames_is_in_no_state() -> None:
    assert state_of(stack_of("no frame"), load().states.values()) is None


def test_stacks_become_one_tree_with_the_ranks_of_each_call() -> None:
    seen = stacks(rank0=dump(1, BARRIER), rank1=dump(2, READS), rank2=dump(3, BARRIER))

    lines = tree(enumerate(seen))

    assert [(line.depth, ranges(line.ranks), line.frame.function) for line in lines] == [
        (0, "0-2", "fit"),
        (1, "0,2", "wrapper"),
        (1, "0,2", "barrier"),
        (1, "1", "read_image"),
        (1, "1", "Path.open"),
    ]


def test_ranges_of_ranks_are_folded() -> None:
    assert ranges([4, 0, 2, 1]) == "0-2,4"
    assert ranges([]) == ""


def test_a_process_without_threads_is_stopped_unless_its_dump_is_cut() -> None:
    bare = "Process 9: python train.py\nPython v3.11.7 (/usr/bin/python3)\n\n"

    found = standing(rank0=dump(1, BARRIER), rank1=bare)

    assert [(one.rank, one.state.id) for one in found.culprits] == [(1, "suspended")]
    assert stacks(rank1=bare.rstrip()) == []


def test_a_child_without_threads_is_not_taken_for_its_rank() -> None:
    child = "Process 9: python train.py\nPython v3.11.7 (/usr/bin/python3)\n\n"

    found = standing(rank0=dump(1, BARRIER), rank1=child + dump(2, LOADER))

    assert [(one.rank, one.state.id) for one in found.culprits] == [(1, "waits-for-loader-worker")]


@pytest.mark.parametrize(("text", "state"), [("DistStoreError: x", True), ("OSError: x", False)])
def test_a_rank_that_gave_up_at_the_store_waited_for_others(text: str, state: bool) -> None:
    seen = stacks(rank0=dump(1, BARRIER), rank1=dump(2, ""), rank2=dump(3, BARRIER))
    frames = next(one.frames for one in seen if one.pid == 2)
    end = RankEnd(rank=1, text=text, origin=frames[0].origin, frames=frames)

    found = job_standing(seen, load().states.values(), 3, gave_up=[end])

    assert [one.rank for one in found.culprits] == [1]
    assert (found.culprits[0].state.id == "waits-in-rendezvous") is state
    assert facts(found)["stuck.same_place"] is False
