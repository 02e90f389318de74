"""What an edit rests on beyond the launch: a card, its memory, rows, checkpoints."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from trainrx import Diagnoser
from trainrx.model.fixing import FixAnswer

SWIFT = {"ms-swift": "4.6.0", "transformers": "5.19.0", "peft": "0.20.0"}
LAUNCH = (
    "swift {command} --model /models/a --model_type qwen2 --template qwen2_5 --tuner_type lora "
    "--dataset data.jsonl {more}\n"
)
USAGE = "[INFO:swift] Start time of running main: 2026-11-27 10:00:00\nusage: {command}.py [-h]\n"
REFUSED = (
    USAGE
    + "{command}.py: error: argument --{name}: invalid choice: '{value}' (choose from {listed})\n"
)
TYPES = "'bfloat16', 'float16', 'float32', None"
TALK = {"messages": [{"role": "user", "content": "1+1?"}, {"role": "assistant", "content": "2"}]}
PAIR = {**TALK, "rejected_response": "3"}


@cache
def diagnoser() -> Diagnoser:
    """Give one that has loaded its knowledge for all questions."""
    return Diagnoser()


def asked(folder: Path, more: str, log: str, **inputs) -> FixAnswer:
    command = inputs.pop("command", "sft")
    versions = {**SWIFT, **inputs.pop("versions", {})}
    (folder / "launch.sh").write_text(LAUNCH.format(command=command, more=more))
    (folder / "train.log").write_text(log)
    return diagnoser().fix_launch([folder], versions=versions, **inputs)


def lacks(found: FixAnswer) -> str:
    return "; ".join(found.proposals[0].lacks)


HALF = REFUSED.format(command="sft", name="torch_dtype", value="half", listed=TYPES)


@pytest.mark.parametrize(
    ("torch", "log", "said"),
    [
        ("2.13.0+cpu", HALF, "this machine has none"),
        ("2.13.0", HALF, "nothing here shows one"),
        ("2.13.0+cu126", HALF, ""),
        ("2.13.0", "NCCL version 2.21.5+cuda12.4\n" + HALF, ""),
        ("2.13.0", "AssertionError: Torch not compiled with CUDA enabled\n" + HALF, "has none"),
    ],
)
def test_a_value_for_a_card_waits_for_one_to_be_seen(tmp_path, torch, log, said):
    found = asked(tmp_path, "--torch_dtype half", log, versions={"torch": torch})

    assert said in lacks(found)
    assert found.verdict == ("checked" if said else "proved")


def test_a_card_that_was_told_is_there(tmp_path):
    found = asked(tmp_path, "--torch_dtype half", HALF, gpu="A100-80G", gpus=1)

    assert found.verdict == "proved", (found.refused, lacks(found))


def test_a_value_any_machine_takes_needs_no_card(tmp_path):
    log = REFUSED.format(command="sft", name="torch_dtype", value="float", listed=TYPES)

    found = asked(tmp_path, "--torch_dtype float", log, versions={"torch": "2.13.0+cpu"})

    assert found.verdict == "proved", (found.refused, lacks(found))


STEPS = REFUSED.format(
    command="sft", name="save_strategy", value="step", listed="'no', 'steps', 'epoch', 'best'"
)


@pytest.mark.parametrize(
    ("adapter", "there", "proved"),
    [
        ("out/v0/checkpoint-2", False, False),
        ("out/v0/checkpoint-2", True, True),
        ("owner/adapter", False, True),
        ("/no-such-tree/checkpoint-2", False, True),
    ],
)
def test_an_adapter_that_is_gone_comes_next(tmp_path, adapter, there, proved):
    if there:
        (tmp_path / adapter).mkdir(parents=True)
        (tmp_path / adapter / "adapter_model.bin").write_text("x")

    found = asked(tmp_path, f"--save_strategy step --adapters {adapter}", STEPS)

    assert found.verdict == ("proved" if proved else "checked")
    assert ("nothing is there" in lacks(found)) != proved


@pytest.mark.parametrize(("row", "proved"), [(TALK, False), (PAIR, True)])
def test_rows_that_the_task_does_not_read_come_next(tmp_path, row, proved):
    (tmp_path / "data.jsonl").write_text((json.dumps(row) + "\n") * 8)
    listed = "'dpo', 'orpo', 'grpo'"
    log = REFUSED.format(command="rlhf", name="rlhf_type", value="dppo", listed=listed)

    found = asked(tmp_path, "--rlhf_type dppo", log, command="rlhf")

    assert found.verdict == ("proved" if proved else "checked"), lacks(found)
    assert ("what comes next" in lacks(found)) != proved


def test_more_than_words_are_missing_where_a_value_reaches_out(tmp_path):
    log = USAGE.format(command="sft") + "ValueError: remaining_argv: ['--push_to_hubs', 'true']\n"

    found = asked(tmp_path, "--push_to_hubs true", log)

    assert found.verdict == "checked"
    assert "needs a login" in lacks(found)


def test_a_release_that_imports_a_package_for_a_command_needs_it(tmp_path):
    log = REFUSED.format(command="rlhf", name="rlhf_type", value="dppo", listed="'dpo', 'orpo'")
    listed = {"torch": "2.6.0", "transformers": "4.49.0", "trl": "0.16.0", "jinja2": "3.1.6"}
    whole = listed | {"ms-swift": "3.2.1", "filelock": "3.0", "typing-extensions": "4.0"}
    whole |= {"networkx": "3.0", "sympy": "1.13", "fsspec": "2024.1", "numpy": "1.26.4"}
    more = "--rlhf_type dppo --train_type lora"
    (tmp_path / "launch.sh").write_text(f"swift rlhf --model /models/a --dataset d.jsonl {more}\n")
    (tmp_path / "train.log").write_text(log)

    without = diagnoser().fix_launch([tmp_path], versions=whole)
    beside = diagnoser().fix_launch([tmp_path], versions=whole | {"vllm": "0.7.3"})

    assert "needs vllm" in without.proposals[0].refused[0].title
    assert all("needs vllm" not in one.title for one in beside.proposals[0].refused)


def test_evaluation_that_is_turned_on_needs_rows(tmp_path):
    program = PROGRAM.format(more="")
    (tmp_path / "launch.sh").write_text("python train.py\n")
    (tmp_path / "train.log").write_text(NO_MATCH)

    (tmp_path / "train.py").write_text(program)
    without = diagnoser().fix_launch([tmp_path], versions=TRL)
    (tmp_path / "train.py").write_text(PROGRAM.format(more="eval_dataset=rows, "))
    beside = diagnoser().fix_launch([tmp_path], versions=TRL)

    assert "no data set to evaluate on" in lacks(without)
    assert beside.verdict == "proved", lacks(beside)


TRL = {"trl": "1.16.0", "transformers": "5.24.0", "torch": "2.13.0+cpu", "datasets": "5.2.0"}
PROGRAM = """\
from datasets import load_dataset
from trl import DPOConfig, DPOTrainer

rows = load_dataset("json", data_files="train.jsonl", split="train")
args = DPOConfig(
    output_dir="out",
    load_best_model_at_end=True,
    bf16=False,
)
DPOTrainer(model="/models/a", args=args, {more}train_dataset=rows).train()
"""
NO_MATCH = """\
Traceback (most recent call last):
  File "train.py", line 5, in <module>
    args = DPOConfig(
  File "/opt/lib/site-packages/transformers/training_args.py", line 1585, in __post_init__
    raise ValueError(
ValueError: --load_best_model_at_end requires the save and eval strategy to match, but found
- Evaluation strategy: IntervalStrategy.NO
- Save strategy: SaveStrategy.STEPS
"""
