"""Dumps of the flight recorder: real ones, JSON, and pickles that are none."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from trainrx import diagnose
from trainrx.evidence.collectives import group_verdicts
from trainrx.evidence.readers import Source, as_evidence, read_evidence
from trainrx.evidence.readers.flight_recorder import read
from trainrx.model.job import Input
from trainrx.render import render
from trainrx.render.document import View

RECORDED = Path(__file__).parents[1] / "evidence" / "recorder"


def dumps(situation: str) -> list[Input]:
    paths = sorted((RECORDED / situation).iterdir())
    return [as_evidence(Input(kind="other", name=str(path), path=path)) for path in paths]


@pytest.mark.parametrize(
    ("situation", "wanted"),
    [
        ("gather-on-one-rank", ("op-differs", (0,), (1, 2, 3))),
        ("behind", ("behind", (2,), (0, 1, 3))),
        ("other-call-json", ("op-differs", (1,), (0, 2, 3))),
    ],
)
def test_what_a_real_job_recorded_names_the_rank_that_keeps_the_others(situation, wanted) -> None:
    (found,) = group_verdicts(read_evidence(dumps(situation)))

    assert (found.verdict, found.culprits, found.waiting) == wanted


def test_a_call_says_who_called_it() -> None:
    first = read_evidence(dumps("gather-on-one-rank")[:1]).calls[-1]

    assert (first.op, first.seq, first.rank, first.members) == ("all_gather", 4, 0, (0, 1, 2, 3))
    assert any(frame.file.endswith("job.py") for frame in first.frames)


def test_json_has_states_as_texts_and_no_entries_where_there_are_none() -> None:
    said = {
        "version": "2.10",
        "comm_lib_version": "2.27.3",
        "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}},
        "pg_status": {"0": {"last_enqueued_collective": "7", "last_completed_collective": "6"}},
    }
    item = Input(kind="config", name="comm_trace_rank_1", text=json.dumps(said))

    (progress,) = read_evidence([as_evidence(item)]).progress

    assert (progress.rank, progress.members) == (1, (0, 1))
    assert (progress.enqueued, progress.completed) == (7, 6)


@pytest.mark.parametrize("end", [1, 40, 400, -1])
def test_a_pickle_that_is_cut_is_unread(end: int) -> None:
    data = (RECORDED / "gather-on-one-rank" / "trace_rank_0").read_bytes()

    assert len(read(data[:end], Source("trace_rank_0")).unread) == 1


def test_values_of_other_types_than_a_recorder_writes_count_as_absent() -> None:
    odd = {
        "pg_config": [1],
        "pg_status": {"0": 5},
        "entries": [{"profiling_name": 3, "collective_seq_id": "x", "input_sizes": {"a": 1}}, 7],
    }

    found = read(pickle.dumps(odd, protocol=2), Source("trace_rank_0"))

    assert [call.seq for call in found.calls] == [None]


@pytest.mark.parametrize(
    ("lang", "said"),
    [
        (
            "en",
            "rank 0 calls all_gather where the others call barrier #4 (/data/a/job.py:16 <module>)",
        ),
        (
            "zh",
            "rank 0 调用了 all_gather，而其他 rank 调用 barrier #4（/data/a/job.py:16 <module>）",
        ),
    ],
)
def test_the_first_screen_names_the_rank_and_where_it_calls(lang, said) -> None:
    answer = diagnose(RECORDED / "gather-on-one-rank", lang=lang)

    assert answer.ranks is not None
    assert (answer.ranks.culprits, answer.ranks.waiting) == ((0,), (1, 2, 3))
    page = render(answer, "text", View(lang, width=200))
    assert said in " ".join(page.split())


def trace(rank: int, last: str, status: dict[str, dict[str, int]]) -> Input:
    """Make a dump whose groups are named otherwise than their status is numbered."""
    entry = {
        "pg_id": 2,
        "process_group": ["33", "MODEL_PARALLEL_GROUP"],
        "collective_seq_id": 9,
        "profiling_name": "nccl:all_reduce",
        "state": "scheduled",
    }
    said = {
        "version": "2.9",
        "nccl_version": "2.27.3",
        "pg_config": {
            "0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1, 2]"},
            "33": {"name": "33", "desc": "MODEL_PARALLEL_GROUP", "ranks": "[0, 1, 2]"},
        },
        "pg_status": status,
        "entries": [entry] if last else [],
    }
    text = json.dumps(said)
    return as_evidence(Input(kind="other", name=f"_dump_{rank}.json", text=text))


def test_a_rank_without_calls_has_the_status_of_the_number_its_group_was_made_with() -> None:
    ahead = {"0": {"last_enqueued_collective": 4}, "2": {"last_enqueued_collective": 9}}
    late = {
        "0": {"last_enqueued_collective": 4, "last_completed_collective": 4},
        "2": {"last_enqueued_collective": 8, "last_completed_collective": 8},
    }
    inputs = [trace(0, "x", ahead), trace(1, "x", ahead), trace(2, "", late)]

    found = group_verdicts(read_evidence(inputs))

    assert [(one.verdict, one.culprits, one.seq) for one in found] == [("behind", (2,), 9)]


def test_a_dump_of_torch_2_11_says_which_call_was_never_started() -> None:
    """Written by the watchdog of one rank whose card was busy with a kernel."""
    path = RECORDED.parent / "one-card" / "recorder_0"

    calls = read(path.read_bytes(), Source(name="nccl_trace_rank_0")).calls

    assert [(call.seq, call.op, call.state) for call in calls[-2:]] == [
        (6, "barrier", "completed"),
        (7, "all_reduce", "scheduled"),
    ]
    assert {call.frames[-1].line for call in calls[-1:]} == {11}
