"""What a user's terminal, pipe and workflow get of inputs that hold secrets and hostile bytes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOKEN = "hf_" + "aB3dE5gH7jK9mN1pQ3sT5vX7zA9b"
OSC_52 = "\x1b]52;c;cm0gLXJmIH4=\x07"
RUN = "import sys; from trainrx.cli import main; sys.exit(main())"
HOSTILE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\u00ad]")
FORMS = ("text", "json", "markdown", "sarif", "github", "gitlab", "junit")


def call(*argv: str, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", RUN, *argv],
        cwd=cwd,
        capture_output=True,
        check=False,
        timeout=120,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
    )


@pytest.fixture
def launch(tmp_path: Path) -> Path:
    path = tmp_path / "launch.sh"
    path.write_text(
        f"export HF_TOKEN={TOKEN}\n"
        f"# {OSC_52}\n"
        f"swift sft --model Qwen/Qwen2.5-7B-Instruct --dataset a.jsonl --lorarank 8 {OSC_52}\n"
        f"swift sft --model 'a\n::error::b{OSC_52}' --dataset a.jsonl --hub_token {TOKEN} "
        "--x\u202e 1\n",
        encoding="utf-8",
    )
    return path


def is_safe(output: bytes) -> bool:
    text = output.decode()
    return TOKEN not in text and not HOSTILE.search(text) and "\n::error::b" not in text


@pytest.mark.parametrize("form", FORMS)
def test_lint_shows_neither_secrets_nor_control_characters(launch, form):
    done = call("lint", launch.name, "--format", form, "--isolated", cwd=launch.parent)

    assert done.returncode == 1
    assert is_safe(done.stdout.replace("\u200b".encode(), b"")), done.stdout
    assert is_safe(done.stderr)
    assert b"secret-in-script" in done.stdout


@pytest.mark.parametrize("argv", [["inspect"], ["lint"], ["--log"], ["--bogus"], ["explain"]])
def test_a_message_shows_neither_secrets_nor_control_characters(tmp_path, argv):
    done = call(*argv, f"{OSC_52}\n::error::b\u202ehub_token={TOKEN}.sh", cwd=tmp_path)

    assert done.returncode == 2
    assert is_safe(done.stderr), done.stderr
    assert is_safe(done.stdout), done.stdout


def test_nothing_is_masked_where_that_is_asked_for(launch):
    done = call("lint", launch.name, "--isolated", "--no-redact", cwd=launch.parent)

    assert TOKEN in done.stdout.decode()


def test_with_strict_a_host_is_the_same_placeholder_throughout(tmp_path):
    log = tmp_path / "train.log"
    log.write_text(
        "gpu-node-17:4242:4301 [3] NCCL WARN NET/IB : Got completion from peer 10.3.4.5<40112> "
        "with status=12 opcode=0 len=0 vendor err 129\n"
        "[rank3]: torch.distributed.DistBackendError: NCCL error in: "
        "ProcessGroupNCCL.cpp:1970, remote process exited at 10.3.4.5\n",
        encoding="utf-8",
    )
    launch = tmp_path / "launch.sh"
    launch.write_text("swift sft --model a/b --output_dir /home/alice/out\n", encoding="utf-8")

    done = call(
        "--log", log.name, "--cmd", launch.name, "--redact=strict", "--format", "json", cwd=tmp_path
    )

    text = done.stdout.decode()
    assert not any(word in text for word in ("gpu-node-17", "10.3.4.5", "alice"))
    assert {"<host-1>", "<ip-1>", "<path-1>"} <= set(re.findall(r"<[a-z]+-\d+>", text))
    assert "<ip-2>" not in text


@pytest.mark.skipif(shutil.which("patch") is None, reason="needs patch")
def test_a_patch_in_a_pipe_applies_and_does_not_hold_the_secret_beside(tmp_path):
    launch = tmp_path / "launch.sh"
    before = (
        f"# \xc0\xe9 GBK: \u663e\u5b58\x1b[0m  \nexport HF_TOKEN={TOKEN}\nexport A=1\n"
        "swift sft --model Qwen/Qwen2.5-72B-Instruct --dataset a.jsonl --train_type full "
        "--per_device_train_batch_size 8 --max_length 4096 \\\n"
        "  --gradient_checkpointing false   \n"
    ).encode()
    launch.write_bytes(before.replace("\u663e\u5b58".encode(), b"\xcf\xd4\xb4\xe6"))

    done = call("lint", launch.name, "--isolated", "--unsafe-fixes", "--diff", cwd=tmp_path)
    fixed = call("fix", launch.name, "--gpu", "80GiB", "--gpus", "8", cwd=tmp_path)

    for patch in (done.stdout, fixed.stdout):
        if b"@@" not in patch:
            continue
        assert TOKEN.encode() not in patch
        again = subprocess.run(
            ["patch", "-p1", "--dry-run", "-F0"], input=patch, cwd=tmp_path, check=False
        )
        assert again.returncode == 0
    assert b"@@" in fixed.stdout
