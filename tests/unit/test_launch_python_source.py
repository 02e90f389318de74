"""Launches read from Python programs: literals only, nothing is run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.launch.python_source import is_program, read_program
from trainrx.model.job import RawLaunch

SFT = """\
import os, torch
from datasets import load_dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer

os.environ["NCCL_P2P_DISABLE"] = "1"
longest = 4096
name = "Qwen/Qwen2.5-7B-Instruct"
model = AutoModelForCausalLM.from_pretrained(name, torch_dtype=torch.bfloat16)
tokenizer = AutoTokenizer.from_pretrained("another/model", use_fast=False)
config = SFTConfig(
    output_dir="out",
    per_device_train_batch_size=8,
    learning_rate=2e-5,
    bf16=True,
    max_length=longest,
    deepspeed=args.deepspeed,
    report_to=["wandb", "tensorboard"],
    save_steps=-1,
)
lora = LoraConfig(r=16, lora_alpha=32, target_modules="all-linear", task_type="CAUSAL_LM")
SFTTrainer(model=model, args=config, train_dataset=load_dataset("my/set"), peft_config=lora).train()
"""


def one(text: str, source: str = "train.py") -> RawLaunch:
    found = read_program(text, source)
    assert len(found) == 1
    return found[0]


def values(launch: RawLaunch) -> dict[str, tuple[str, ...] | None]:
    return {arg.name: arg.values for arg in launch.args}


def test_keyword_arguments_become_the_arguments_of_a_launch() -> None:
    launch = one(SFT)

    found = values(launch)
    assert (launch.framework, launch.command, launch.program) == ("trl", "sft", "train.py")
    assert found["per_device_train_batch_size"] == ("8",)
    assert found["learning_rate"] == ("2e-05",)
    assert found["bf16"] == ("true",)
    assert found["report_to"] == ("wandb", "tensorboard")
    assert found["save_steps"] == ("-1",)
    assert launch.args_complete


def test_each_argument_cites_its_line() -> None:
    batch = next(arg for arg in one(SFT).args if arg.name == "per_device_train_batch_size")

    assert (batch.origin.source, batch.origin.line) == ("train.py", 14)
    assert batch.origin.text == "per_device_train_batch_size=8,"


def test_what_is_not_literal_is_set_but_not_known() -> None:
    assert values(one(SFT))["deepspeed"] is None


def test_a_name_bound_once_to_a_literal_is_that_literal() -> None:
    assert values(one(SFT))["max_length"] == ("4096",)


@pytest.mark.parametrize(
    "more",
    [
        "longest = 8192\n",
        "longest += 1\n",
        "for longest in (1, 2): pass\n",
        "def f(longest): pass\n",
    ],
)
def test_a_name_bound_twice_is_not_known(more: str) -> None:
    assert values(one(SFT + more))["max_length"] is None


def test_the_model_is_the_one_loaded_and_not_its_tokenizer() -> None:
    found = values(one(SFT))

    assert found["model_name_or_path"] == ("Qwen/Qwen2.5-7B-Instruct",)
    assert found["torch_dtype"] == ("bfloat16",)
    assert "use_fast" not in found


def test_lora_has_the_names_of_the_command_line() -> None:
    found = values(one(SFT))

    assert found["use_peft"] == ("true",)
    assert found["lora_r"] == ("16",)
    assert found["lora_target_modules"] == ("all-linear",)
    assert "task_type" not in found


def test_variables_a_program_sets_are_read() -> None:
    assert [(item.name, item.value) for item in one(SFT).env] == [("NCCL_P2P_DISABLE", "1")]


def test_hidden_keywords_leave_the_launch_incomplete() -> None:
    launch = one("from trl import DPOConfig\nc = DPOConfig(beta=0.1, **more)\n")

    assert not launch.args_complete
    assert values(launch) == {"beta": ("0.1",)}


@pytest.mark.parametrize(
    ("text", "framework", "command"),
    [
        ("import transformers\ntransformers.TrainingArguments(bf16=True)", "transformers", "train"),
        ("a = TrainingArguments(bf16=True)\nSFTTrainer(model, args=a)", "trl", "sft"),
        ("GRPOTrainer(use_liger_kernel=True)", "trl", "grpo"),
        ("OnlineDPOConfig(beta=1)", "trl", "online_dpo"),
        ("from unsloth import FastLanguageModel as F\nSFTConfig(bf16=True)", "unsloth", "sft"),
        ("%pip install trl\n!nvidia-smi\nSFTConfig(bf16=True)", "trl", "sft"),
    ],
)
def test_the_classes_name_framework_and_command(text: str, framework: str, command: str) -> None:
    launch = one(text)

    assert (launch.framework, launch.command) == (framework, command)


def test_two_configurations_are_two_launches() -> None:
    found = read_program("SFTConfig(bf16=True)\nDPOConfig(fp16=True)\n", "x.py")

    assert [launch.command for launch in found] == ["sft", "dpo"]
    assert [set(values(launch)) for launch in found] == [{"bf16"}, {"fp16"}]


@pytest.mark.parametrize(
    "text",
    [
        "import torch\n\ndef main():\n    pass\n",
        "# SFTConfig(bf16=True)\nx = 1\n",
        'AutoModelForCausalLM.from_pretrained("gpt2")\n',
        "torchrun train.py --bf16 SFTConfig(\n",
        "SFTConfig(bf16=",
        "",
    ],
)
def test_other_texts_hold_no_launch(text: str) -> None:
    assert read_program(text, "x.py") == ()


@pytest.mark.parametrize(
    "text",
    [
        "SFTConfig(a=" + "(" * 5000,
        "SFTConfig(a=" + "-" * 9000 + "1)",
        "SFTConfig(a=" + "9" * 6000 + ")",
    ],
)
def test_depth_and_size_are_no_trouble(text: str) -> None:
    is_program(text)
    read_program(text, "x.py")


def test_nothing_is_run(tmp_path) -> None:
    mark = tmp_path / "mark"

    read_program(f"SFTConfig(bf16=open({str(mark)!r}, 'w'))\nopen({str(mark)!r}, 'w')\n", "x.py")

    assert not mark.exists()


@given(st.text(max_size=200))
def test_any_argument_text_is_read_back(text: str) -> None:
    launch = one(f"SFTConfig(run_name={text!r})")

    assert values(launch)["run_name"] == (text,)


@given(st.text(max_size=200))
def test_no_text_raises(text: str) -> None:
    read_program(text, "x.py")
    read_program(f"SFTConfig({text})", "x.py")
