from __future__ import annotations

import os

import pytest

from trainrx.linter import files as lint_parallel
from trainrx.linter.files import LEAST_FOR_TWO, shared_out


def _sum(numbers: list[int]) -> bytes:
    return str(sum(numbers)).encode()


def test_every_file_is_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lint_parallel, "_cores", lambda: 4)
    numbers = list(range(LEAST_FOR_TWO * 3))

    answers = shared_out(numbers, _sum)

    assert len(answers) == 4
    assert sum(map(int, answers)) == sum(numbers)


def test_few_files_start_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fork", lambda: pytest.fail("forked"))

    assert shared_out([1, 2, 3], _sum) == [b"6"]


def test_a_child_that_dies_is_stood_in_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lint_parallel, "_cores", lambda: 2)
    parent = os.getpid()

    def judge(numbers: list[int]) -> bytes:
        if os.getpid() != parent:
            raise RuntimeError("killed")
        return _sum(numbers)

    answers = shared_out(list(range(LEAST_FOR_TWO * 2)), judge)

    assert sum(map(int, answers)) == sum(range(LEAST_FOR_TWO * 2))
