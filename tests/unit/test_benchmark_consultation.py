"""The oracle consults on threads: what it starts with, what it answers, what is counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from consultation import (
    COUNTED,
    Arbitrary,
    Oracle,
    best_first,
    case_of,
    consultations,
    table,
)

from trainrx import diagnose
from trainrx.cli._consultation import MOST
from trainrx.knowledge.load import load
from trainrx.knowledge.loaded import LoadedKnowledge

LOG = (
    "step 1\nstep 2\n[rank1]: Watchdog caught collective operation timeout: WorkNCCL(SeqNum=112, "
    "OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600002 milliseconds "
    "before timing out."
)


def thread(ident: str, **more: Any) -> dict[str, Any]:
    base = {
        "id": ident,
        "framework": "ms-swift",
        "cmd": "swift sft --model Qwen/Qwen2.5-7B --deepspeed zero3",
        "log": LOG,
        "versions": {"ms-swift": "3.2.1"},
        "hardware": {"gpu": "A100", "gpus": 8},
        "observed": "Training hangs after two steps. ZeRO-3 is on.",
        "symptom": "hang",
        "fixes": [{"param": "ddp_timeout", "action": "raise"}],
    }
    return base | more


THREADS = (
    thread("full"),
    thread("told", cmd="", log="", versions={}, hardware={}),
    thread("silent", observed="", cmd=""),
)


@pytest.mark.parametrize(
    ("start", "left"),
    [
        ("note", {"framework", "note"}),
        ("command", {"framework", "note", "cmd"}),
        ("log", {"framework", "logs"}),
    ],
)
def test_all_but_little_is_withheld(start: str, left: set[str], tmp_path: Path) -> None:
    case = case_of(thread("full"), tmp_path, start)

    assert case is not None
    assert set(case.start) == left
    assert case.start.get("note", "Training hangs after two steps.") == (
        "Training hangs after two steps."
    )
    assert case_of(thread("told", log=""), tmp_path, "log") is None


def test_the_oracle_answers_from_what_the_thread_holds_and_else_does_not_know(
    tmp_path: Path,
) -> None:
    case = case_of(thread("full"), tmp_path, "note")
    assert case is not None
    oracle = Oracle(case.full, LoadedKnowledge())

    assert oracle.reply("log") == tmp_path / "train.log"
    assert oracle.reply("launch") == tmp_path / "launch.sh"
    assert oracle.reply("parallel.zero_stage") == "3"
    assert oracle.reply("symptom.nccl-watchdog-timeout") == "yes"
    assert oracle.reply("symptom.kernel-oom-kill") == "unknown"
    assert oracle.reply("collective.seqnum_differs") == "unknown"


def test_arbitrary_questions_come_in_the_same_order_each_time_and_never_twice() -> None:
    answer = diagnose(note=THREADS[0]["observed"])

    orders = []
    for seed in ("1", "1", "2"):
        choose = Arbitrary(load(), seed)
        orders.append([choose(answer, put) for put in range(MOST + 1)])

    assert orders[0] == orders[1] != orders[2]
    assert len(set(orders[0][:MOST])) == MOST
    assert orders[0][MOST] == "" == best_first(answer, MOST)


def test_threads_make_a_table() -> None:
    found = list(consultations(THREADS[:2], "note", 1))

    assert [row["id"] for row in found] == ["full", "told"]
    for row in found:
        assert len(row["tool"]["solved"]) == len(COUNTED)
        assert row["tool"]["put"] <= MOST
    assert found[0]["tool"]["known"] > found[1]["tool"]["known"] == 0
    assert [line.split()[0] for line in table(found)] == [
        "order",
        "tool",
        "arbitrary",
        "everything",
    ]
