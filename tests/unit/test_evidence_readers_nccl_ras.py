"""What NCCL RAS says of the ranks, as text and as JSON that lacks a comma.

Samples: NVIDIA/nccl issues 1911 and 1762 (text of 2.26 and 2.27), src/ras/client_support.cc.
"""

from __future__ import annotations

import json

import pytest

from trainrx.evidence.collectives import group_verdicts
from trainrx.evidence.readers import as_evidence, read_evidence
from trainrx.model.job import Input

HEAD = """\
NCCL version 2.26.2 compiled with CUDA 12.6
CUDA runtime version 12060, driver version 12060

Job summary
===========

  Nodes  Processes         GPUs  Processes     GPUs
(total)   per node  per process    (total)  (total)
      4          8            1         32       32

Communicators... (0.00s)
=============

Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
    #  in group  per comm  per node  per comm  in group
"""
ROW = "    0         1         {}         8        {}        {}   RUNNING  {}\n"
ERRORS, WARNINGS = "\nErrors\n======\n\n", "\nWarnings\n========\n\n"
AHEAD = (
    HEAD
    + ROW.format(4, 32, 32, "MISMATCH")
    + ERRORS
    + WARNINGS
    + """\
#0-0 (fa93daea854b060b) MISMATCH
  Communicator ranks have different AllGather operation counts
  30 ranks have launched up to operation 640
  2 ranks have launched up to operation 641
  Rank 12 -- GPU 4 managed by process 323032 on node 10.137.190.124
  Rank 13 -- GPU 5 managed by process 323033 on node 10.137.190.124

"""
)
BEHIND = (
    HEAD
    + ROW.format(1, 4, 4, "MISMATCH")
    + ERRORS
    + WARNINGS
    + """\
#0-0 (0a93daea854b060b) MISMATCH
  Communicator ranks have different AllReduce operation counts
  3 ranks have launched up to operation 51
  Rank 2 has not launched any operations -- GPU 2 managed by process 65 on node 10.4.109.13

"""
)
UNREACHED = (
    HEAD
    + ROW.format(1, 2, 1, "INCOMPLETE")
    + "    2         4         0         0         0         0    NOCOMM  INCOMPLETE,MISMATCH\n"
    + ERRORS
    + """\
INCOMPLETE
  Missing communicator data from 1 job process
  Process 60004 on node 10.4.109.13 managing GPU 0

#0-0 (b3398875b8b2a063) INCOMPLETE
  Missing communicator data from 1 rank
  Rank 1 -- GPU 0 managed by process 60004 on node 10.4.109.13

#2-0 (93d7000200000001) INCOMPLETE
  Missing communicator data from 255 ranks
  Rank 1057455228 -- [process information not found]

"""
    + WARNINGS
)
HEALTHY = HEAD + ROW.format(4, 32, 32, "OK") + ERRORS + WARNINGS
NO_COMMA = """{
  "nccl_version": "2.28.9",
  "communicators_count": 1,
  "communicators": [
    {
      "hash": "0x93d7",
      "size": 4,
      "ranks": [
        {"rank": 0, "host": "10.4.109.13", "pid": 7, "status": {"init_state": 0},
         "collective_counts": {"Broadcast": 0, "AllReduce": 51}}
      ],
      "missing_ranks": [
        {"rank": 1, "host": "10.4.109.13", "pid": 8, "status": {"unresponsive": true}}
        {"rank": 3, "host": "10.4.109.13", "pid": 9, "status": {"considered_dead": true}}
      ]
    }
  ],
  "ras": {"collection_time_sec": 5.012, "timeouts_count": 1}
}
"""


def judged(text: str) -> list[tuple[str, tuple[int, ...], tuple[int, ...]]]:
    item = as_evidence(Input(kind="log", name="ras.txt", text=text))
    return [
        (one.verdict, one.culprits, one.waiting) for one in group_verdicts(read_evidence([item]))
    ]


def test_of_two_ranks_that_are_ahead_of_thirty_nobody_is_late() -> None:
    item = as_evidence(Input(kind="log", name="ras.txt", text=AHEAD))

    assert {one.rank for one in read_evidence([item]).progress} == set(range(32))
    assert judged(AHEAD) == [("state-differs", (), (12, 13))]


@pytest.mark.parametrize("before", ["", "step 1 loss 2.0\n" * 100])
def test_a_rank_that_launched_nothing_is_waited_for(before: str) -> None:
    assert judged(before + BEHIND) == [("behind", (2,), (0, 1, 3))]


def test_a_rank_that_does_not_answer_is_missing_and_an_impossible_one_is_not_counted() -> None:
    assert judged(UNREACHED) == [("missing", (1,), (0,))]


def test_json_without_a_comma_between_missing_ranks_is_read() -> None:
    assert judged(NO_COMMA) == [("missing", (1, 3), (0,))]


def test_a_healthy_report_says_nothing_and_of_several_the_last_counts() -> None:
    assert judged(HEALTHY) == []
    assert judged(BEHIND + HEALTHY) == []


def test_a_verbose_report_names_every_rank() -> None:
    named = "".join(
        f"  Rank {rank} -- GPU {rank} managed by process {60 + rank} on node h\n"
        for rank in (0, 1, 3)
    )
    text = BEHIND.replace("operation 51\n", "operation 51\n" + named)

    (first, *_) = read_evidence([Input(kind="log", name="ras.txt", text=text)]).progress

    assert judged(text) == [("behind", (2,), (0, 1, 3))]
    assert (first.rank, first.host, first.origin.text) == (0, "h", named.splitlines()[0].strip())


@pytest.mark.parametrize("end", range(0, len(UNREACHED), 97))
def test_a_report_that_is_cut_is_read_as_far_as_it_goes(end: int) -> None:
    assert judged(UNREACHED[:end]) in ([], [("missing", (1,), (0,))])


def counted(*looks: tuple[int, ...]) -> list[tuple[str, tuple[int, ...], tuple[int, ...]]]:
    """Judge reports in JSON by the numbers of AllReduce of each rank in each."""
    inputs = [
        as_evidence(Input(kind="log", name=f"ras-{number}.json", text=report(look)))
        for number, look in enumerate(looks)
    ]
    return [
        (one.verdict, one.culprits, one.waiting) for one in group_verdicts(read_evidence(inputs))
    ]


def report(look: tuple[int, ...]) -> str:
    ranks = [
        {"rank": rank, "host": "h", "collective_counts": {"AllReduce": number}}
        for rank, number in enumerate(look)
    ]
    group = {"hash": "0x93d7", "size": len(look), "ranks": ranks, "missing_ranks": []}
    return json.dumps({"nccl_version": "2.28.9", "communicators": [group]})


@pytest.mark.parametrize("look", [(640, 641, 641, 641), (640,) * 30 + (641,) * 2, (9, 9)])
def test_numbers_of_one_look_that_differ_a_little_say_nothing(look: tuple[int, ...]) -> None:
    assert counted(look) == []


@pytest.mark.parametrize("first", [0, 300])
def test_a_rank_that_is_far_behind_is_waited_for_at_one_look(first: int) -> None:
    assert counted((first, 641, 641, 641)) == [("behind", (0,), (1, 2, 3))]


def test_numbers_that_stand_still_from_one_look_to_the_next_name_who_is_late() -> None:
    look = (640, 641, 641, 641)

    assert counted(look, look) == [("behind", (0,), (1, 2, 3))]
    assert counted(look, (655, 655, 656, 656)) == []
