"""What a program declares of its command line is followed to where a library takes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainrx import estimate
from trainrx.launch.places import script_file
from trainrx.launch.python_source import read_program

CLICK = """\
import click
from trl import SFTConfig
@click.command()
@click.option("--max-len", "limit", default=1024)
@click.option("--bs", default=4)
@click.option("--fast", is_flag=True)
def main(limit, bs, fast):
    SFTConfig(max_length=limit, per_device_train_batch_size=bs, bf16=fast)
main()
"""
TYRO = """\
import tyro
from dataclasses import dataclass
from trl import SFTConfig
@dataclass
class Args:
    limit: int = 1024
    bs: int = 4
    fast: bool = False
args = tyro.cli(Args)
SFTConfig(max_length=args.limit, per_device_train_batch_size=args.bs, bf16=args.fast)
"""
TYPER = """\
import typer
from trl import SFTConfig
def main(limit: int = 1024, bs: int = 4, fast: bool = False):
    SFTConfig(max_length=limit, per_device_train_batch_size=bs, bf16=fast)
typer.run(main)
"""


@pytest.mark.parametrize("program", [CLICK, TYRO, TYPER])
def test_options_of_a_command_reach_the_configuration(program: str) -> None:
    (unset,) = read_program(program, "train.py", {})
    (given,) = read_program(program, "train.py", {"limit": "512", "fast": True})

    assert _values(unset) == {"max_length": "1024", "per_device_train_batch_size": "4"}
    assert _values(given) == {
        "max_length": "512",
        "per_device_train_batch_size": "4",
        "bf16": "true",
    }


def _values(launch) -> dict[str, str]:
    found = {arg.name: arg.values[0] for arg in launch.args if arg.values}
    return {name: value for name, value in found.items() if value != "false"}


MODULE = """\
import transformers
from dataclasses import dataclass
@dataclass
class TrainingArguments(transformers.TrainingArguments):
    model_max_length: int = 512
    lora_enable: bool = False
    gradient_checkpointing: bool = True
"""
MAIN = """\
import transformers
from peft import LoraConfig, get_peft_model
from mine.arguments import TrainingArguments
parser = transformers.HfArgumentParser((TrainingArguments,))
(args,) = parser.parse_args_into_dataclasses()
model = transformers.AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-7B", torch_dtype="bfloat16")
if args.lora_enable:
    model = get_peft_model(model, LoraConfig(r=8, target_modules=["q_proj"]))
transformers.Trainer(model=model, args=args).train()
"""
RUN = (
    "torchrun --nproc_per_node 8 src/train.py --per_device_train_batch_size 1 "
    "--lora_enable True --model_max_length 2048\n"
)


def test_a_module_of_the_repository_is_followed_from_a_script_in_a_folder(tmp_path: Path) -> None:
    script = _repository(tmp_path)

    found = estimate(cmd=script, gpu="80GiB")

    assert found.verdict == "fits"
    assert found.length is not None
    assert found.length.high == 2048
    assert not [item for item in found.assumptions if item.decides]


def test_a_default_in_a_module_cites_that_module() -> None:
    modules = {"mine.arguments": ("mine/arguments.py", MODULE)}

    (launch,) = read_program(MAIN, "train.py", {}, modules.get)

    origin = next(arg.origin for arg in launch.args if arg.name == "gradient_checkpointing")
    assert (origin.source, origin.line) == ("mine/arguments.py", 7)
    assert origin.text == "gradient_checkpointing: bool = True"


def _repository(folder: Path) -> Path:
    for name, text in (
        ("setup.py", ""),
        ("src/train.py", MAIN),
        ("src/mine/arguments.py", MODULE),
        ("scripts/run.sh", RUN),
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "scripts/run.sh"


def test_files_are_found_from_the_root_of_the_repository_and_no_further(tmp_path: Path) -> None:
    (tmp_path / "outside.yaml").write_text("a", encoding="utf-8")
    root = tmp_path / "repository"
    scripts = root / "examples" / "scripts"
    scripts.mkdir(parents=True)
    (root / "configs").mkdir()
    (root / "configs" / "zero.json").write_text("{}", encoding="utf-8")

    assert script_file("configs/zero.json", scripts) is None

    (root / ".git").mkdir()

    assert script_file("configs/zero.json", scripts) == "{}"
    assert script_file("../../configs/zero.json", scripts) == "{}"
    assert script_file("../../../outside.yaml", scripts) is None
    assert script_file("outside.yaml", scripts) is None
