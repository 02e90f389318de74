"""A supervised command beside the bare one: nobody who looks from outside can tell them apart."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

import trainrx

SOURCE = str(Path(trainrx.__file__).parents[1])
DRIVER = """
import os, sys, tempfile
from pathlib import Path
from trainrx.collect.supervise import CommandError, Supervisor, end_as
with tempfile.TemporaryDirectory() as folder:
    supervisor = Supervisor(Path(folder), None)
    try:
        status = supervisor.run(sys.argv[1:], dict(os.environ)).status
    except CommandError as error:
        print(error, file=sys.stderr)
        sys.exit(error.status)
sys.exit(end_as(status))
"""
OURS = [sys.executable, "-c", DRIVER]
ENV = {**os.environ, "PYTHONPATH": SOURCE}
LONGEST = 20.0


def ended(words: Sequence[str], text: bytes = b"") -> tuple[int, bytes, bytes]:
    done = subprocess.run(
        words, input=text, capture_output=True, check=False, env=ENV, timeout=LONGEST
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "script",
    [
        "echo out; echo err >&2; exit 7",
        "kill -TERM $$",
        "kill -KILL $$",
        "kill -SEGV $$",
        "kill -USR2 $$",
    ],
)
def test_a_job_ends_as_it_does_by_itself(script: str) -> None:
    words = ["sh", "-c", script]

    assert ended([*OURS, *words]) == ended(words)


def test_a_pipe_is_read_and_written_through() -> None:
    text = os.urandom(300_000)

    assert ended([*OURS, "cat"], text) == (0, text, b"")


def test_a_reader_that_goes_away_ends_the_job_by_a_broken_pipe() -> None:
    script = '"$@" | head -n 1; echo "${PIPESTATUS[0]}"'

    status, out, _ = ended(["bash", "-c", script, "bash", *OURS, "yes"])

    assert (status, out) == (0, b"y\n141\n")


@pytest.mark.parametrize(("mode", "status"), [(None, 127), (0o644, 126)])
def test_what_cannot_be_started_has_the_status_a_shell_gives(
    mode: int | None, status: int, tmp_path: Path
) -> None:
    program = tmp_path / "program"
    if mode is not None:
        program.write_text("#!/bin/sh\n")
        program.chmod(mode)

    assert ended([*OURS, str(program)])[0] == status


def test_a_script_without_a_shebang_is_run_by_sh(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("exit 9\n")
    program.chmod(0o755)

    assert ended([*OURS, str(program)])[0] == 9


def test_a_file_is_left_to_the_job_and_its_variables_are_its_own(tmp_path: Path) -> None:
    script = "readlink /proc/self/fd/1; readlink /proc/self/fd/2; grep SigBlk /proc/self/status"
    with (tmp_path / "out").open("wb") as file:
        subprocess.run([*OURS, "sh", "-c", script], stdout=file, stderr=file, check=True, env=ENV)

    lines = (tmp_path / "out").read_text().splitlines()

    assert lines[:2] == [str(tmp_path / "out")] * 2
    assert int(lines[2].split()[1], 16) == 0


COUNTING = """
import os, signal, sys, time
got = []
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR2):
    signal.signal(number, lambda number, _: got.append(number))
print("ready", flush=True)
until = time.monotonic() + 10
while signal.SIGUSR2 not in got and time.monotonic() < until:
    time.sleep(0.02)
print(*map(int, got), flush=True)
"""


@pytest.mark.parametrize("group", [False, True])
def test_each_signal_reaches_the_job_once_whether_sent_to_us_or_to_the_group(group: bool) -> None:
    job = [sys.executable, "-S", "-c", COUNTING]
    process = subprocess.Popen(
        [*OURS, *job], stdout=subprocess.PIPE, env=ENV, start_new_session=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGTERM, signal.SIGUSR2):
        (os.killpg if group else os.kill)(process.pid, number)
        time.sleep(0.25)
    out, _ = process.communicate(timeout=LONGEST)

    assert out.split() == [b"15", b"2", b"15", b"12"]
    assert process.returncode == 0


def test_the_job_prints_on_when_what_started_it_is_killed(tmp_path: Path) -> None:
    script = "echo first; sleep 0.6; echo second; echo third >&2"
    with (tmp_path / "taken").open("wb") as file:
        reader = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=file)
        process = subprocess.Popen(
            [*OURS, "sh", "-c", script], stdout=reader.stdin, stderr=reader.stdin, env=ENV
        )
        assert reader.stdin is not None
        reader.stdin.close()
        while not (tmp_path / "taken").read_text():
            time.sleep(0.02)

        process.kill()
        process.wait()
        reader.wait(timeout=LONGEST)

    assert (tmp_path / "taken").read_text() == "first\nsecond\nthird\n"


def test_the_output_goes_on_when_its_relay_is_killed() -> None:
    script = "echo first; sleep 0.5; echo second"
    process = subprocess.Popen([*OURS, "sh", "-c", script], stdout=subprocess.PIPE, env=ENV)
    assert process.stdout is not None
    assert process.stdout.readline() == b"first\n"

    for pid in relays_of(process.pid):
        os.kill(pid, signal.SIGKILL)

    assert process.communicate(timeout=LONGEST)[0] == b"second\n"
    assert process.returncode == 0


def relays_of(parent: int) -> list[int]:
    found = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return [int(one) for one in found if b"relay.py" in Path(f"/proc/{one}/cmdline").read_bytes()]


class Terminal:
    """A shell on a terminal."""

    def __init__(self, script: str, words: Sequence[str]) -> None:
        self._master, self._slave = pty.openpty()
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, b"\x28\x00\x64\x00\x00\x00\x00\x00")
        # the first of a session that opens a terminal gets it as its own
        opening = f"exec <>{os.ttyname(self._slave)} >&0 2>&0; {script}"
        self._process = subprocess.Popen(
            ["bash", "--norc", "-c", opening, "bash", *words], env=ENV, start_new_session=True
        )
        self.screen = b""

    def until(self, text: bytes) -> None:
        stop = time.monotonic() + LONGEST
        while text not in self.screen:
            assert time.monotonic() < stop, self.screen
            if select.select([self._master], [], [], 0.2)[0]:
                self.screen += os.read(self._master, 4096)

    def type(self, keys: bytes) -> None:
        os.write(self._master, keys)

    def close(self) -> None:
        self._process.wait(timeout=LONGEST)
        os.close(self._slave)
        os.close(self._master)


TTY = """
import os, sys
print(*(os.isatty(fd) for fd in (0, 1, 2)), *os.get_terminal_size(1), flush=True)
print("ready", flush=True)
print("got", sys.stdin.readline().strip(), flush=True)
sys.exit(5)
"""


@pytest.mark.parametrize("words", [[], OURS], ids=["bare", "ours"])
def test_a_terminal_stays_one_and_the_shell_stops_and_continues_the_job(
    words: Sequence[str],
) -> None:
    script = 'set -m; "$@"; echo "stopped=$?"; fg >/dev/null; echo "ended=$?"'
    terminal = Terminal(script, [*words, sys.executable, "-S", "-c", TTY])

    terminal.until(b"ready")
    terminal.type(b"\x1a")
    terminal.until(b"stopped=")
    terminal.type(b"word\n")
    terminal.until(b"ended=5")
    terminal.close()

    assert b"True True True 100 40\r\n" in terminal.screen
    assert b"stopped=148" in terminal.screen
    assert b"got word" in terminal.screen


@pytest.mark.parametrize("words", [[], OURS], ids=["bare", "ours"])
def test_a_key_that_interrupts_reaches_the_job_once(words: Sequence[str]) -> None:
    counting = COUNTING.replace("signal.SIGUSR2 not in got", "len(got) < 2")
    script = 'set -m; "$@"; echo "ended=$?"'
    terminal = Terminal(script, [*words, sys.executable, "-S", "-c", counting])

    terminal.until(b"ready")
    terminal.type(b"\x03")
    time.sleep(0.4)
    terminal.type(b"\x03")
    terminal.until(b"ended=0")
    terminal.close()

    assert b"2 2" in terminal.screen
