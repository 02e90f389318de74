"""Who is where in the collectives, from the lines of watchdogs, recorders and NCCL RAS."""

from __future__ import annotations

import pytest

from trainrx.evidence.collectives import collective_facts, drift_symptom, group_verdicts
from trainrx.evidence.readers import read_evidence
from trainrx.model.facts import Origin
from trainrx.model.job import Input
from trainrx.model.ranks import CallState, CollectiveCall, GroupProgress, Reading

MEMBERS = (0, 1, 2, 3)


def call(rank: int, seq: int, op: str = "all_reduce", **more: object) -> CollectiveCall:
    state: CallState = "scheduled"
    base = {"numel": 8, "state": state, "members": MEMBERS, "dtypes": ("Float",)}
    return CollectiveCall(
        op=op, rank=rank, seq=seq, origin=Origin(source=f"trace_{rank}"), **(base | more)
    )


def over(rank: int, upto: int) -> list[CollectiveCall]:
    return [call(rank, seq, state="completed") for seq in range(1, upto + 1)]


def verdict(*calls: CollectiveCall, world: int | None = None, progress=()):
    found = group_verdicts(Reading(calls=calls, progress=progress), world)
    return (found[0].verdict, found[0].culprits, found[0].waiting)


def watchdog(rank: int, seq: int, op: str = "ALLREDUCE", numel: int = 8) -> str:
    return (
        f"[rank{rank}]:[E1123 16:02:10.083090635 ProcessGroupNCCL.cpp:607] [PG ID 0 PG GUID "
        f"0(default_pg) Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL("
        f"SeqNum={seq}, OpType={op}, NumelIn={numel}, NumelOut={numel}, Timeout(ms)=1800000) ran "
        "for 1800648 milliseconds before timing out.\n"
    )


def read(text: str, world: int | None = None):
    return group_verdicts(read_evidence([Input(kind="log", name="t.log", text=text)]), world)


@pytest.mark.parametrize(
    ("last", "wanted"),
    [
        (lambda rank: call(rank, 4), ("matched", (), (0, 1, 2, 3))),
        (
            lambda rank: call(rank, 4, "broadcast" if rank == 3 else "all_reduce"),
            ("op-differs", (3,), (0, 1, 2)),
        ),
        (
            lambda rank: call(rank, 4, numel=16 if rank == 1 else 8),
            ("size-differs", (1,), (0, 2, 3)),
        ),
        (
            lambda rank: call(rank, 4, dtypes=("Half",) if rank == 0 else ("Float",)),
            ("dtype-differs", (0,), (1, 2, 3)),
        ),
    ],
)
def test_who_calls_something_else_than_most_is_the_culprit(last, wanted) -> None:
    calls = [one for rank in MEMBERS for one in (*over(rank, 3), last(rank))]

    assert verdict(*calls) == wanted


def test_of_two_halves_nobody_can_say_which_is_right() -> None:
    calls = [call(rank, 1, "barrier" if rank < 2 else "all_reduce") for rank in MEMBERS]

    assert verdict(*calls) == ("op-differs", (), (0, 1, 2, 3))


def test_all_to_all_takes_what_each_rank_has() -> None:
    calls = [call(rank, 1, "all_to_all", numel=8 + rank) for rank in MEMBERS]

    assert verdict(*calls)[0] == "matched"


def test_who_has_not_called_what_the_others_wait_in_is_behind() -> None:
    calls = [one for rank in (0, 1, 3) for one in (*over(rank, 3), call(rank, 4))]

    assert verdict(*calls, *over(2, 3)) == ("behind", (2,), (0, 1, 3))


def test_who_called_nothing_at_all_did_not_start() -> None:
    silent = GroupProgress(rank=2, origin=Origin(source="trace_2"), members=MEMBERS)

    found = verdict(*(call(rank, 1) for rank in (0, 1, 3)), progress=(silent,))

    assert found == ("not-started", (2,), (0, 1, 3))


def test_of_whom_nothing_is_known_is_missing() -> None:
    assert verdict(*(call(rank, 1) for rank in (0, 1, 3))) == ("missing", (2,), (0, 1, 3))


def test_of_several_that_left_nothing_it_is_not_said_that_they_are_missing() -> None:
    assert verdict(call(0, 1), call(3, 1)) == ("matched", (), (0, 3))


def test_a_rank_that_waits_in_what_the_others_are_through_with_is_behind() -> None:
    text = "".join(watchdog(rank, 880) for rank in (0, 1, 3))

    (found,) = read(text + watchdog(2, 879, "_ALLGATHER_BASE"))

    assert (found.verdict, found.culprits, found.waiting) == ("behind", (2,), (0, 1, 3))


def test_of_equal_halves_who_has_not_called_what_the_others_wait_in_is_late() -> None:
    stuck = [call(0, 4), call(1, 4), call(1, 5), call(1, 6)]
    past = [*over(2, 5), call(2, 6), *over(3, 5), call(3, 6)]

    assert verdict(*stuck, *past)[:2] == ("behind", (0,))
    assert verdict(call(0, 4), call(1, 4), *past)[:2] == ("state-differs", ())


def test_ranks_that_left_nothing_may_side_with_the_fewer() -> None:
    calls = [call(0, 4), call(1, 4), call(2, 4, numel=16)]

    assert verdict(*calls)[:2] == ("size-differs", ())
    assert verdict(*calls, call(3, 4))[:2] == ("size-differs", (2,))


def test_what_comes_out_of_a_reduction_is_as_large_as_what_goes_in() -> None:
    whole = [call(rank, 4, outputs=((8,),)) for rank in MEMBERS]

    assert verdict(*whole)[0] == "matched"
    assert verdict(*whole[:3], call(3, 4, outputs=((9,),)))[:2] == ("size-differs", (3,))
    assert verdict(*(call(rank, 4, outputs=((9,),)) for rank in MEMBERS))[0] == "size-differs"


def test_calls_that_went_through_with_other_types_are_told_and_stop_nobody() -> None:
    calls = [*over(0, 4), *over(1, 4), *over(2, 3)]
    (found,) = group_verdicts(
        Reading(calls=(*calls, call(2, 4, state="completed", dtypes=("Half",)))), 3
    )

    assert (found.verdict, found.culprits, found.waiting) == ("dtype-differs", (), ())
    assert drift_symptom([found]) is None
    assert group_verdicts(Reading(calls=tuple(over(0, 4) + over(1, 4)))) == []


def test_messages_between_two_ranks_are_no_collectives() -> None:
    message = call(0, 9, "send", peer=1)

    assert group_verdicts(Reading(calls=(message,))) == []


def test_counts_alone_say_who_called_fewer() -> None:
    def said(rank: int, number: int) -> GroupProgress:
        calls = {"all_reduce": number, "barrier": 1}
        return GroupProgress(
            rank=rank, origin=Origin(source="ras"), group="c", calls=calls, mismatch=True
        )

    reading = Reading(progress=tuple(said(rank, 9 if rank == 2 else 10) for rank in MEMBERS))

    (found,) = group_verdicts(reading)
    assert (found.verdict, found.culprits, found.op) == ("behind", (2,), "all_reduce")


def values(found) -> dict[str, object]:
    facts = collective_facts(Reading(), found)
    return {item.kind.removeprefix("collective."): item.value for item in facts}


def test_one_rank_alone_tells_nothing_of_the_others() -> None:
    assert values(read(watchdog(0, 2, numel=1))) == {}


def test_ranks_that_report_leave_the_silent_one_of_the_world() -> None:
    found = read("".join(watchdog(rank, 880) for rank in (0, 1, 3)), world=4)

    assert values(found) == {
        "verdict": "missing",
        "culprits": 1,
        "waiting": 3,
        "seqnum": 880,
        "optype": "all_reduce",
        "numelin": 8,
        "numelout": 8,
        "first_barrier": False,
        "seqnum_differs": False,
        "numel_differs": False,
        "silent_rank": 2,
    }


def test_ranks_in_different_calls_have_drifted_apart() -> None:
    calls = [call(rank, 1, "barrier" if rank == 2 else "all_reduce") for rank in MEMBERS]

    found = values(group_verdicts(Reading(calls=tuple(calls))))

    assert found["seqnum_differs"] is True
    assert "silent_rank" not in found


@pytest.mark.parametrize(
    ("backends", "said"),
    [(("gloo", "gloo"), "gloo"), (("nccl", "gloo"), None), (("", ""), None)],
)
def test_what_carries_the_open_calls_is_said_where_it_is_one(backends, said) -> None:
    done = call(0, 1, state="completed", backend="nccl")
    calls = (done, *(call(rank, 2, backend=name) for rank, name in enumerate(backends)))

    facts = {item.kind: item.value for item in collective_facts(Reading(calls=calls), ())}

    assert facts.get("collective.backend") == said
