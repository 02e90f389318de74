from __future__ import annotations

import pytest

from trainrx.model.facts import Facts, fact
from trainrx.model.memory import Refusal
from trainrx.prove.mending import begun, standing_of, taken
from trainrx.prove.planning import plans_for
from unit.planned_jobs import written
from unit.workloads import knowledge

GRPO = """\
export CUDA_VISIBLE_DEVICES=0,1,2,3
export NPROC_PER_NODE=4
swift rlhf --rlhf_type grpo --model Qwen/Qwen2.5-7B-Instruct --use_vllm false \\
    --reward_funcs format \\
    --train_type full --torch_dtype bfloat16 --dataset math.jsonl --max_completion_length 4096 \\
    --per_device_train_batch_size 8 --num_generations 8 --deepspeed zero2 {more}
"""
VERSIONS = {"ms-swift": "3.2.1", "transformers": "4.49.0"}
EVAL = "swift-grpo-eval-batch-not-multiple"


def plans(folder, more="", **asked):
    job = written(
        folder,
        GRPO.format(more=more),
        versions=VERSIONS,
        gpu="80GiB",
        gpus=4,
    )
    found = plans_for(job, failed=True, **asked)
    assert not isinstance(found, Refusal)
    return found


def values(plan):
    return {name: value for move in plan.moves for name, value in move.values}


def test_a_plan_takes_along_what_the_framework_refuses_the_launch_for(tmp_path):
    found = plans(tmp_path)

    assert found
    for plan in found:
        told = values(plan)
        group = told.get("rlhf.num_generations", 8)
        assert 4 * told.get("train.eval_micro_batch", 1) % group == 0
        assert plan.refused == ()


def test_what_is_not_refused_is_left_alone(tmp_path):
    for plan in plans(tmp_path, "--split_dataset_ratio 0"):
        assert "train.eval_micro_batch" not in values(plan)


def test_a_remedy_that_is_pinned_is_not_taken_and_the_refusal_is_told(tmp_path):
    found = plans(tmp_path, keep=["per_device_eval_batch_size", "num_generations"])

    assert found
    for plan in found:
        assert [item.id for item in plan.refused] == [EVAL]
        assert plan.refused[0].todo
        assert not next(check for check in plan.checks if check.name == "guards").holds


def test_what_the_user_must_decide_is_told_not_done(tmp_path):
    text = GRPO.replace("--reward_funcs format", "")
    job = written(tmp_path, text.format(more=""), versions=VERSIONS, gpu="80GiB", gpus=4)
    found = plans_for(job, failed=True)

    assert not isinstance(found, Refusal)
    assert [item.id for item in found[0].refused] == ["swift-grpo-without-reward"]
    assert "arg.reward_funcs" not in values(found[0])
    assert values(found[0])["train.eval_micro_batch"] == 8


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_refusal_says_what_to_do(lang):
    found = standing_of(EVAL, knowledge(), lang)

    assert found.title
    assert found.todo
    assert found.title != found.todo


def test_a_job_that_was_seen_to_train_had_been_taken():
    assert begun(Facts([fact("series.steps", 3)]))
    assert begun(Facts([fact("oom.phase", "train")]))
    assert not begun(Facts([fact("oom.phase", "load")]))
    assert not begun(Facts())


def test_a_card_that_ran_full_shows_that_the_arguments_were_taken() -> None:
    assert taken(Facts([fact("oom.asked_gib", 0.2)]))
    assert taken(Facts([fact("series.steps", 3)]))
    assert not taken(Facts([fact("oom.phase", "load")]))
