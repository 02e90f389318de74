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


GROUPS = "trl-train-batch-not-multiple-of-generations"


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("python t.py", True),
        ("CUDA_VISIBLE_DEVICES=0,1 nohup python t.py > log 2>&1 &", True),
        ("docker run --gpus all image python t.py", True),
        ("srun --ntasks-per-node 8 python t.py", False),  # 24 samples
        ("srun python t.py", False),
        ("mpirun -np 8 python t.py", False),
        ("torchrun --nproc_per_node 8 t.py", False),
        ("accelerate launch t.py", False),  # as many processes as its configuration says
        ("LOCAL_RANK=$1 python t.py", False),
        ("source cluster.sh\npython t.py", False),
    ],
)
def test_a_program_that_python_starts_is_one_process(
    tmp_path: Path, command: str, *, found: bool
) -> None:
    text = PROGRAM.format(half="False", eight="False", micro="3")
    (tmp_path / "t.py").write_text(text, encoding="utf-8")
    script = tmp_path / "run.sh"
    script.write_text(f"{command}\n", encoding="utf-8")

    rules = {item.rule for item in diagnoser().lint(script, versions=VERSIONS)}

    assert (GROUPS in rules) is found


def test_a_program_that_starts_processes_itself_has_an_unknown_number_of_them(
    tmp_path: Path,
) -> None:
    text = PROGRAM.format(half="False", eight="False", micro="3")
    spawning = f"import torch.multiprocessing as mp\n{text}\nmp.spawn(trainer.train, nprocs=8)\n"
    (tmp_path / "t.py").write_text(spawning, encoding="utf-8")
    script = tmp_path / "run.sh"
    script.write_text("python t.py\n", encoding="utf-8")

    assert GROUPS not in {item.rule for item in diagnoser().lint(script, versions=VERSIONS)}


PPO = """\
from transformers import HfArgumentParser
from trl import ModelConfig, ScriptArguments
from trl.experimental.ppo import PPOConfig, PPOTrainer

parser = HfArgumentParser((ScriptArguments, PPOConfig, ModelConfig))
script_args, training_args, model_args = parser.parse_args_into_dataclasses()
PPOTrainer(args=training_args).train()
"""


def test_fields_of_a_class_that_the_catalog_does_not_list_are_not_refused(tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text(PPO, encoding="utf-8")
    script = tmp_path / "run.sh"
    script.write_text("python t.py --dataset_name a --output_dir o --num_ppo_epochs 1\n")

    found = diagnoser().lint(script, versions={"trl": "1.16.0"})

    assert "program-refuses-argument" not in {item.rule for item in found}


@pytest.mark.parametrize(("cards", "found"), [("all", False), ("0,1", True)])
def test_all_cards_of_a_configuration_of_accelerate_are_no_number(
    tmp_path: Path, cards: str, *, found: bool
) -> None:
    (tmp_path / "t.py").write_text(PROGRAM.format(half="False", eight="False", micro="8"))
    lines = f"distributed_type: MULTI_GPU\ngpu_ids: {cards}\nnum_machines: 1\nnum_processes: 8\n"
    (tmp_path / "acc.yaml").write_text(lines, encoding="utf-8")
    script = tmp_path / "run.sh"
    script.write_text("accelerate launch --config_file acc.yaml t.py\n", encoding="utf-8")

    rules = {item.rule for item in diagnoser().lint(script, versions=VERSIONS)}

    assert ("more-processes-than-gpus" in rules) is found
