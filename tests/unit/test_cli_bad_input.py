"""The command line on mistaken inputs: a sentence and status 2, or an answer; no traceback."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from bad_inputs import (
    BINARY,
    BROKEN_CONFIGS,
    CHAT,
    ENV,
    HEALTHY,
    LAUNCH,
    LAUNCHER_ONLY,
    NGINX,
    OOM,
    SAME_LOG,
    SECRETS,
    put,
)

import command_line
from trainrx.cli import main

DEFECT = ("Traceback (most recent", "defect of trainrx")


@pytest.fixture
def ask(capsys, tmp_path, monkeypatch):
    """Run the command line in a folder of its own; give status, answer and complaint."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*words: str) -> tuple[int, str, str]:
        status = main(words)
        said = capsys.readouterr()
        assert not [word for word in DEFECT if word in said.err]
        return status, said.out, said.err

    return run


def piped(data: bytes, *words: str, limit: float = 30) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "trainrx.cli", *words, "--lang", "en"],
        input=data,
        capture_output=True,
        timeout=limit,
        check=False,
    )


@pytest.mark.parametrize("option", ["--cmd", "--log", "--config", "--env", "--versions", "--good"])
@pytest.mark.parametrize("kind", ["missing", "empty", "folder", "pipe", "device", *BINARY])
def test_what_cannot_be_read_is_status_2_and_one_sentence(option, kind, ask):
    if kind == "pipe":
        os.mkfifo(kind)
    elif kind == "folder":
        Path(kind).mkdir()
    elif kind == "device":
        kind = os.devnull
    elif kind != "missing":
        Path(kind).write_bytes(BINARY.get(kind, b""))

    status, out, err = ask("--note", "OOM", option, kind)

    assert (status, out) == (2, "")
    assert err.startswith(f"diagnose: {kind}: ")
    assert len(err.splitlines()) <= 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "nothing to read"),
        (("--gpu", "0GiB", "--note", "OOM"), "24GiB"),
        (("--gpus", "0", "--note", "OOM"), "--gpus"),
        (("--gpus", "-3", "--note", "OOM"), "--gpus"),
        (("--gpus", "eight", "--note", "OOM"), "--gpus"),
        (("--gpus", "9" * 30, "--note", "OOM"), "--gpus"),
        (("--nodes", "0", "--note", "OOM"), "--nodes"),
        (("--top", "0", "--note", "OOM"), "--top"),
        (("--format", "xml", "--note", "OOM"), "--format"),
        (("--lang", "fr", "--note", "OOM"), "--lang"),
        (("--framework", "swfit", "--note", "OOM"), "did you mean"),
        (("--framework", "verl==soon", "--note", "OOM"), "--framework"),
        (("--kb", "nowhere", "--note", "OOM"), "nowhere"),
        (("--rules", "nowhere", "--note", "OOM"), "nowhere"),
        (("--nonsense",), "--nonsense"),
        *(
            ((*command, "run.sh", "--gpu", "24GiB", "--gpu", "H200"), "--gpu stands 2 times")
            for command in ((), ("fix",), ("retry",), ("inspect",), ("lint",), ("diff", "run.sh"))
        ),
        *(
            ((*command, "run.sh", "--gpu", "4090x8", "--gpus", "4"), "names 8 cards, --gpus says 4")
            for command in ((), ("fix",), ("retry",), ("inspect",), ("lint",), ("estimate",))
        ),
        (("-", "-"), "stands twice"),
    ],
)
def test_a_wrong_use_is_status_2_and_names_the_option(words, said, ask):
    status, out, err = ask(*words)

    assert (status, out) == (2, "")
    assert said in err


GIVEN = {
    "a script that is no launch": (("--cmd", "f"), "ls -la\n", "no training command"),
    "an issue as the launch": (("--cmd", "f"), CHAT, "Qwen/Qwen2.5-VL-7B-Instruct"),
    "a log as the launch": (("--cmd", "f"), OOM, "read as a log"),
    "a launch as the log": (("--log", "f"), LAUNCH, "Qwen/Qwen2.5-VL-7B-Instruct"),
    "python as the log": (("--log", "f"), "import torch\n\ndef main():\n    pass\n", "UNKNOWN"),
    "tabs in a config": (("--config", "f"), BROKEN_CONFIGS["tabs"], "not valid YAML"),
    "an open bracket": (("--config", "f"), BROKEN_CONFIGS["unclosed"], "f:3: is not valid YAML"),
    "cut JSON": (("--config", "f"), BROKEN_CONFIGS["cut-json"], "not valid YAML"),
    "a deep config": (("--config", "f"), BROKEN_CONFIGS["brackets"], "nests too deeply"),
    "no versions": (("--versions", "f", "--note", "OOM"), OOM, "names no package"),
    "a version that is none": (("--versions", "f", "--note", "x"), "torch==banana", "no version"),
    "no variables": (("--env", "f", "--note", "OOM"), "hello\n", "holds no variable"),
    "another program's log": (("--log", "f"), NGINX, "UNKNOWN"),
    "the launcher's report": (("--log", "f"), LAUNCHER_ONLY, "the rank that failed first"),
    "a healthy log": (("--log", "f"), HEALTHY, "HEALTHY"),
    "a future release": (("--cmd", "f", "--versions", "v"), LAUNCH, "is newer than all"),
}


@pytest.mark.parametrize("name", GIVEN)
def test_a_partial_input_is_answered_and_says_what_is_the_matter(name, ask, tmp_path):
    words, text, said = GIVEN[name]
    put(tmp_path, "f", text)
    put(tmp_path, "v", "ms-swift==99.0\n")

    status, out, _ = ask(*words, "--lang", "en")

    assert status == 0
    assert said in out


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("more", [(), ("--explain",)])
def test_no_form_shows_a_secret_of_the_environment(form, lang, more, ask, tmp_path):
    put(tmp_path, "a.sh", "".join(f"export {line}\n" for line in ENV.splitlines()) + LAUNCH)
    put(tmp_path, "env.txt", ENV)
    put(tmp_path, "a.log", OOM)
    words = ("--cmd", "a.sh", "--env", "env.txt", "--log", "a.log", "--format", form)

    status, out, err = ask(*words, "--lang", lang, *more)

    assert status == 0
    assert not [secret for secret in SECRETS if secret in out + err]


def test_nothing_on_standard_input_is_told():
    done = piped(b"", "-")

    assert done.returncode == 2
    assert b"nothing came in" in done.stderr


@pytest.mark.parametrize("words", [("-",), ("--log", "-"), ("--cmd", "-")])
def test_an_issue_pasted_whole_gives_launch_and_log(words, tmp_path):
    done = command_line.run((*words, "--lang", "en"), tmp_path, CHAT.encode())

    assert done.status == 0
    assert "Qwen/Qwen2.5-VL-7B-Instruct" in done.out
    assert "out of GPU memory" in done.out


@pytest.mark.parametrize("name", ["windows", "gbk", "utf-16", "nul in front"])
def test_a_log_in_any_encoding_can_be_piped_in(name, tmp_path):
    done = command_line.run(("-", "--lang", "en"), tmp_path, SAME_LOG[name])

    assert "out of GPU memory" in done.out


def test_a_log_is_read_from_a_pipe():
    assert b"out of GPU memory" in piped(OOM.encode(), "-").stdout


def test_a_pipe_without_a_writer_does_not_hang(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    done = piped(b"", "--log", str(pipe))

    assert done.returncode == 2
    assert b"is a pipe" in done.stderr


def test_a_huge_line_is_answered_in_time(tmp_path):
    place = put(tmp_path, "huge.log", b"x" * (100 << 20))
    started = time.monotonic()

    done = piped(b"", "--log", str(place))

    assert (done.returncode, done.stderr) == (0, b"")
    assert time.monotonic() - started < 20
