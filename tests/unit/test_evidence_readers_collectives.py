"""What torch's own checks, NCCL's log and watchdogs say of the calls of the ranks."""

from __future__ import annotations

import pytest

from trainrx.evidence.collectives import GroupVerdict, given_up_symptom, group_verdicts
from trainrx.evidence.readers import read_evidence
from trainrx.model.job import Input
from trainrx.model.ranks import Reading

OPTIONS = "TensorDeviceTypes=TensorOptions(dtype=float (default), device=cuda)"
WORK = (
    "Watchdog caught collective operation timeout: WorkNCCL(SeqNum={seq}, OpType=BROADCAST, "
    "NumelIn=512, NumelOut=512, Timeout(ms)=1800000) ran for 1800042 milliseconds before timing out"
)


def reading(text: str) -> Reading:
    return read_evidence([Input(kind="log", name="train.log", text=text)])


def verdict(text: str, world: int | None = None) -> tuple[str, tuple[int, ...]]:
    found: GroupVerdict = group_verdicts(reading(text), world)[0]
    return found.verdict, found.culprits


def fingerprint(rank: int, seq: int, op: str, shape: str = "") -> str:
    whole = f", OpType={op}, TensorShape=[{shape}], TensorDtypes=Long, {OPTIONS})"
    said = whole if shape else f"OpType={op})"
    return f"Rank {rank} is running collective: CollectiveFingerPrint(SequenceNumber={seq}{said}"


def nccl(rank: int, number: str, op: str, count: int, *, pid: int = 0, comm: str = "") -> str:
    return (
        f"node1:{pid or 100 + rank}:9 [{rank}] NCCL INFO {op}: opCount {number} sendbuff 0x7f5d "
        f"recvbuff 0x7f5d count {count} datatype 7 op 0 root 0 comm {comm or f'0xab{rank}'} "
        "[nranks=4] stream 0x7e\n"
    )


def watchdog(rank: int, seq: int, width: int = 200) -> str:
    text = f"[rank{rank}]:[E513 ProcessGroupNCCL.cpp:616] [Rank {rank}] {WORK.format(seq=seq)}."
    return "".join(f"{text[at : at + width]}\n" for at in range(0, len(text), width))


def test_who_differs_from_the_ranks_below_it_is_the_culprit() -> None:
    text = f"{fingerprint(0, 101, 'ALLGATHER', '1')}, but {fingerprint(3, 0, 'REDUCE')}.\n"

    assert verdict(text) == ("op-differs", (3,))


def test_of_two_ranks_that_differ_in_size_nobody_is_named() -> None:
    text = f"{fingerprint(1, 7, 'ALLREDUCE', '64')}, but {fingerprint(0, 7, 'ALLREDUCE', '8')}.\n"

    assert verdict(text) == ("size-differs", ())


def test_who_does_not_come_to_a_monitored_barrier_is_missing() -> None:
    text = "RuntimeError: [Rank 0]: Ranks 4, 6 failed to pass monitoredBarrier in 1800000 ms\n"

    assert verdict(text) == ("missing", (4, 6))


def test_calls_that_nccl_logs_are_compared_at_the_last_number_all_have_reached() -> None:
    text = "".join(nccl(rank, "28c", "AllReduce", 64) for rank in range(4))
    text += "".join(nccl(rank, "28d", "AllReduce", 64 if rank != 2 else 8) for rank in range(4))

    assert verdict(text) == ("size-differs", (2,))
    assert verdict(text + nccl(0, "28e", "AllReduce", 64)) == ("size-differs", (2,))


@pytest.mark.parametrize(
    "text",
    [
        nccl(0, "0", "AllReduce", 64),
        # two communicators of one process, and numbers that do not count
        nccl(0, "0", "AllReduce", 64) + nccl(0, "0", "AllGather", 8, comm="0xcd"),
        "".join(nccl(rank, "0", op, 8) for op in ("AllReduce", "AllGather") for rank in (0, 1)),
    ],
)
def test_of_calls_that_cannot_be_told_apart_nothing_is_said(text: str) -> None:
    assert reading(text).calls == ()


def test_a_communicator_that_is_complete_is_told() -> None:
    text = "aaa:5:9 [7] NCCL INFO comm 0x84f rank 7 nranks 8 cudaDev 7 busId d6 - Init COMPLETE\n"

    (found,) = reading(text).facts

    assert (found.kind, found.value) == ("collective.communicator_made", True)


@pytest.mark.parametrize("width", [110, 125, 150, 160, 190, 215])
def test_a_watchdog_line_that_a_terminal_broke_is_read_as_a_whole(width: int) -> None:
    found = reading(watchdog(1, 532339, width) + watchdog(2, 532339, width))

    assert [(call.rank, call.seq, call.numel) for call in found.calls] == [
        (1, 532339, 512),
        (2, 532339, 512),
    ]
    seen = given_up_symptom(found)
    assert seen is not None
    assert seen.count == 2


def test_the_group_of_a_call_stands_in_the_line_behind_it() -> None:
    behind = (
        "[rank{rank}]:[E218 ProcessGroupNCCL.cpp:1795] [PG ID 11 PG GUID {group} Rank 1] "
        "Exception (either an error or timeout) detected by watchdog at work: {seq}, "
        "last enqueued NCCL work: {seq}, last completed NCCL work: 9.\n"
    )
    text = watchdog(13, 216) + behind.format(rank=13, group=119, seq=216)
    text += watchdog(15, 57) + behind.format(rank=15, group=112, seq=57)

    assert {(call.rank, call.group) for call in reading(text).calls} == {(13, "119"), (15, "112")}


def test_calls_without_numbers_are_compared_by_what_each_rank_gave_up_first() -> None:
    old = "[Rank {}] Watchdog caught collective operation timeout: WorkNCCL(OpType={}, Timeout(ms)="
    ops = ("ALLREDUCE", "BROADCAST", "BROADCAST", "BROADCAST")
    text = "".join(
        f"{old.format(rank, op)}1800000) ran for 1801060\n" for rank, op in enumerate(ops)
    )

    assert verdict(text) == ("op-differs", (0,))
