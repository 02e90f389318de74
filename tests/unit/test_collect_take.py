from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from live_jobs import running

from trainrx.collect.bundle import TakenItem
from trainrx.collect.commands import NOT_FOUND, TIMED_OUT, CommandOutput, run_command
from trainrx.collect.files import HEAD, TAIL, output, recorders
from trainrx.collect.kernel import kernel, of_job
from trainrx.collect.machine import machine
from trainrx.collect.processes import LiveJob, WantedJob, find_job
from trainrx.collect.roles import LiveProcess
from trainrx.collect.runtime import installed, runtime
from trainrx.collect.stacks import StackTaker, Taken
from trainrx.collect.take import TakeOptions, take
from trainrx.model.bundle import BundleGap

STACK = b'[{"pid": 1, "frames": [], "owns_gil": false}]'
GROUPS = (
    "python invoked oom-killer: gfp\n[1] oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg={},pid=9"
)


class Commands:
    """Answers commands by their first words, and keeps what was asked."""

    def __init__(self, **answers: CommandOutput) -> None:
        self.answers = answers
        self.asked: list[tuple[str, ...]] = []

    def __call__(self, argv: Sequence[str], limit: float) -> CommandOutput:
        self.asked.append((*argv, str(limit)))
        name = Path(argv[0]).name.replace("-", "_")
        return self.answers.get(name, CommandOutput(status=NOT_FOUND))


def job(*processes: LiveProcess) -> LiveJob:
    return LiveJob(name="1", host="node1", processes=processes)


def own(**changes: object) -> LiveProcess:
    said = {"pid": os.getpid(), "role": "rank", "rank": 0, "is_python": True, "started": 1.0}
    return LiveProcess(**{**said, **changes})


def split(taken: Sequence[Taken]) -> tuple[list[TakenItem], list[BundleGap]]:
    items = [one for one in taken if isinstance(one, TakenItem)]
    return items, [one for one in taken if isinstance(one, BundleGap)]


def sleeper() -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])


def test_a_process_that_may_not_be_traced_is_told_with_the_right_it_takes() -> None:
    denied = CommandOutput(status=1, error="Error: Permission Denied (os error 13)")
    taker = StackTaker(job(own()), Commands(py_spy=denied), "py-spy")

    _, gaps = split([*taker.round(1), *taker.round(2)])

    assert [(gap.reason, gap.rank) for gap in gaps] == [("not-permitted", 0)]
    assert gaps[0].right in ("container", "yama", "sudo", "yama-locked", "owner")


def test_a_process_that_ended_meanwhile_is_told() -> None:
    process = sleeper()
    process.kill()
    process.wait()
    gone = own(pid=process.pid)

    items, gaps = split([*StackTaker(job(gone), run_command).round(1)])

    assert items == []
    assert [gap.reason for gap in gaps] == ["ended"]


def test_without_py_spy_all_else_is_taken() -> None:
    taker = StackTaker(job(own()), Commands())
    taker.binary = ""

    items, gaps = split([*taker.round(1)])

    assert [one.item.kind for one in items] == ["usage"]
    assert [(gap.reason, gap.right) for gap in gaps] == [("not-installed", "install")]


@pytest.mark.parametrize("before", [False, True])
def test_a_process_goes_on_unless_it_was_stopped_before(before: bool) -> None:
    process = sleeper()
    time.sleep(0.2)
    if before:
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.05)

    def hangs(*_: object) -> CommandOutput:
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.05)
        return CommandOutput(status=TIMED_OUT)

    try:
        _, gaps = split([*StackTaker(job(own(pid=process.pid)), hangs, "py-spy").round(1)])
        time.sleep(0.1)
        state = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0]
    finally:
        process.kill()
        process.wait()

    assert [gap.reason for gap in gaps] == ["too-slow"]
    assert (state == "T") is before


def test_what_takes_too_long_ends_with_all_it_started(tmp_path: Path) -> None:
    began = time.monotonic()

    done = run_command(("sh", "-c", f"sleep 30 & echo $! > {tmp_path}/pid; wait"), 0.3)

    child = int((tmp_path / "pid").read_text())
    time.sleep(0.1)
    stat = Path(f"/proc/{child}/stat")
    assert done.status == TIMED_OUT
    assert time.monotonic() - began < 3
    assert not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"


def test_a_hung_job_is_taken_with_its_launch_its_output_and_its_machine(tmp_path: Path) -> None:
    variables = {"NCCL_DEBUG": "INFO", "MY_API_KEY": "not-to-be-shown-1234", "X": "a\nb\x1b[2J"}
    with running(tmp_path, words="--lr=1e-5", variables=variables):
        found = take(find_job(WantedJob(match=str(tmp_path))), TakeOptions(interval=0.3))

    kinds = {item.kind for item in found.bundle.manifest.items}
    script = next(data for path, data in found.bundle.contents.items() if "scripts/" in path)
    env = next(data for path, data in found.bundle.contents.items() if path.endswith(".env"))
    assert {"stacks", "usage", "command", "script", "environment", "memory", "disk"} <= kinds
    assert b"for rank in" in script
    assert b"NCCL_DEBUG=INFO" in env
    assert b"not-to-be-shown" not in b"".join(found.bundle.contents.values())
    assert {item.round for item in found.bundle.manifest.items if item.kind == "stacks"} == {1, 2}


def test_hostile_words_and_variables_reach_a_bundle_masked_and_harmless() -> None:
    words = ["a\nb", "\x1b[31mred", "x" * 100_000, "--token", "hf_" + "Ab1" * 12]
    program = "import time; time.sleep(60)"
    env = {
        **os.environb,
        b"NCCL_NET": b"\xff\xfe\n\x1b]0;t\x07",
        b"RANK": b"0",
        b"WORLD_SIZE": b"1",
    }
    process = subprocess.Popen([sys.executable, "-c", program, *words], env=env)
    time.sleep(0.3)
    try:
        found = take(find_job(WantedJob(pid=process.pid)), TakeOptions(rounds=1))
    finally:
        process.kill()
        process.wait()

    text = json.dumps([str(one) for one in found.bundle.contents.values()]) + str(
        found.bundle.manifest
    )
    assert "Ab1Ab1" not in text
    assert found.bundle.manifest.processes[0].rank == 0
    assert all(data.decode() for path, data in found.bundle.contents.items() if ".env" in path)


def test_of_a_long_log_the_beginning_and_the_end_are_taken(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    lines = [f"step {number}\n" for number in range(200_000)]
    log.write_text("".join(lines))
    with log.open("rb") as opened:
        process = subprocess.Popen(
            [sys.executable, "-c", "import time; time.sleep(60)"], stdout=opened
        )
        try:
            items, _ = split([*output(job(own(pid=process.pid)))])
        finally:
            process.kill()
            process.wait()

    (one,) = items
    said = one.text.splitlines(keepends=True)
    assert said[0] == lines[0]
    assert said[-1] == lines[-1]
    assert set(said) <= set(lines)
    assert len(one.text) <= HEAD + TAIL
    assert not one.item.whole


def test_dumps_of_recorders_become_json_and_hostile_ones_run_nothing(tmp_path: Path) -> None:
    class Canary:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.mkdir, (str(tmp_path / "canary"),)

    start = str(tmp_path / "dump_")
    (tmp_path / "dump_0").write_bytes(pickle.dumps({"version": "2.4", "pg_config": {}}))
    (tmp_path / "dump_1").write_bytes(pickle.dumps(Canary()))
    said = {"TORCH_FR_DUMP_TEMP_FILE": start}

    items, gaps = split([*recorders(job(own(variables=said), own(rank=1, variables=said)))])

    assert [json.loads(one.text)["version"] for one in items if one.item.source == f"{start}0"] == [
        "2.4"
    ]
    assert [gap.rank for gap in gaps if gap.name == f"{start}1"] == [1]
    assert not (tmp_path / "canary").exists()


def test_kills_in_the_control_groups_of_others_are_left_out() -> None:
    other = GROUPS.format("/small").splitlines()
    mine = GROUPS.format("/pods/mine").splitlines()
    end = "[1] Memory cgroup out of memory: Killed process 9 (python)"
    lines = [*other, end, "[2] NVRM: Xid (PCI:0000:05:00): 79", *mine, end]

    kept = of_job(lines, ["/pods/mine/a"])

    assert kept == lines[3:]
    assert of_job(lines, ["/"]) == lines


def test_a_kernel_log_that_may_not_be_read_is_told() -> None:
    refused = CommandOutput(status=1, error="dmesg: read kernel buffer failed: not permitted")

    items, gaps = split([*kernel(job(own()), Commands(dmesg=refused))])

    assert items == []
    assert [(gap.kind, gap.right) for gap in gaps] == [("kernel", "kernel-log")]


def test_a_command_that_hangs_is_told_by_its_name() -> None:
    hangs = CommandOutput(status=TIMED_OUT)

    _, gaps = split([*machine(job(own()), Commands(nvidia_smi=hangs, df=hangs))])

    told = {gap.name for gap in gaps if gap.reason == "too-slow"}
    assert told == {"nvidia-smi", "nvidia-smi -q", "df -h"}


def test_versions_are_read_off_folders_without_running_anything(tmp_path: Path) -> None:
    for name in ("ms_swift-3.2.1.dist-info", "torch-2.5.1+cu124.dist-info", "x.dist-info", "torch"):
        (tmp_path / name).mkdir()

    assert [*installed(tmp_path)] == ["ms-swift==3.2.1", "torch==2.5.1+cu124"]


def test_configs_a_command_line_names_are_taken(tmp_path: Path) -> None:
    (tmp_path / "sft.yaml").write_text("learning_rate: 1e-5\n")
    (tmp_path / "ds.json").write_text("{}")
    argv = ("python", "train.py", "sft.yaml", "--deepspeed=ds.json", "missing.yaml")

    items, _ = split([*runtime(job(own(argv=argv, cwd=str(tmp_path))))])

    assert [one.text for one in items if one.item.kind == "config"] == [
        "learning_rate: 1e-5\n",
        "{}",
    ]
