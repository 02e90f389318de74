"""`diagnose run` as a user calls it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import trainrx
from trainrx.cli.run import started_environment

RUN = [sys.executable, "-m", "trainrx.cli", "run"]
ENV = {**os.environ, "PYTHONPATH": str(Path(trainrx.__file__).parents[1]), "LC_ALL": "C.UTF-8"}
OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9.27 GiB. GPU 0 has a total"
FAILS = f"echo '{OOM} capacity of 79.15 GiB of which 2 GiB is free.' >&2; exit 3"


def run(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [*RUN, *words]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=ENV, cwd=folder, timeout=60
    )


def test_a_job_that_fails_is_answered_for_on_standard_error(tmp_path: Path) -> None:
    done = run("--", "sh", "-c", f"echo out; {FAILS}", folder=tmp_path)

    assert (done.returncode, done.stdout) == (3, "out\n")
    assert done.stderr.startswith(OOM)
    assert "CUDA ran out of memory" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [("--quiet", "sh", "-c", FAILS), ("sh", "-c", "kill -TERM $$")])
def test_a_quiet_job_says_what_it_says(words: tuple[str, ...], tmp_path: Path) -> None:
    done = run(*words, folder=tmp_path)

    assert "CUDA ran out of memory" not in done.stderr
    assert done.returncode in (3, -signal.SIGTERM)


def test_options_behind_the_command_are_its_own(tmp_path: Path) -> None:
    done = run("--quiet", "echo", "--lang", "zh", "--quiet", folder=tmp_path)

    assert (done.returncode, done.stdout) == (0, "--lang zh --quiet\n")


def test_a_signal_asks_for_the_stacks_and_an_answer_while_the_job_runs(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*RUN, sys.executable, "-c", "import time; print(1, flush=True); time.sleep(3)"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENV,
        cwd=tmp_path,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"1\n"
    time.sleep(0.1)

    process.send_signal(signal.SIGUSR1)
    out, said = process.communicate(timeout=60)

    (bundle,) = tmp_path.iterdir()
    assert (process.returncode, out) == (0, b"")
    assert b"SIGUSR1" in said
    assert str(bundle).encode() in said


def test_the_locale_python_sets_for_itself_is_not_passed_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LC_CTYPE", "C.UTF-8")
    monkeypatch.setenv("ANOTHER", "1")

    env = started_environment()

    given = Path("/proc/self/environ").read_bytes()
    assert ("LC_CTYPE" in env) is (b"\0LC_CTYPE=" in b"\0" + given)
    assert env["ANOTHER"] == "1"
