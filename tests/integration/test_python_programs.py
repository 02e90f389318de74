"""Python programs as inputs of the command line."""

from __future__ import annotations

import difflib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """\
from trl import SFTConfig, SFTTrainer
config = SFTConfig(output_dir="out", per_device_train_batch_size=8, max_length=4096)
SFTTrainer(model="Qwen/Qwen2.5-7B-Instruct", args=config, train_dataset=data).train()
"""
PLAIN = "import torch\n\ndef main():\n    pass\n"
REFUSED = "is Python source or a data set, expected a log, a launch script or a configuration"


def ask(*words: str, stdin: str = "") -> tuple[int, str, str]:
    command = [sys.executable, "-m", "trainrx.cli", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, input=stdin)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("option", [(), ("--cmd",), ("--config",)])
def test_inspect_shows_the_arguments_of_a_program_with_their_lines(
    option: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "train.py"
    path.write_text(PROGRAM)

    status, out, _ = ask("inspect", *option, str(path))

    assert status == 0
    assert "trl sft" in " ".join(out.split())
    assert "train.py:2" in out
    assert "Qwen/Qwen2.5-7B-Instruct" in out


def test_a_pasted_program_is_a_launch() -> None:
    status, out, _ = ask("-", "--note", "it runs out of GPU memory", stdin=PROGRAM)

    assert status != 2
    assert "Qwen/Qwen2.5-7B-Instruct" in out


def test_a_change_is_written_as_a_keyword(tmp_path: Path) -> None:
    path, log = tmp_path / "train.py", tmp_path / "train.log"
    path.write_text(PROGRAM)
    log.write_text("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9.28 GiB.\n")

    _, out, _ = ask("--cmd", str(path), "--log", str(log))

    assert "=True" in out or "batch_size=" in out
    assert "--per_device" not in out


@pytest.mark.parametrize("words", [("--cmd",), ()])
def test_a_program_without_a_trainer_is_refused(words: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "plain.py"
    path.write_text(PLAIN)

    status, out, err = ask(*words, str(path))

    assert (status, out) == (2, "")
    assert REFUSED in err


def test_beside_other_inputs_it_is_only_listed(tmp_path: Path) -> None:
    path, log = tmp_path / "plain.py", tmp_path / "train.log"
    path.write_text(PLAIN)
    log.write_text("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9.28 GiB.\n")

    status, out, _ = ask("--cmd", str(path), "--log", str(log))

    assert status != 2
    assert "plain.py: is Python source" in out.replace("\n    ", " ").replace("\n  ", " ")


def test_calls_in_a_comment_alone_are_no_launch(tmp_path: Path) -> None:
    path = tmp_path / "plain.py"
    path.write_text("# SFTConfig(bf16=True)\n" + PLAIN)

    status, _, err = ask("--cmd", str(path))

    assert status == 2
    assert REFUSED in err


REAL = Path(__file__).parents[1] / "cases" / "real"
EDITED = {
    "trl-evaluation-without-data": ('evaluation_strategy="steps",', 'evaluation_strategy="no",'),
    "trl-gc-peft": ("", 'gradient_checkpointing_kwargs={"use_reentrant": False},'),
    "trl-rate-of-ten-thousand": ("learning_rate=1e4,", "learning_rate=1.0e-05,"),
    "trl-tokenizer-arg": (" tokenizer=tokenizer)", " processing_class=tokenizer)"),
}


@pytest.mark.parametrize("name", EDITED)
@pytest.mark.parametrize("alone", [False, True])
def test_the_program_of_a_command_is_edited(name: str, *, alone: bool, tmp_path: Path) -> None:
    for file in (REAL / name).glob("*.*"):
        if not (alone and file.name == "launch.sh"):
            shutil.copy(file, tmp_path)
    before = (tmp_path / "train.py").read_text()
    old, new = EDITED[name]

    status, out, _ = ask("fix", "--write", str(tmp_path))

    assert status == 0
    # how low a learning rate is to be nobody can prove
    assert ("CHECKED" if name == "trl-rate-of-ten-thousand" else "PROVED") in out
    after = (tmp_path / "train.py").read_text()
    lines = [line.strip() for line in difflib.unified_diff(before.split("\n"), after.split("\n"))]
    changed = [line for line in lines[2:] if line[:1] in ("+", "-") and line[1:].strip()]
    assert len(changed) == (2 if old else 1)
    assert changed[-1].startswith("+")
    assert changed[-1].endswith(new)
    assert not old or changed[0].endswith(old)


@pytest.mark.parametrize(("folder", "edited"), [("sub", True), ("$WORK", False)])
def test_of_a_program_that_lies_in_two_folders_the_one_that_runs_is_edited(
    folder: str, *, edited: bool, tmp_path: Path
) -> None:
    name = "trl-tokenizer-arg"
    (tmp_path / "sub").mkdir()
    for place in (tmp_path, tmp_path / "sub"):
        shutil.copy(REAL / name / "train.py", place)
    shutil.copy(REAL / name / "train.log", tmp_path)
    (tmp_path / "run.sh").write_text(f"cd {folder}\npython train.py\n")
    before = (tmp_path / "train.py").read_text()
    words = ("--cmd", str(tmp_path / "run.sh"), "--log", str(tmp_path / "train.log"))

    _, out, _ = ask("fix", "--write", *words)

    assert ("PROVED" in out) is edited
    assert (tmp_path / "train.py").read_text() == before
    assert ((tmp_path / "sub/train.py").read_text() != before) is edited
