"""Logs of many ranks are read by several processes, and say what one process reads of them."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from log_signatures import OOM_LINE, cuda_oom

from trainrx.evidence import shares
from trainrx.evidence.detector import Detector
from trainrx.evidence.scan import Sampling, sampling
from trainrx.evidence.shares import shared_out
from trainrx.model.job import Input

INPUTS = [Input(kind="log", name=f"rank_{number}.log", text="x" * number) for number in range(7)]


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shares, "_cores", lambda: 2)
    monkeypatch.setattr(shares, "WORTH_SHARING", 1)


@pytest.fixture
def forks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A runner of tests may hold a thread of its own, beside which nothing would be shared."""
    monkeypatch.setattr(shares, "_may_fork", lambda: True)


def who(item: Input) -> tuple[str, int]:
    return item.name, os.getpid()


@pytest.mark.usefixtures("forks")
def test_each_process_takes_its_share_and_answers_come_in_order() -> None:
    found = shared_out(INPUTS, who)

    assert [name for name, _ in found] == [item.name for item in INPUTS]
    assert len({pid for _, pid in found}) == 2


@pytest.mark.usefixtures("forks")
def test_what_a_child_that_died_left_undone_is_done_here() -> None:
    here = os.getpid()

    def work(item: Input) -> str:
        if os.getpid() != here:
            os._exit(9)
        return item.name

    assert shared_out(INPUTS, work) == [item.name for item in INPUTS]


def test_a_process_of_several_threads_does_not_fork() -> None:
    ended = threading.Event()
    waiting = threading.Thread(target=ended.wait)
    waiting.start()

    found = shared_out(INPUTS, who)
    ended.set()
    waiting.join()

    assert {pid for _, pid in found} == {os.getpid()}


@pytest.mark.usefixtures("forks")
def test_many_logs_say_the_same_read_by_one_process_or_two(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    logs = []
    for rank in range(9):
        place = tmp_path / f"rank_{rank}.log"
        steps = "".join(
            f"{{'loss': {1 + rank / (step + 1)}, 'global_step': {step}}}\n" for step in range(40)
        )
        place.write_text(steps + OOM_LINE.format(gpu=rank) + "\n")
        logs.append(Input(kind="log", name=place.name, path=place))
    logs.append(Input(kind="log", name="gone.log", path=tmp_path / "gone.log"))
    detector = Detector([cuda_oom()])

    shared = detector.detect(logs)
    monkeypatch.setattr(shares, "_cores", lambda: 1)
    alone = detector.detect(logs)

    assert shared == alone
    assert shared.symptoms[0].ranks == tuple(range(9))
    assert [one.source for one in shared.unread] == ["gone.log"]


def test_of_many_logs_less_is_kept_of_each() -> None:
    assert sampling(1) == sampling(2) == Sampling()
    assert sampling(64).points < sampling(16).points < sampling(2).points
    assert sampling(100_000).points == sampling(2048).points > 0
