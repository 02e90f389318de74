"""A Python program and the command that runs it are one launch."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainrx.api import inspect_launch
from trainrx.launch.find import find_launches
from trainrx.launch.programs import folder_programs, joined, runs
from trainrx.model.job import Input, RawLaunch
from trainrx.shell import read_script

OPTIONS = """\
import argparse
from trl import DPOConfig, DPOTrainer
parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=1e-5)
args = parser.parse_args()
DPOTrainer(model="Qwen/Qwen3-8B", args=DPOConfig(learning_rate=args.lr, bf16=True)).train()
"""
DATACLASSES = """\
from transformers import HfArgumentParser, Trainer, TrainingArguments
class Own(TrainingArguments):
    optim: str = "adamw_bnb_8bit"
(args,) = HfArgumentParser(Own).parse_args_into_dataclasses()
Trainer(args=args).train()
"""


def started(command: str, text: str = OPTIONS, name: str = "train.py") -> RawLaunch:
    program = Input(kind="script", name=name, text=text)
    (found,) = joined(find_launches(read_script(command, "run.sh")), (program,))
    return found


def values(launch: RawLaunch) -> dict[str, tuple[str, ...] | None]:
    return {arg.name: arg.values for arg in launch.args}


def test_a_command_and_its_program_are_one_launch() -> None:
    launch = started("CUDA_VISIBLE_DEVICES=0,1 torchrun --nproc_per_node 2 train.py --lr 1e-4\n")

    assert (launch.framework, launch.command, launch.program) == ("trl", "dpo", "train.py")
    assert values(launch)["learning_rate"] == ("0.0001",)
    assert values(launch)["bf16"] == ("true",)
    assert [arg.values for arg in launch.launcher] == [("2",)]
    assert [item.name for item in launch.env] == ["CUDA_VISIBLE_DEVICES"]
    assert launch.env_complete


def test_options_of_the_programs_own_are_no_arguments_of_the_framework() -> None:
    assert "lr" not in values(started("python train.py --lr 1e-4\n"))


def test_an_option_the_command_gives_unseen_is_not_known() -> None:
    assert values(started("python train.py --lr $LR\n"))["learning_rate"] is None


def test_of_a_parser_of_dataclasses_the_options_are_the_arguments() -> None:
    launch = started("accelerate launch train.py --bf16 --max_steps 9 --optim sgd\n", DATACLASSES)

    assert values(launch) == {"bf16": (), "max_steps": ("9",), "optim": ("sgd",)}
    assert launch.args_complete


def test_a_program_of_another_name_is_not_joined() -> None:
    launch = started("torchrun train.py --lr 1e-4\n", name="other.py")

    assert (launch.framework, values(launch)) == ("", {"lr": ("1e-4",)})


def test_a_frameworks_own_program_is_not_read() -> None:
    launch = started("python trl/scripts/dpo.py --learning_rate 1e-4\n", name="dpo.py")

    assert values(launch) == {"learning_rate": ("1e-4",)}


def test_a_program_beside_the_script_is_found(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(OPTIONS)
    found = find_launches(read_script("torchrun train.py\n", "run.sh"))

    (launch,) = joined(found, (), tmp_path)

    assert launch.framework == "trl"
    assert launch.args[0].origin.source == str(tmp_path / "train.py")


@pytest.mark.parametrize(("name", "is_run"), [("src/train.py", True), ("pretrain.py", False)])
def test_a_program_is_run_by_the_command_that_names_it(name: str, *, is_run: bool) -> None:
    found = find_launches(read_script("torchrun train.py\n", "run.sh"))

    program = Input(kind="script", name=name, text=OPTIONS)

    assert runs(found, program, (program,)) is is_run


def test_the_only_program_of_a_post_is_the_one_its_command_runs() -> None:
    launch = started("torchrun train.py --lr 1e-4\n", name="post.md")

    assert (launch.framework, values(launch)["learning_rate"]) == ("trl", ("0.0001",))


def test_of_several_programs_of_a_post_none_is_chosen() -> None:
    programs = [Input(kind="script", name="post.md", text=OPTIONS)] * 2
    found = find_launches(read_script("torchrun train.py\n", "post.md"))

    assert [launch.framework for launch in joined(found, programs)] == [""]
    assert not runs(found, programs[0], programs)


PARSED = """\
from trl import GRPOConfig, GRPOTrainer, ModelConfig, TrlParser
from own_trainer import OwnTrainer
parser = TrlParser((OwnArguments, GRPOConfig, ModelConfig))
script_args, training_args, model_args = parser.parse_args_and_config()
make = OwnTrainer if script_args.own else GRPOTrainer
make(args=training_args).train()
"""


def test_a_program_whose_parser_makes_the_configuration_is_of_its_library() -> None:
    launch = started("torchrun train.py --max_prompt_length 512\n", PARSED)

    assert (launch.framework, launch.command) == ("trl", "grpo")


@pytest.mark.parametrize(
    ("path", "framework", "command"),
    [
        ("src/open_r1/grpo.py", "trl", "grpo"),
        ("/work/src/open_r1_multimodal/grpo_rec.py", "trl", "grpo"),
        ("src/open_r1/sft.py", "trl", "sft"),
        ("src/open_r1/evaluate.py", "transformers", "train"),
        ("src/closed_r1/sft.py", "transformers", "train"),
    ],
)
def test_programs_of_open_r1_are_of_trl(path: str, framework: str, command: str) -> None:
    (launch,) = find_launches(
        read_script(f"accelerate launch {path} --num_train_epochs 1\n", "run.sh")
    )

    assert (launch.framework, launch.command) == (framework, command)


def test_a_model_named_on_the_command_line_holds_where_the_program_hands_on_another(
    tmp_path: Path,
) -> None:
    (tmp_path / "train.py").write_text(
        "from transformers import AutoModel, HfArgumentParser, Trainer, TrainingArguments\n"
        "args, train = HfArgumentParser((Own, TrainingArguments)).parse_args_into_dataclasses()\n"
        "Trainer(model=AutoModel.from_pretrained(args.name_of_it), args=train).train()\n"
    )
    script = tmp_path / "run.sh"
    script.write_text("torchrun train.py --model_name Qwen/Qwen2-VL-2B --num_train_epochs 1\n")

    (job,) = inspect_launch(cmd=script).jobs

    assert job.model == "Qwen/Qwen2-VL-2B"


def test_the_only_training_program_of_a_run_folder_is_the_job(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(OPTIONS)
    (tmp_path / "data.py").write_text("import json\n")
    log = Input(kind="log", name="train.log", text="loss")

    assert [i.name for i in folder_programs([str(tmp_path)], [log])] == [str(tmp_path / "train.py")]
    launch = Input(kind="script", name="launch.sh", text="swift sft\n")
    assert not [*folder_programs([str(tmp_path)], [log, launch])]


def test_of_several_training_programs_the_traceback_names_the_one_that_ran(tmp_path: Path) -> None:
    for name in ("sft.py", "dpo.py"):
        (tmp_path / name).write_text(OPTIONS)
    log = Input(kind="log", name="l", text='  File "/home/u/run/dpo.py", line 3, in <module>\n')

    assert [i.name for i in folder_programs([str(tmp_path)], [log])] == [str(tmp_path / "dpo.py")]
    assert not [*folder_programs([str(tmp_path)], [])]
