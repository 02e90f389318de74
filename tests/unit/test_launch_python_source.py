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
        "longest += 1\n",
        "for longest in (1, 2): pass\n",
        "if flag: longest = 8192\n",
        "with open('x') as longest: pass\n",
    ],
)
def test_what_a_name_is_bound_to_under_a_condition_is_not_known(more: str) -> None:
    found = values(one(SFT.replace("name =", more + "name =", 1)))

    assert found["max_length"] is None


@pytest.mark.parametrize("more", ["longest = 8192\n", "def f(longest): pass\n"])
def test_what_is_bound_later_or_elsewhere_changes_nothing(more: str) -> None:
    assert values(one(SFT + more))["max_length"] == ("4096",)


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


PARSED = """\
import argparse
from transformers import AutoModelForCausalLM, BitsAndBytesConfig, Trainer, TrainingArguments

class Defaults:
    epochs = 3

def train(model, batch, lr=1e-5, *, use_4bit=False):
    if use_4bit:
        quantised = BitsAndBytesConfig(load_in_4bit=True)
    arguments = TrainingArguments(
        output_dir=f"out/{model}",
        per_device_train_batch_size=batch // 2,
        learning_rate=lr,
        num_train_epochs=Defaults.epochs,
        gradient_checkpointing=not use_4bit,
        **shared,
    )
    arguments.bf16 = True
    Trainer(AutoModelForCausalLM.from_pretrained(model), args=arguments).train()

shared = dict(save_steps=100, **{"logging_steps": 10})
if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="Qwen/Qwen3-8B")
    parser.add_argument("-b", "--batch-size", type=int, default=8)
    parser.add_argument("--lr", type=float, default=2e-5)
    parser.add_argument("--qlora", action="store_true")
    args = parser.parse_args()
    train(args.model, args.batch_size, lr=args.lr, use_4bit=args.qlora)
"""


def test_options_functions_and_fields_are_followed_to_their_values() -> None:
    launch = one(PARSED)

    assert {name: value for name, value in values(launch).items() if value} == {
        "bf16": ("true",),
        "output_dir": ("out/Qwen/Qwen3-8B",),
        "per_device_train_batch_size": ("4",),
        "learning_rate": ("2e-05",),
        "num_train_epochs": ("3",),
        "gradient_checkpointing": ("true",),
        "save_steps": ("100",),
        "logging_steps": ("10",),
        "model_name_or_path": ("Qwen/Qwen3-8B",),
    }
    assert launch.args_complete


def test_what_the_command_sets_goes_before_the_defaults_of_its_options() -> None:
    (launch,) = read_program(PARSED, "train.py", {"batch_size": "32", "qlora": True})

    found = values(launch)
    assert found["per_device_train_batch_size"] == ("16",)
    assert found["load_in_4bit"] == ("true",)
    assert found["gradient_checkpointing"] == ("false",)


def test_a_parser_of_dataclasses_makes_a_launch_with_the_defaults_of_the_program() -> None:
    launch = one(
        """\
from dataclasses import dataclass, field
import transformers

@dataclass
class ModelArguments:
    model_name_or_path: str = field(default="Qwen/Qwen2.5-VL-7B-Instruct")

@dataclass
class TrainingArguments(transformers.TrainingArguments):
    optim: str = field(default="adamw_torch")
    bf16: bool = True

parser = transformers.HfArgumentParser((ModelArguments, TrainingArguments))
model_args, training_args = parser.parse_args_into_dataclasses()
training_args.remove_unused_columns = False
model = transformers.AutoModel.from_pretrained(model_args.model_name_or_path)
transformers.Trainer(model=model, args=training_args).train()
"""
    )

    assert launch.framework == "transformers"
    assert values(launch) == {
        "remove_unused_columns": ("false",),
        "optim": ("adamw_torch",),
        "bf16": ("true",),
        "model_name_or_path": ("Qwen/Qwen2.5-VL-7B-Instruct",),
    }
    assert not launch.args_complete


@pytest.mark.parametrize(
    ("condition", "four_bits"), [("False", "gone"), ("1 > 0", ("true",)), ("ask()", None)]
)
def test_a_call_counts_where_its_condition_holds(condition: str, four_bits: object) -> None:
    text = f"SFTConfig(bf16=True)\nif {condition}:\n    q = BitsAndBytesConfig(load_in_4bit=True)\n"

    assert values(one(text)).get("load_in_4bit", "gone") == four_bits


def test_of_a_program_without_end_the_first_launches_count() -> None:
    text = "SFTConfig(seed=x)\n" * 3000 + "x = 1\n" * 3000 + "DPOConfig(seed=x)\n"

    assert [values(launch) for launch in read_program(text, "x.py")] == [{"seed": None}] * 8


def test_of_a_name_bound_very_often_the_last_binding_counts() -> None:
    assert values(one("x = 1\n" * 999 + "x = 2\nSFTConfig(seed=x)\n")) == {"seed": ("2",)}


def test_what_a_launcher_sets_has_no_default() -> None:
    found = values(
        one('import os\nSFTConfig(seed=int(os.environ.get("RANK", 0)), bf16=os.getenv("B", "1"))')
    )

    assert found == {"seed": None, "bf16": ("1",)}


def test_a_line_that_is_no_python_leaves_the_rest_readable() -> None:
    text = 'import trl\nx = (\n    f"{a["b"]}"\n)\nSFTConfig(bf16=True)\ny = = 2\n'

    assert values(one(text)) == {"bf16": ("true",)}


@pytest.mark.parametrize(
    "expression",
    ["x", "(lambda x: x)(1)", "[][3]", "1 / 0", "10 ** 9 * 10 ** 9", "'a' * 99", "{}['b']", "f(1)"],
)
def test_what_no_run_would_tell_is_not_known(expression: str) -> None:
    assert values(one(f"x = x\nSFTConfig(seed={expression})")) == {"seed": None}


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
