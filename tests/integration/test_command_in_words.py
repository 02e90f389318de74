"""`--cmd "swift sft ..."`: a launch given as words instead of a file, in every command."""

from __future__ import annotations

from pathlib import Path

import pytest

import command_line

COMMAND = (
    "CUDA_VISIBLE_DEVICES=0 swift sft --model Qwen/Qwen2.5-7B-Instruct --train_type lora "
    "--dataset https://host/a//b.jsonl --max_lenght 2048 --per_device_train_batch_size 4"
)
OLD = "swift sft --model_type qwen2_5-7b-instruct --sft_type lora --dataset d.jsonl"
MENDED = COMMAND.replace("max_lenght", "max_length")


def ask(folder: Path, *words: str) -> command_line.Done:
    return command_line.run((*words, "--lang", "en"), folder)


@pytest.mark.parametrize("given", [("--cmd", COMMAND), (COMMAND,)])
@pytest.mark.parametrize(
    ("command", "said"),
    [
        ((), "misspelt"),
        (("lint",), "--cmd:1:"),
        (("estimate", "--gpu", "4090"), "RTX-4090-24GB"),
        (("plan", "--gpu", "4090"), "RTX-4090-24GB"),
        (("inspect",), "--cmd:1  swift sft"),
        (("retry",), "misspelt"),
        (("translate", "--to", "ms-swift==4.0"), "ms-swift 4.0"),
    ],
)
def test_every_command_takes_the_launch_in_words(command, given, said, tmp_path):
    done = ask(tmp_path, *command, *given)

    assert done.status in (0, 1, 10)
    assert said in done.out


def test_fix_prints_the_command_as_it_is_to_be(tmp_path):
    done = ask(tmp_path, "fix", "--cmd", COMMAND, "--gpu", "A100-80G")

    assert [line for line in done.out.splitlines() if not line.startswith("#")] == [MENDED]


def test_lint_prints_the_command_it_mended(tmp_path):
    assert ask(tmp_path, "lint", "--fix", "--cmd", COMMAND).out == f"{MENDED}\n"


@pytest.mark.parametrize(
    "words",
    [
        ("fix", "--gpu", "A100-80G", "--cmd", COMMAND),
        ("translate", "--from", "ms-swift==2.6.1", "--to", "ms-swift==3.2", "--cmd", OLD),
    ],
)
def test_words_cannot_be_written_back(words, tmp_path):
    done = ask(tmp_path, *words, "--write")

    assert done.status == 2
    assert "the name of its file" in done.err


def test_the_files_it_names_are_read_from_here(tmp_path):
    (tmp_path / "run.sh").write_text(f"{COMMAND}\n", encoding="utf-8")

    done = ask(tmp_path, "inspect", "--cmd", "bash run.sh")

    assert "run.sh:1  swift sft" in done.out


@pytest.mark.parametrize("command", [(), ("lint",), ("estimate",), ("fix",), ("inspect",)])
@pytest.mark.parametrize("name", ["launch.sh", "my launch.sh"])
def test_a_name_that_is_missing_is_no_command(command, name, tmp_path):
    done = ask(tmp_path, *command, "--cmd", name)

    assert done.status == 2
    assert f"{name}: no such file" in done.err


def test_words_that_start_no_training_are_told_so(tmp_path):
    assert "holds no training command" in ask(tmp_path, "--cmd", "hello --world").out
