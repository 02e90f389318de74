"""What inspect says of a launch some of whose arguments nobody understands."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainrx import inspect_launch
from trainrx.model.inspection import InspectedJob

LAUNCH = "torchrun --nproc_per_node 8 train.py --model_name_or_path {model} --output_dir out"


def inspected(folder: Path, text: str) -> InspectedJob:
    """Read one launch."""
    path = folder / "run.sh"
    path.write_text(f"{text}\n", encoding="utf-8")
    return inspect_launch(path).jobs[0]


@pytest.mark.parametrize("more", [" --deepspeed_stage 3", " --zero ${8}"])
def test_what_may_shard_is_not_called_unsharded(tmp_path: Path, more: str) -> None:
    job = inspected(tmp_path, LAUNCH.format(model="Qwen/Qwen2.5-7B") + more)

    assert "parallel.zero_stage" not in {item.name for item in job.facts}


def test_a_model_in_a_folder_nobody_knows_keeps_the_end_of_its_path(tmp_path: Path) -> None:
    job = inspected(tmp_path, LAUNCH.format(model="$MODELS/Qwen2.5-7B-Instruct"))

    assert job.model == "Qwen2.5-7B-Instruct"


@pytest.mark.parametrize("name", ["$MODELS/$NAME", "$MODELS/final", "$MODEL"])
def test_what_is_no_name_of_a_model_is_none(tmp_path: Path, name: str) -> None:
    assert inspected(tmp_path, LAUNCH.format(model=name)).model is None


def test_a_config_further_up_in_the_repository_shards_it(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / "acc.yaml").write_text(
        "distributed_type: FSDP\nfsdp_config:\n  fsdp_sharding_strategy: FULL_SHARD\n"
        "num_processes: 8\nnum_machines: 1\n",
        encoding="utf-8",
    )
    text = (
        'cd "$(dirname "$0")/.."\naccelerate launch --config_file acc.yaml train.py '
        "--model_name_or_path Qwen/Qwen2.5-7B --output_dir out"
    )

    job = inspected(tmp_path / "scripts", text)

    assert {item.name: item.value for item in job.facts}["parallel.fsdp"] == "full_shard"


@pytest.mark.parametrize(
    ("argument", "model"),
    [
        ("--model Qwen/Qwen2.5-0.5B-Instruct", "Qwen/Qwen2.5-0.5B-Instruct"),
        ("--model-name /data/Qwen2.5-0.5B", "/data/Qwen2.5-0.5B"),
        ("--model resnet", None),
        ("--model_id $X", None),
    ],
)
def test_a_program_of_one_s_own_names_its_model_by_a_usual_argument(
    tmp_path: Path, argument: str, model: str | None
) -> None:
    text = f"torchrun --nproc_per_node 2 train_mine.py {argument} --output_dir out"

    assert inspected(tmp_path, text).model == model
