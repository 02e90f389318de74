from __future__ import annotations

import pytest

from trainrx.evidence.collectives import collective_facts, group_verdicts
from trainrx.evidence.detector import Detector
from trainrx.evidence.readers import read_evidence
from trainrx.model.facts import Facts, Scalar
from trainrx.model.job import Input


def line(rank: int, seq: int = 880, numel: int | None = 131137536, group: str = "") -> str:
    size = f", NumelIn={numel}, NumelOut={numel}" if numel is not None else ""
    return (
        f"[rank{rank}]:[E1123 16:02:10.083090635 ProcessGroupNCCL.cpp:607] [{group}Rank {rank}]"
        " Watchdog caught collective operation timeout: "
        f"WorkNCCL(SeqNum={seq}, OpType=ALLREDUCE{size}, Timeout(ms)=1800000) ran for 1800648 ms\n"
    )


def collective(text: str, world: int | None = None) -> dict[str, Scalar | None]:
    reading = read_evidence([Input(kind="log", name="t.log", text=text)])
    found = collective_facts(reading, group_verdicts(reading, world))
    return {item.kind.removeprefix("collective."): item.value for item in found}


def test_ranks_that_agree_differ_in_nothing() -> None:
    assert collective(line(0) + line(1)) == {
        "verdict": "matched",
        "waiting": 2,
        "seqnum": 880,
        "optype": "all_reduce",
        "numelin": 131137536,
        "numelout": 131137536,
        "first_barrier": False,
        "seqnum_differs": False,
        "numel_differs": False,
    }


def test_one_rank_alone_cannot_differ() -> None:
    facts = collective(line(0))

    assert "seqnum_differs" not in facts
    assert "numel_differs" not in facts


@pytest.mark.parametrize(
    ("second", "name"),
    [(line(1, seq=881), "seqnum_differs"), (line(1, numel=5), "numel_differs")],
)
def test_ranks_that_disagree_are_told(second: str, name: str) -> None:
    assert collective(line(0) + second)[name] is True


def test_only_ranks_of_one_process_group_are_compared() -> None:
    text = (
        line(0, group="PG ID 0 PG GUID 0(default_pg) ")
        + line(1, group="PG ID 0 PG GUID 0(default_pg) ")
        + line(2, seq=3, group="PG ID 4 PG GUID 12(mesh_tp) ")
    )

    assert collective(text)["seqnum_differs"] is False


def test_the_one_rank_of_the_world_that_says_nothing_is_silent() -> None:
    assert collective(line(0) + line(1) + line(3), world=4)["silent_rank"] == 2


def test_the_log_itself_may_tell_the_size_of_the_world() -> None:
    text = "[INFO:swift] rank: 0, local_rank: 0, world_size: 3, local_world_size: 3\n"

    found = Detector([]).detect([Input(kind="log", name="t.log", text=text)])

    assert Facts(found.facts).whole("log.world_size") == 3


@pytest.mark.parametrize("world", [None, 2, 5])
def test_nobody_is_silent_when_all_or_several_are(world: int | None) -> None:
    assert "silent_rank" not in collective(line(0) + line(1), world=world)


def test_a_single_element_at_the_start_is_the_first_barrier() -> None:
    assert collective(line(0, seq=2, numel=1))["first_barrier"] is True


def test_an_old_watchdog_line_without_sizes_is_read() -> None:
    facts = collective(line(0, numel=None) + line(1, numel=None))

    assert "numelin" not in facts
    assert "numel_differs" not in facts
    assert facts["seqnum"] == 880


def test_a_log_without_watchdog_lines_says_nothing_of_collectives() -> None:
    assert collective("fine\n") == {}


def test_a_rank_in_an_earlier_call_waits_at_another_number() -> None:
    found = collective(line(0, seq=880) + line(1, seq=880) + line(2, seq=879))

    assert (found["verdict"], found["seqnum_differs"]) == ("behind", True)
    assert "silent_rank" not in found


def test_ranks_of_an_all_to_all_may_bring_tensors_of_different_size() -> None:
    text = (line(0) + line(1, numel=5)).replace("OpType=ALLREDUCE", "OpType=ALLTOALL")

    assert collective(text)["numel_differs"] is False


def test_a_line_that_ends_behind_the_kind_is_read() -> None:
    found = collective("Watchdog caught: WorkNCCL(SeqNum=812, OpType=ALLREDUCE)\n")

    assert found == {"seqnum": 812, "optype": "all_reduce", "first_barrier": False}
