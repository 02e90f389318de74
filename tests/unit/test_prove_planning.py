from __future__ import annotations

from pathlib import Path

import pytest

from trainrx.api import plan_job
from trainrx.model.errors import UsageError
from trainrx.model.memory import Refusal
from trainrx.model.planning import Planned
from trainrx.prove.planner import FILL
from trainrx.prove.planning import MOST_WAYS, plans_for
from unit.planned_jobs import EXAMPLES, example, written

LORA = """\
NPROC_PER_NODE=4 CUDA_VISIBLE_DEVICES=0,1,2,3 swift sft --model Qwen/Qwen2.5-7B-Instruct \\
  --train_type {tuner} --dataset x.jsonl --torch_dtype bfloat16 --max_length {length} \\
  --per_device_train_batch_size {batch} --gradient_accumulation_steps 2 --deepspeed zero2
"""
VERSIONS = {"ms-swift": "3.6.0"}


def plans(found: tuple[Planned, ...] | Refusal) -> tuple[Planned, ...]:
    assert not isinstance(found, Refusal), found.reason
    return found


def spelled(found: tuple[Planned, ...] | Refusal) -> list[str]:
    return [change.spelled for plan in plans(found) for change in plan.changes]


@pytest.mark.parametrize(
    ("name", "card", "gpus", "worked"),
    [
        ("01-vl7b-grpo-2xA800-80g", "A800-80G", 2, "MAX_PIXELS=602112"),
        ("01-vl7b-grpo-8xA30-24g", "A30", 8, "--deepspeed zero3"),
        ("02-7b-grpo-4x24g", "3090", 4, "--deepspeed zero3"),
        ("02-7b-grpo-4x24g-one-process", "3090", 4, "NPROC_PER_NODE=3"),
        ("03-vl72b-grpo-hang-8xA100-80g", "A100-80G", 8, "--move_model_batches 16"),
    ],
)
def test_a_founding_situation_has_a_plan_with_what_worked(
    name: str, card: str, gpus: int, worked: str
) -> None:
    found = plans_for(example(name, gpu=card, gpus=gpus), failed=True)

    assert worked in spelled(found)
    other = [plan for plan in plans(found) if plan.batch_after != plan.batch_before]
    assert all(plan.safety != "safe" for plan in other)


def test_every_plan_fits_with_the_margin_and_all_its_checks_hold() -> None:
    found = plans(plans_for(example("01-vl7b-grpo-8xA30-24g", gpu="A30", gpus=8), failed=True))

    assert found
    assert all(plan.after.gib <= FILL * plan.limit_gib for plan in found)
    assert all(check.holds for plan in found for check in plan.checks)
    assert all(plan.batch_after == plan.batch_before == 56 for plan in found)


def test_further_ways_go_without_what_the_plans_before_them_rest_on(tmp_path: Path) -> None:
    text = LORA.format(tuner="lora", length=8192, batch=4)
    job = written(tmp_path, text, versions=VERSIONS, gpu="A6000", gpus=4)

    found = plans(plans_for(job, failed=True))

    others = [plan for plan in found if plan.aim == "another-way"]
    assert len(found) <= MOST_WAYS
    assert len(others) >= 2
    levers = [{move.lever for move in plan.moves} for plan in others]
    assert all(levers[0] - later for later in levers[1:])


def test_what_is_kept_is_not_changed(tmp_path: Path) -> None:
    job = written(
        tmp_path,
        LORA.format(tuner="lora", length=8192, batch=8),
        versions=VERSIONS,
        gpu="A6000",
        gpus=4,
    )

    free = spelled(plans_for(job))
    kept = plans_for(job, keep=("per_device_train_batch_size", "train.liger", "--deepspeed"))

    assert any("per_device_train_batch_size" in text for text in free)
    names = {change.canonical for plan in plans(kept) for change in plan.changes}
    assert names.isdisjoint({"train.micro_batch", "train.liger", "parallel.deepspeed"})


def test_a_job_that_fits_needs_no_plan(tmp_path: Path) -> None:
    text = LORA.format(tuner="lora", length=1024, batch=1)
    job = written(tmp_path, text, versions=VERSIONS, gpu="A100-80G", gpus=4)

    assert plans_for(job) == ()


def test_without_a_card_there_is_no_plan(tmp_path: Path) -> None:
    job = written(tmp_path, LORA.format(tuner="lora", length=1024, batch=1), versions=VERSIONS)

    found = plans_for(job)

    assert isinstance(found, Refusal)
    assert (found.id, found.asks) == ("no-card", ("hardware.gpu_gib",))


def test_a_failure_the_model_cannot_explain_is_not_planned_for(tmp_path: Path) -> None:
    text = LORA.format(tuner="lora", length=256, batch=1)
    job = written(tmp_path, text, versions=VERSIONS, gpu="H200", gpus=4)

    found = plans_for(job, failed=True)

    assert isinstance(found, Refusal)
    assert found.id == "contradicted"


def test_what_the_log_saw_corrects_the_model(tmp_path: Path) -> None:
    text = LORA.format(tuner="lora", length=2048, batch=1)
    log = tmp_path / "train.log"
    log.write_text(
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.32 GiB. GPU 0 has a total "
        "capacity of 23.64 GiB of which 1.00 GiB is free. Including non-PyTorch memory, this "
        "process has 22.60 GiB memory in use. Of the allocated memory 22.00 GiB is allocated by "
        "PyTorch, and 100.00 MiB is reserved by PyTorch but unallocated.\n"
    )
    job = written(tmp_path, text, versions=VERSIONS, gpus=4, logs=[log], gpu="4090")

    found = plans(plans_for(job))

    assert found[0].before is not None
    assert found[0].before.gib > 24.0
    assert found[0].after.gib <= FILL * found[0].limit_gib


def test_lora_is_the_last_resort(tmp_path: Path) -> None:
    roomy = LORA.format(tuner="full", length=2048, batch=2)
    job = written(tmp_path, roomy, versions=VERSIONS, gpu="A100-40G", gpus=4)

    assert not any("train_type" in text for text in spelled(plans_for(job)))


def test_one_table_answers_for_several_kinds_of_hardware() -> None:
    folder = EXAMPLES / "01-vl7b-grpo-8xA30-24g"

    answer = plan_job(
        cmd=folder / "launch.sh",
        versions=str(folder / "versions.txt"),
        hardware=[("80GiB", 2), ("48GiB", 4), ("24GiB", 8)],
    )

    assert [(row.gpus, row.verdict) for row in answer.hardware] == [
        (2, "plans"),
        (4, "plans"),
        (8, "plans"),
    ]
    for row in answer.hardware:
        assert row.gib is not None
        assert all(plan.after.gib <= FILL * row.gib for plan in row.plans)
    fewer = {change.spelled for plan in answer.hardware[0].plans for change in plan.changes}
    assert "CUDA_VISIBLE_DEVICES=0,1" in fewer


def test_hardware_that_never_does_names_the_least_that_does(tmp_path: Path) -> None:
    path = tmp_path / "launch.sh"
    path.write_text(
        "CUDA_VISIBLE_DEVICES=0 swift sft --model Qwen/Qwen2.5-7B-Instruct --train_type full "
        "--dataset x.jsonl --max_length 1024 --torch_dtype bfloat16"
    )
    keep = ("deepspeed", "train_type", "optim", "max_length")

    answer = plan_job(cmd=path, versions=VERSIONS, hardware=[("16GiB", 1)], keep=keep)

    row = answer.hardware[0]
    assert row.verdict == "none"
    assert row.smallest is not None
    assert row.smallest > 16


def test_no_launch_is_an_error_that_says_what_to_give() -> None:
    with pytest.raises(UsageError, match="--cmd"):
        plan_job(gpu="A100-80G")
