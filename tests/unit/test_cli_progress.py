from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from collections.abc import Sequence

import pytest

from trainrx.cli import _progress
from trainrx.cli._progress import PlainProgress, progress
from trainrx.model.progress import advance, begin, observed


class Clock:
    def __init__(self) -> None:
        self.at = 0.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRAINRX_PROGRESS", raising=False)


def test_a_pipe_gets_a_line_after_two_seconds_and_then_one_every_five(
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock = Clock()
    lines = PlainProgress("en", clock)

    with observed(lines):
        begin("reading", 50_000_000)
        for second in range(13):
            clock.at = float(second)
            advance(1_000_000)

    assert capsys.readouterr().err.splitlines() == [
        "diagnose: reading logs, 3 of 50 MB",
        "diagnose: reading logs, 8 of 50 MB",
        "diagnose: reading logs, 13 of 50 MB",
    ]


@pytest.mark.parametrize(
    ("lang", "said"),
    [("en", "diagnose: checking files, 2 of 9\n"), ("zh", "diagnose: 正在检查文件：2 / 9\n")],
)
def test_it_is_said_in_the_language_of_the_answer(
    lang: _progress.Lang, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = Clock()

    with observed(PlainProgress(lang, clock)):
        begin("checking", 9)
        clock.at = 3.0
        advance(2)

    assert capsys.readouterr().err == said


def test_more_than_was_foreseen_is_no_share(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()

    with observed(PlainProgress("en", clock)):
        begin("reading", 1_000_000)
        clock.at = 3.0
        advance(2_000_000)

    assert capsys.readouterr().err == "diagnose: reading logs, 2 MB\n"


@pytest.mark.usefixtures("shown")
def test_what_blocks_is_shown_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("en"):
        begin("counting")

    assert capsys.readouterr().err == "diagnose: running the model class without weights\n"


@pytest.mark.usefixtures("shown")
@pytest.mark.parametrize("form", ["json", "sarif", "github", "patch"])
def test_a_program_that_reads_the_answer_is_shown_nothing(
    form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with progress("en", form):
        begin("counting")

    assert capsys.readouterr().err == ""


def test_it_can_be_turned_off(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TRAINRX_PROGRESS", "0")

    with progress("en"):
        begin("counting")

    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("shown")
def test_quick_work_loads_no_bar_and_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("en"):
        begin("reading", 10)
        advance(10)

    assert capsys.readouterr().err == ""


def test_work_nobody_follows_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    begin("counting")
    advance(3)

    assert capsys.readouterr().err == ""


DRAWS = """
from trainrx.cli._progress import progress
from trainrx.model.progress import begin
with progress("en"):
    begin("counting")
print("the answer")
"""


def test_a_terminal_has_a_bar_that_is_gone_afterwards() -> None:
    seen = _on_a_terminal([sys.executable, "-c", DRAWS], "xterm")

    assert "running the model class without weights" in seen
    assert re.search(r"\x1b\[2K.*the answer\s*$", seen, re.DOTALL)


def test_a_terminal_that_cannot_be_drawn_on_has_lines() -> None:
    seen = _on_a_terminal([sys.executable, "-c", DRAWS], "dumb")

    assert "\x1b" not in seen
    assert "diagnose: running the model class without weights" in seen


def _on_a_terminal(command: Sequence[str], term: str) -> str:
    """Give what a terminal gets of a command."""
    ours, theirs = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if k != "TRAINRX_PROGRESS"}
    environment |= {"TERM": term, "COLUMNS": "80"}
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        pieces: list[bytes] = []
        try:
            while piece := os.read(ours, 4096):
                pieces.append(piece)
        except OSError:  # Linux says so that the other end is closed
            pass
        assert process.wait() == 0
    os.close(ours)
    return b"".join(pieces).decode()


def test_of_many_jobs_it_says_how_fast_they_are_and_how_long_the_rest_takes() -> None:
    clock = iter([0.0, 0.0, 0.0, *[10.0] * 9])
    shown = PlainProgress("en", lambda: next(clock))
    shown.begin("answering", 1000)

    shown.advance(50)

    assert shown.words == "answering jobs, 50 of 1000, 5.0/s, 0:03:10 left"
