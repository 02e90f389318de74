"""A job that is followed for real: its log grows while `diagnose watch` runs."""

from __future__ import annotations

import io
import json
import os
import pty
import select
import signal
import subprocess
import sys
import time

import pytest
from log_signatures import OOM_LINE

from trainrx.cli import main

STEP = (
    "{{'loss': 1.5, 'memory(GiB)': {gib}, 'train_speed(iter/s)': 10.0,"
    " 'global_step/max_steps': '{step}/1000'}}\n"
)
WATCH = (sys.executable, "-m", "trainrx.cli", "watch")
PATIENCE = 20.0


def steps(first, last, leak=0.0):
    lines = (STEP.format(gib=40 + leak * step, step=step) for step in range(first, last + 1))
    return "".join(lines)


def append(log, text):
    with log.open("a", encoding="utf-8") as file:
        file.write(text)


def wait_for(file, *texts):
    """Read until all texts were seen; give what was read."""
    read, until = b"", time.monotonic() + PATIENCE
    while time.monotonic() < until and not all(text.encode() in read for text in texts):
        if select.select([file], [], [], 0.1)[0]:
            read += os.read(file, 65_536)
    return read.decode("utf-8", "replace")


def test_a_job_that_is_fine_ends_with_0(tmp_path, capsys):
    log = tmp_path / "train.log"
    append(log, steps(1, 20))

    status = main(["watch", str(log), "--once", "--gpu", "80GiB"])

    assert status == 0
    assert capsys.readouterr().out.startswith("TRAINING  step 20 of 1000, 0.1 s a step")


def test_a_leak_ends_with_1_and_json_says_when(tmp_path, capsys):
    log = tmp_path / "train.log"
    append(log, steps(1, 100, leak=0.1))

    status = main(["watch", str(log), "--once", "--gpu", "80GiB", "--format", "json"])

    found = json.loads(capsys.readouterr().out)
    assert status == 1
    assert [alert["kind"] for alert in found["alerts"]] == ["oom-forecast"]
    assert found["forecast"]["low"] < found["forecast"]["step"] < found["forecast"]["high"]


def test_an_alert_runs_a_command_that_no_log_can_change(tmp_path, capsys):
    log, told = tmp_path / "train.log", tmp_path / "told"
    append(log, f"$(touch {tmp_path}/hit) `touch {tmp_path}/hit`; {OOM_LINE.format(gpu=0)}\n")

    status = main(
        [
            "watch",
            str(log),
            "--once",
            "--on-alert",
            f'cat > {told}; echo "$TRAINRX_ALERT" >> {told}',
        ]
    )

    said, kind = told.read_text(encoding="utf-8").strip().rsplit("}", 1)
    assert (status, kind) == (1, "failed")
    assert json.loads(said + "}")["alert"] == {"kind": "failed", "family": "oom"}
    assert not (tmp_path / "hit").exists()
    assert capsys.readouterr().err == ""


def test_a_command_that_fails_is_told(tmp_path, capsys):
    log = tmp_path / "train.log"
    append(log, OOM_LINE.format(gpu=0) + "\n")

    main(["watch", str(log), "--once", "--on-alert", "exit 3"])

    assert "--on-alert: the command ended with status 3" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--gpu", "80GiB"], "nothing to follow"),
        (["x.log", "--format", "json"], "--format json is for --once"),
        (["x.log", "--once", "--gpu", "A100"], "--gpu A100"),
        (["x.log", "--once", "--prometheus", "/no/where.prom"], "there is no folder"),
    ],
)
def test_a_wrong_use_ends_with_2(words, said, capsys):
    assert main(["watch", *words]) == 2
    assert said in capsys.readouterr().err


def test_standard_input_cannot_be_followed(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"text")))

    assert main(["watch", "-"]) == 2
    assert "follows files" in capsys.readouterr().err


def test_a_live_job_is_followed_in_lines_until_it_fails(tmp_path):
    log = tmp_path / "train.log"
    words = (*WATCH, str(log), "--interval", "0.1", "--lang", "en")

    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        out = process.stdout.fileno()
        waiting = wait_for(out, "WAITING")
        append(log, steps(1, 5))
        training = wait_for(out, "TRAINING, step 5 of 1000")
        append(log, OOM_LINE.format(gpu=0) + "\n")
        failed = wait_for(out, "FAILED", "ALERT: the job failed")
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=PATIENCE)

    assert process.returncode == 0
    assert ("WAITING" in waiting, "TRAINING" in training) == (True, True)
    assert failed.count("ALERT") == 1
    assert rest.decode().startswith("FAILED  step 5 of 1000")
    assert "left as it is" in rest.decode()
    assert errors == b""


def test_a_panel_is_taken_off_the_terminal_at_the_end(tmp_path):
    log = tmp_path / "train.log"
    append(log, steps(1, 5) + "\x1b[2J\x1b]0;title\x07" + "x" * 100_000 + "\n")
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80", "LINES": "24"}

    with subprocess.Popen(
        (*WATCH, str(log), "--interval", "0.1", "--lang", "en"),
        stdout=theirs,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment,
    ) as process:
        os.close(theirs)
        try:
            panel = wait_for(ours, "TRAINING", "╯")
            process.send_signal(signal.SIGINT)
            rest = wait_for(ours, "left as it is")
            _, errors = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()  # one that is left would wait for ever for somebody to read
    os.close(ours)

    assert process.returncode == 0
    assert "title" not in panel + rest
    assert "\x1b[2J" not in panel + rest
    assert rest.rindex("\x1b[?25h") < rest.rindex("TRAINING")
    assert errors == b""
