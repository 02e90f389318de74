"""A command that runs a Python program is judged by what the program sets, whatever its name."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from trainrx import Diagnoser

PROGRAM = """\
from transformers import BitsAndBytesConfig
from trl import GRPOConfig, GRPOTrainer

bnb = BitsAndBytesConfig(load_in_4bit=True, load_in_8bit={eight})
args = GRPOConfig(output_dir="out", fp16={half}, bf16=True, per_device_train_batch_size={micro},
                  num_generations=8, max_completion_length=256)
trainer = GRPOTrainer(model="Qwen/Qwen2.5-0.5B-Instruct", args=args, reward_funcs=len)
trainer.train()
"""
VERSIONS = {"trl": "0.18.2", "transformers": "4.52.4"}


@cache
def diagnoser() -> Diagnoser:
    """Give one that has loaded its knowledge for all questions."""
    return Diagnoser()


@pytest.mark.parametrize("command", ["python t.py", "CUDA_VISIBLE_DEVICES=0 python3 -u t.py"])
@pytest.mark.parametrize(
    ("said", "rule"),
    [
        ({"half": "True"}, "hf-fp16-and-bf16"),
        ({"eight": "True"}, "trl-four-and-eight-bit"),
        ({"micro": "3"}, "trl-train-batch-not-multiple-of-generations"),
    ],
)
def test_lint_finds_what_the_program_of_a_command_sets(
    tmp_path: Path, command: str, said: dict[str, str], rule: str
) -> None:
    values = {"eight": "False", "half": "False", "micro": "8"}
    (tmp_path / "t.py").write_text(PROGRAM.format(**values), encoding="utf-8")
    script = tmp_path / "run.sh"
    script.write_text(f"{command}\n", encoding="utf-8")
    right = {item.rule for item in diagnoser().lint(script, versions=VERSIONS, gpus=1)}
    (tmp_path / "t.py").write_text(PROGRAM.format(**values | said), encoding="utf-8")

    wrong = {item.rule for item in diagnoser().lint(script, versions=VERSIONS, gpus=1)}

    assert rule not in right
    assert rule in wrong


def test_a_program_that_trains_nothing_is_no_training_command(tmp_path: Path) -> None:
    text = PROGRAM.format(half="True", eight="True", micro="3")
    (tmp_path / "t.py").write_text(f'"""Prints a program."""\nprint({text!r})\n', encoding="utf-8")
    script = tmp_path / "run.sh"
    script.write_text("python t.py\n", encoding="utf-8")

    assert diagnoser().lint(script) == ()
