"""Public threads on jobs that hang: as often right as counted, and never surely wrong."""

from __future__ import annotations

from functools import cache

import pytest
from hangs import HALVES, THREADS, ThreadOutcome, answer, figures, half, outcome, read_threads

CASES = {case["id"]: case for case in read_threads()}
FLOORS = {
    "development": {"culprits": 8, "cause@1": 14, "cause@3": 15, "right": 18, "silent": 18},
    "measured": {"culprits": 2, "cause@1": 7, "cause@3": 9, "right": 8, "silent": 12},
}


@cache
def asked(part: str) -> tuple[ThreadOutcome, ...]:
    return tuple(outcome(case, answer(case)) for case in CASES.values() if half(case) == part)


def test_each_thread_stands_once_and_is_labelled() -> None:
    assert sorted(path.stem for path in THREADS.glob("*.yaml")) == sorted(CASES)
    assert len({case["source"] for case in CASES.values()}) == len(CASES) >= 60
    assert {case["confidence"] for case in CASES.values()} == {"stated", "inferred"}


@pytest.mark.parametrize("part", HALVES)
def test_as_many_threads_are_answered_rightly_as_before(part: str) -> None:
    found = {name: some for name, (some, _) in figures(asked(part)).items()}

    assert {name: found[name] for name, floor in FLOORS[part].items() if found[name] < floor} == {}


@pytest.mark.parametrize("part", HALVES)
def test_no_thread_is_answered_surely_and_wrong(part: str) -> None:
    assert [one.case for one in asked(part) if one.sure_and_wrong] == []
