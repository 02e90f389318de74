from __future__ import annotations

import pytest
from log_signatures import scan, values

from trainrx.evidence.detector import Detector
from trainrx.model.facts import Scalar
from trainrx.model.job import Input


def line(rank: int, seq: int = 880, numel: int | None = 131137536, group: str = "") -> str:
    size = f", NumelIn={numel}, NumelOut={numel}" if numel is not None else ""
    return (
        f"[rank{rank}]:[E1123 16:02:10.083090635 ProcessGroupNCCL.cpp:607] [{group}Rank {rank}]"
        " Watchdog caught collective operation timeout: "
        f"WorkNCCL(SeqNum={seq}, OpType=ALLREDUCE{size}, Timeout(ms)=1800000) ran for 1800648 ms\n"
    )


def collective(text: str, world: int | None = None) -> dict[str, Scalar | None]:
    found = Detector([]).detect([Input(kind="log", name="t.log", text=text)], world=world)
    return {k.removeprefix("collective."): v for k, v in values(found).items() if k[0] == "c"}


def test_ranks_that_agree_differ_in_nothing() -> None:
    assert collective(line(0) + line(1)) == {
        "seqnum": 880,
        "optype": "ALLREDUCE",
        "numelin": 131137536,
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

    assert collective(text + line(0) + line(1))["silent_rank"] == 2


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
    assert not [name for name in values(scan("fine\n")) if name.startswith("collective.")]
