"""The whole page of a diagnosis on a terminal: in the pager of the user, and never in a pipe."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pty = pytest.importorskip("pty")
WORDS = ["--note", "OOM", "--lang", "en"]
COMMAND = [sys.executable, "-m", "trainrx.cli", *WORDS]
ENVIRONMENT = {**os.environ, "PAGER": "sed s/^/paged:/", "TERM": "xterm", "NO_COLOR": "1"}


def on_a_terminal(*more: str) -> str:
    master, slave = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, *more], stdin=slave, stdout=slave, stderr=slave, env=ENVIRONMENT
    ) as job:
        os.close(slave)
        out = b""
        while data := _read(master):
            out += data
        assert job.wait(timeout=60) == 0
    os.close(master)
    return out.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux says so at the end
        return b""


def test_the_whole_page_goes_to_the_pager_and_the_screen_does_not() -> None:
    whole, screen = on_a_terminal("--explain"), on_a_terminal()

    assert whole.startswith("paged:")
    assert "paged:" not in screen


def test_a_pipe_gets_no_pager() -> None:
    done = subprocess.run(
        [*COMMAND, "--explain"], capture_output=True, text=True, check=True, env=ENVIRONMENT
    )

    assert done.stdout.strip()
    assert "paged:" not in done.stdout
