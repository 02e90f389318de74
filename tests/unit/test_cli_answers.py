"""`--answer`: questions are answered without a terminal, one call after the other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import command_line

KILLED = ("--note", "the process is killed after two hours, the training dies")
KERNEL = "[1.0] up\n[7.5] Out of memory: Killed process 42 (python) total-vm:2kB, anon-rss:1kB\n"


def told(folder: Path, *words: str, stdin: bytes = b"") -> dict[str, Any]:
    done = command_line.run((*KILLED, *words, "--format", "json"), folder, stdin)
    assert (done.status, done.err) == (0, "")
    out: dict[str, Any] = json.loads(done.out)
    return out


def test_the_first_question_is_answered_call_by_call_until_none_is_left(tmp_path: Path) -> None:
    options: list[str] = []
    asked: list[str] = []
    seen: list[str] = []

    while asks := told(tmp_path, *options)["asks"]:
        asked.append(asks[0]["id"])
        said = "unknown" if seen or not asks[0]["id"].startswith("symptom.") else "yes"
        seen += [asks[0]["id"].removeprefix("symptom.")] if said == "yes" else []
        options += ["--answer", f"{asks[0]['id']}={said}"]

    assert len(asked) == len(set(asked)) > 2
    assert seen[0] in [item["id"] for item in told(tmp_path, *options)["symptoms"]]


@pytest.mark.parametrize(("value", "stdin"), [("@kernel.txt", b""), ("-", KERNEL.encode())])
def test_the_output_of_a_command_is_read_from_a_file_or_standard_input(
    tmp_path: Path, value: str, stdin: bytes
) -> None:
    (tmp_path / "kernel.txt").write_text(KERNEL)

    found = told(tmp_path, "--answer", f"symptom.kernel-oom-kill={value}", stdin=stdin)

    lines = [at["line"] for item in found["symptoms"] for at in item["evidence"]]
    assert "kernel-oom-kill" in [item["id"] for item in found["symptoms"]]
    assert 2 in lines


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("versions", "expected ID=VALUE, ID=@FILE or ID=-"),
        ("versions=", "expected ID=VALUE, ID=@FILE or ID=-"),
        ("nonsense=1", "there is no question of this id. Open questions: host-oom.who-killed,"),
        ("log=@missing.txt", "missing.txt: no such file or folder"),
        ("train.micro_batch=many", 'expected a whole number, or "unknown". Open questions: '),
    ],
)
def test_a_wrong_answer_is_wrong_use_and_says_what_is_expected(
    tmp_path: Path, answer: str, message: str
) -> None:
    done = command_line.run((*KILLED, "--answer", answer), tmp_path)

    assert (done.status, done.out) == (2, "")
    assert message in done.err


@pytest.mark.parametrize("command", ["fix", "retry"])
def test_commands_that_judge_a_failure_take_answers(tmp_path: Path, command: str) -> None:
    (tmp_path / "run.sh").write_text("swift sft --model Qwen/Qwen2.5-7B\n")

    done = command_line.run((command, "run.sh", *KILLED, "--answer", "log=unknown"), tmp_path)

    assert done.status != 2
    assert done.err == ""
