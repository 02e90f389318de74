from __future__ import annotations

import pytest

from trainrx import diagnose
from trainrx.diagnosis.foreseen import Foresight, facts_with
from trainrx.knowledge.load import load
from trainrx.model.facts import Facts, fact
from trainrx.model.memory import Prediction, Refusal
from trainrx.render import render
from trainrx.render.document import View

LAUNCH = """\
swift sft --model Qwen/Qwen2.5-7B-Instruct --train_type lora --dataset d --max_length 8192 \\
    --per_device_train_batch_size 8 --torch_dtype bfloat16
"""
OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.64 GiB. GPU 0 has a total "
    "capacity of 23.69 GiB of which 1.02 GiB is free.\n"
)


@pytest.fixture
def answer(tmp_path):
    (tmp_path / "launch.sh").write_text(LAUNCH)
    (tmp_path / "train.log").write_text(OOM)
    return diagnose(
        cmd=tmp_path / "launch.sh",
        logs=[tmp_path / "train.log"],
        versions={"ms-swift": "3.2.1"},
        gpu="24GiB",
        gpus=1,
    )


def figures(answer):
    return [fix.predicted for cause in answer.causes for fix in cause.fixes if fix.predicted]


def test_fixes_of_a_memory_cause_say_what_they_come_to(answer):
    assert figures(answer)
    for found in figures(answer):
        assert found.after_gib < found.before_gib
        assert found.low_gib <= found.after_gib <= found.high_gib


def test_the_figures_are_shown(answer):
    assert " GiB per GPU, " in render(answer, "text", View("en"))


def test_without_a_card_nothing_is_foreseen(tmp_path):
    (tmp_path / "launch.sh").write_text(LAUNCH)

    assert not figures(diagnose(cmd=tmp_path / "launch.sh", note="OOM in the first step"))


def test_a_new_value_takes_the_place_of_the_old_and_of_what_followed():
    known = Facts(
        [
            fact("launch.framework", "ms-swift"),
            fact("parallel.deepspeed", "zero2"),
            fact("parallel.zero_stage", 2),
            fact("deepspeed.overlap_comm", True),
            fact("parallel.weight_shards", 1, how="derived"),
            fact("train.micro_batch", 4),
        ]
    )

    after = facts_with(known, {"parallel.deepspeed": "zero3"})

    assert after.value("parallel.zero_stage") == 3
    assert after.value("train.micro_batch") == 4
    assert "parallel.weight_shards" not in after


def test_the_same_values_are_worked_out_once():
    knowledge = load(launches=True)
    foresight = Foresight(Facts(), knowledge)

    first = foresight.after({"train.micro_batch": 1})

    assert isinstance(first, (Prediction, Refusal))
    assert foresight.after({"train.micro_batch": 1}) is first
