"""Which rank failed first, and which only followed."""

from __future__ import annotations

from trainrx.evidence.ranks.failures import rank_failures
from trainrx.knowledge.load import load
from trainrx.model.facts import Origin
from trainrx.model.job import Hit, SymptomHits
from trainrx.model.ranks import RankEnd

KNOWN = load().symptoms


def end(rank: int, line: int, code: int | None = None, at: float | None = None) -> RankEnd:
    return RankEnd(
        rank=rank, text="Error", origin=Origin(source="log", line=line), code=code, at=at
    )


def seen(symptom: str, *places: tuple[int, int]) -> SymptomHits:
    hits = tuple(
        Hit(symptom=symptom, source="log", line=line, text="timed out", rank=rank)
        for rank, line in places
    )
    return SymptomHits(symptom=symptom, count=len(hits), hits=hits, ranks=())


def test_ranks_that_lost_their_peer_do_not_fail_first() -> None:
    ends = (end(0, 5, at=1.0), end(2, 9, at=2.0), end(1, 20, at=3.0))

    found = rank_failures(ends, [seen("connection-reset-by-peer", (0, 5), (2, 9))], KNOWN, 3)

    assert found.first is not None
    assert found.first.rank == 1
    assert [one.rank for one in found.waiting] == [0, 2]


def test_the_rank_that_says_nothing_is_told_where_all_others_gave_up() -> None:
    found = rank_failures((end(0, 5), end(2, 9)), [seen("gloo-timeout", (0, 5), (2, 9))], KNOWN, 3)

    assert found.first is None
    assert found.silent == (1,)


def test_a_rank_killed_because_it_stayed_did_not_fail_first() -> None:
    ends = (end(0, 5), end(0, 30, code=1, at=10.0), end(1, 40, code=-9, at=40.0))

    found = rank_failures(ends, [seen("gloo-timeout", (0, 5))], KNOWN, 3)

    assert found.first is None


def test_a_rank_that_a_signal_ended_fails_first() -> None:
    ends = (end(2, 30, code=-9, at=10.0), end(0, 40, code=-15, at=10.0))

    found = rank_failures(ends, [], KNOWN, 3)

    assert found.first is not None
    assert found.first.rank == 2
