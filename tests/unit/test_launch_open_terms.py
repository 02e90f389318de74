"""What a launch leaves open of its memory, and that no verdict rests on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainrx import estimate, lint

OWN = (
    "torchrun --nproc_per_node 8 train.py --model_name_or_path Qwen/Qwen2.5-7B "
    "--per_device_train_batch_size 1 --bf16 True "
)
SWIFT = "swift sft --model Qwen/Qwen2.5-7B-Instruct --dataset d.jsonl --torch_dtype bfloat16 "
LIMIT = "--max_length 2048 "
DECLARED = """\
from dataclasses import dataclass, field
import transformers
from peft import LoraConfig, get_peft_model

@dataclass
class TrainingArguments(transformers.TrainingArguments):
    model_max_length: int = field(default=512)
    gradient_checkpointing: bool = True

parser = transformers.HfArgumentParser((TrainingArguments,))
(args,) = parser.parse_args_into_dataclasses()
model = transformers.AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-7B", torch_dtype="bfloat16")
model = get_peft_model(model, LoraConfig(r=8, lora_alpha=16, target_modules=["q_proj"]))
transformers.Trainer(model=model, args=args).train()
"""


def script(folder: Path, text: str) -> Path:
    path = folder / "run.sh"
    path.write_text(text + "\n", encoding="utf-8")
    return path


def deciding(path: Path) -> dict[str, str]:
    """Give what decides the verdict, by its id, and what would tell it."""
    found = estimate(cmd=path, gpu="80GiB")
    return {item.id: item.param for item in found.assumptions if item.decides}


@pytest.mark.parametrize(
    "text",
    [
        OWN + "--deepspeed_stage 3",
        OWN + "--max_seq_length 16384 --grad_checkpoint True",
        "ZERO=$8\n" + OWN + "--deepspeed ds_z${ZERO}.json",
        "NPROC_PER_NODE=8 " + SWIFT + LIMIT + "--train_type full --deepspeed $ZERO",
        SWIFT + "--train_type lora",
        SWIFT + "--train_type full $@",
    ],
)
def test_what_is_not_understood_leaves_no_verdict(text: str, tmp_path: Path) -> None:
    path = script(tmp_path, text)

    found = estimate(cmd=path, gpu="80GiB")

    assert found.verdict == "cannot-say"
    assert found.card is not None
    assert found.card.low < 78 < found.card.high
    assert not [item for item in lint(path, gpu="80GiB") if item.rule.startswith("memory-")]


def test_a_sharding_alias_is_named_with_what_would_tell_it(tmp_path: Path) -> None:
    path = script(tmp_path, SWIFT + LIMIT + "--train_type full --zero_level 3")

    found = estimate(cmd=path, gpu="80GiB")

    (open_,) = [item for item in found.assumptions if item.decides]
    assert (open_.id, open_.param) == ("open-sharding", "--deepspeed")
    assert "--zero_level 3" in open_.text


def test_a_launch_that_is_understood_is_judged(tmp_path: Path) -> None:
    small = script(tmp_path, SWIFT + LIMIT + "--train_type lora")

    assert deciding(small) == {}
    assert estimate(cmd=small, gpu="80GiB").verdict == "fits"

    large = script(tmp_path, SWIFT + LIMIT + "--train_type full")

    assert deciding(large) == {}
    assert estimate(cmd=large, gpu="24GiB").verdict == "does-not-fit"
    rules = {item.rule for item in lint(large, gpu="24GiB")}
    assert "memory-exceeds-card" in rules


@pytest.mark.parametrize(("value", "opens"), [("False", False), ("True", True)])
def test_a_switch_nobody_knows_that_is_off_leaves_a_term_that_is_told(
    value: str, opens: bool, tmp_path: Path
) -> None:
    text = SWIFT + LIMIT + f"--train_type lora --resume_lora_twice {value}"

    assert ("open-tuner" in deciding(script(tmp_path, text))) is opens


def test_an_unread_program_is_what_would_tell_and_reading_it_does(tmp_path: Path) -> None:
    path = script(tmp_path, OWN + "--model_max_length 512")

    unread = deciding(path)
    (tmp_path / "train.py").write_text(DECLARED, encoding="utf-8")
    read = estimate(cmd=path, gpu="80GiB")

    assert set(unread.values()) == {"train.py"}
    assert not [item for item in read.assumptions if item.decides]
    assert read.verdict == "fits"


def test_a_launchers_own_file_that_is_absent_opens_what_it_shards_alone(tmp_path: Path) -> None:
    path = script(
        tmp_path,
        "accelerate launch --config_file acc.yaml trl/scripts/sft.py --model_name_or_path "
        "Qwen/Qwen2.5-7B --dataset_name d --max_length 1024 --gradient_checkpointing true",
    )

    assert set(deciding(path)) <= {"open-sharding", "open-precision"}
    assert "open-sharding" in deciding(path)
