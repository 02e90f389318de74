from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from trainrx.share.sessions import TaskSessions
from trainrx.share.task import Task, TaskFile, perform

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/01-vl7b-grpo-2xA800-80g"
FILES = tuple(
    TaskFile(name=name, data=(EXAMPLE / name).read_bytes()) for name in ("launch.sh", "train.log")
)
LOG = TaskFile(name="train.log", data=b"CUDA out of memory. Tried to allocate 2.00 GiB.\n")


def test_a_job_that_was_sent_is_answered_as_the_command_answers_it():
    found = perform(
        Task(
            kind="diagnose", files=FILES, gpu=("A800-80G",), gpus=2, platform="slack", attached=True
        )
    )

    assert json.loads(found.json)["verdict"] == "diagnosed"
    assert found.message.startswith("*Diagnosed*")
    assert "### 1. " in found.whole


@pytest.mark.parametrize("kind", ["lint", "estimate", "plan", "fix", "paste"])
def test_each_command_answers(kind):
    found = perform(Task(kind=kind, files=FILES, gpu=("A800-80G",), gpus=2))

    assert found.error == ""
    assert isinstance(json.loads(found.json), dict)


@pytest.mark.parametrize(
    "name", ["../../etc/cron.d/x", "/etc/passwd", "-rf", "..", "", "a\0b", "显" * 300]
)
def test_no_name_of_a_file_leads_out_of_the_folder(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    found = perform(Task(kind="diagnose", files=(TaskFile(name=name, data=LOG.data), LOG)))

    assert found.error == ""
    assert json.loads(found.json)["symptoms"][0]["id"] == "cuda-oom"
    assert list(tmp_path.iterdir()) == []
    assert Path.cwd() == tmp_path


def test_a_question_that_cannot_be_answered_says_what_is_wrong():
    found = perform(Task(kind="diagnose", files=(TaskFile(name="a.log", data=b""),)))

    assert found.json == b""
    assert "a.log" in found.error


def test_a_token_is_forgotten_after_its_time_and_where_others_need_the_room():
    clock = [0.0]
    kept = TaskSessions(size=110_000, seconds=10, now=lambda: clock[0])
    task = Task(kind="diagnose", files=(TaskFile(name="a.log", data=b"x" * 30_000),))
    tokens = [kept.keep(task) for _ in range(4)]

    assert kept.answered(tokens[0], {}) is None
    again = kept.answered(tokens[1], {"a": "yes"})
    assert again is not None
    assert dict(again.answers) == {"a": "yes"}
    kept.answered(tokens[1], {"b": "y" * 60_000})
    assert kept.answered(tokens[2], {}) is None
    clock[0] = 11.0
    assert kept.answered(tokens[1], {}) is None


def confined(program: str, folder: Path) -> str:
    code = f"from trainrx.share.confine import confine\nconfine([{str(folder)!r}])\n{program}"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    return done.stdout.strip() or done.stderr.strip().rpartition("\n")[2]


@pytest.mark.parametrize(
    "program",
    [
        "print(open('/etc/hostname').read())",
        "import os; print(os.listdir('/etc'))",
        "import os; print(os.open('/etc/hostname', 0))",
        "import pathlib; print(pathlib.Path('x/../../../../../../etc/hostname').read_text())",
        "import subprocess; print(subprocess.run(['true']))",
        "import socket; print(socket.create_connection(('127.0.0.1', 9)))",
    ],
)
def test_a_confined_process_reads_nothing_of_its_machine(program, tmp_path):
    assert confined(program, tmp_path).startswith("trainrx.share.confine.ConfinedError")


def test_a_confined_process_answers(tmp_path):
    (tmp_path / "run.sh").write_text(
        "source /etc/profile\nswift sft --model a --deepspeed /etc/x\n"
    )
    program = (
        "import os, tempfile\n"
        f"tempfile.tempdir = {str(tmp_path)!r}\n"
        "from trainrx.share.task import *\n"
        f"data = open({str(tmp_path / 'run.sh')!r}, 'rb').read()\n"
        "print(perform(Task(kind='lint', files=(TaskFile(name='run.sh', data=data),))).error == '')"
    )

    assert confined(program, tmp_path) == "True"
