from __future__ import annotations

from typing import Any

import msgspec
import pytest

from trainrx.fix.amounts import NotComputable, target
from trainrx.fix.changes import Target
from trainrx.fix.constraints import batch_note, impossible, repair
from trainrx.fix.plan import Plan, plan
from trainrx.knowledge.load import load
from trainrx.model.facts import Facts, Origin, Scalar, fact
from trainrx.model.job import RawArg, RawLaunch
from trainrx.model.knowledge import Amount, Cause

WORDS = {"en": "a", "zh": "一"}


def facts(**values: Scalar) -> Facts:
    return Facts(fact(name.replace("__", "."), value) for name, value in values.items())


def grpo(version: str = "3.2.1", **values: Scalar) -> Facts:
    return facts(
        launch__framework="ms-swift",
        launch__framework_version=version,
        launch__task="grpo",
        launch__command="rlhf",
        **values,
    )


@pytest.mark.parametrize(
    ("amount", "present", "value"),
    [
        (Amount(times=0.5, at_least=1), 4, 2),
        (Amount(times=0.5, at_least=1), 1, 1),
        (Amount(times=0.5, at_least=1), 7, 3),
        (Amount(times=2), 8, 16),
        (Amount(value=0.5, right_if_at_most=0.6), 0.9, 0.5),
        (Amount(value=0.5, right_if_at_most=0.6), 0.3, 0.3),
        (Amount(value=602112, right_if_at_most=1003520), 12845056, 602112),
        (Amount(times=0.8, whole=False), 0.9, 0.72),
        (Amount(times=0.1, whole=False), 1e-5, 1e-6),
    ],
)
def test_amounts_follow_from_the_present_value(
    amount: Amount, present: Scalar, value: Scalar
) -> None:
    assert target("x", amount, facts(x=present)) == value


def test_an_amount_from_a_fact() -> None:
    amount = Amount(fact="hardware.gpus_per_node")

    assert target("x", amount, facts(hardware__gpus_per_node=8)) == 8


def test_half_of_what_is_unknown_is_not_a_number() -> None:
    with pytest.raises(NotComputable):
        target("x", Amount(times=0.5), facts())


def test_a_batch_that_generations_no_longer_divide_is_repaired() -> None:
    job = grpo(train__micro_batch=4, parallel__world_size=4, rlhf__num_generations=16)

    found = repair(job, {"train.micro_batch": 2})

    assert found is not None
    assert found.set == {"rlhf.num_generations": 8}


def test_a_batch_nothing_divides_is_refused() -> None:
    job = grpo(train__micro_batch=2, parallel__world_size=1, rlhf__num_generations=2)

    with pytest.raises(ValueError, match="divides"):
        repair(job, {"train.micro_batch": 1})


def test_no_bf16_is_set_on_a_card_without_it() -> None:
    job = facts(hardware__bf16=False, hardware__gpu="V100")

    assert impossible(job, {"train.precision": "bf16"}) is not None
    assert impossible(facts(), {"train.precision": "bf16"}) is None


def test_the_effective_batch_is_said() -> None:
    job = facts(train__micro_batch=2, train__grad_accum=4, parallel__world_size=8)

    same = batch_note(job, {"train.micro_batch": 1, "train.grad_accum": 8})
    less = batch_note(job, {"train.micro_batch": 1})

    assert same is not None
    assert same.en == "the effective batch stays 64"
    assert less is not None
    assert less.en == "the effective batch goes from 64 to 32"


def planned(
    fixes: list[dict[str, Any]],
    job: Facts,
    style: str = "arg",
    launch: RawLaunch | None = None,
) -> Plan:
    cause = msgspec.convert(
        {
            "schema": 1,
            "id": "c",
            "family": "oom",
            "title": WORDS,
            "summary": WORDS,
            "since": "0.1.0",
            "updated": "2026-11-21",
            "severity": "fatal",
            "explains": [],
            "prior": 0.2,
            "evidence": {},
            "fixes": [{"title": WORDS, "safety": "safe", "cost": WORDS, **fix} for fix in fixes],
            "references": [],
        },
        Cause,
    )
    target_ = Target(
        facts=job,
        knowledge=load(),
        versions={"transformers": "4.48.0"},
        style="config" if style == "config" else "arg",
        lang="en",
        launch=launch,
    )
    return plan(cause, target_)


def spelled(made: Plan) -> list[str]:
    return [change.spelled for fix in made.fixes for change in fix.changes]


def test_a_fix_is_spelled_for_the_version() -> None:
    fix = {"id": "a", "set": {"tuner.type": "lora"}}

    old = planned([fix], facts(launch__framework="ms-swift", launch__framework_version="2.6.1"))
    new = planned([fix], facts(launch__framework="ms-swift", launch__framework_version="4.6.0"))

    assert spelled(old) == ["--sft_type lora"]
    assert spelled(new) == ["--tuner_type lora"]


def test_a_yaml_job_gets_yaml_lines() -> None:
    job = facts(launch__framework="llamafactory", launch__framework_version="0.9.3")

    made = planned([{"id": "a", "set": {"freeze.vision": True}}], job, style="config")

    assert spelled(made) == ["freeze_vision_tower: true"]


def test_halving_the_batch_doubles_the_accumulation_and_cites_the_line() -> None:
    here = Origin(source="launch.sh", line=7, text="--per_device_train_batch_size 4")
    job = grpo(train__grad_accum=2, parallel__world_size=8, rlhf__num_generations=8)
    job.add(fact("train.micro_batch", 4, here))
    fix = {
        "id": "a",
        "set": {
            "train.micro_batch": {"times": 0.5, "at_least": 1},
            "train.grad_accum": {"times": 2},
        },
    }

    made = planned([fix], job)

    assert spelled(made) == [
        "--per_device_train_batch_size 2",
        "--gradient_accumulation_steps 4",
    ]
    first = made.fixes[0].changes[0]
    assert (first.action, first.from_, first.to, first.at) == ("lower", "4", "2", here)
    assert "the effective batch stays 64" in made.fixes[0].notes


def test_a_lever_at_its_end_is_not_pulled() -> None:
    job = grpo(train__micro_batch=1, train__grad_accum=2)
    fix = {
        "id": "a",
        "set": {
            "train.micro_batch": {"times": 0.5, "at_least": 1},
            "train.grad_accum": {"times": 2},
        },
    }

    made = planned([fix], job)

    assert made.fixes == ()
    assert made.already_right == ()
    assert [item.why for item in made.not_offered] == ["train.micro_batch cannot go any further"]
    assert made.left_out == ()


def test_what_holds_already_is_checked_off() -> None:
    here = Origin(source="launch.sh", line=3, text="--freeze_vit true")
    job = grpo()
    job.add(fact("freeze.vision", True, here))

    made = planned([{"id": "a", "set": {"freeze.vision": True}}], job)

    assert made.fixes == ()
    assert [item.evidence for item in made.already_right] == [(here,)]
    assert made.already_right[0].spelled == "--freeze_vit true"


@pytest.mark.parametrize(("release", "right"), [("3.9.3", 0), ("3.10.1", 1)])
def test_what_the_release_does_not_read_is_not_checked_off(release: str, right: int) -> None:
    job = grpo(release, model__family="qwen3-vl", vision__max_pixels=602112)
    cap = {"value": 602112, "right_if_at_most": 1003520}

    made = planned([{"id": "a", "set": {"vision.max_pixels": cap}}], job)

    assert made.fixes == ()
    assert len(made.already_right) == right


@pytest.mark.parametrize(("value", "offered"), [(1, 1), (2, 0), (None, 0)])
def test_a_condition_must_be_true(value: int | None, offered: int) -> None:
    job = grpo()
    if value is not None:
        job.add(fact("x", value))
    fix = {"id": "a", "set": {"freeze.vision": True}, "only_if": {"fact": "x", "eq": 1}}

    made = planned([fix], job)

    assert len(made.fixes) == offered


@pytest.mark.parametrize(
    ("only_if", "why"),
    [
        ({"fact": "x", "eq": 1}, "Offered if: x = 1 (here: x = 2)"),
        ({"fact": "y", "known": True}, "Offered if: y is known (here: y is not known)"),
        (
            {"all": [{"fact": "x", "ge": 2}, {"fact": "y", "eq": 1}]},
            "Offered if: y = 1 (here: y is not known)",
        ),
        (
            {"any": [{"fact": "x", "ge": 3}, {"package": "transformers", "versions": ">=4.49"}]},
            "Offered if: x >= 3 or transformers >=4.49 (here: x = 2, transformers 4.48.0)",
        ),
        ({"symptom": "cuda-oom"}, "Offered if: cuda-oom seen"),
    ],
)
def test_the_clause_that_fails_is_named_with_the_values_it_tests(
    only_if: dict[str, Any], why: str
) -> None:
    job = grpo(x=2)

    made = planned([{"id": "a", "set": {"freeze.vision": True}, "only_if": only_if}], job)

    assert made.fixes == ()
    assert [(item.id, item.title, item.why) for item in made.not_offered] == [("a", "a", why)]
    assert made.left_out == ()


def test_a_lever_this_job_does_not_have_is_named_with_what_bars_it() -> None:
    job = grpo(hardware__compute_capability=7.0, train__attention="sdpa")

    made = planned([{"id": "a", "set": {"train.attention": "flash_attn"}}], job)

    assert made.fixes == ()
    assert [item.why for item in made.not_offered] == [
        "Offered unless: hardware.compute_capability < 8 (here: hardware.compute_capability = 7)"
    ]


def test_what_the_framework_has_no_word_for_is_left_out() -> None:
    job = facts(launch__framework="llamafactory", launch__framework_version="0.9.3")

    made = planned([{"id": "a", "set": {"vllm.move_model_batches": 40}}], job)

    assert made.fixes == ()
    assert "nothing of it can be changed" in made.not_offered[0].why


def test_an_unknown_present_value_gives_words_not_a_number() -> None:
    job = facts(launch__framework="ms-swift", launch__framework_version="3.2.1")

    made = planned([{"id": "a", "set": {"train.max_length": {"times": 0.5}}}], job)

    assert made.fixes[0].changes[0].to is None
    assert made.fixes[0].changes[0].spelled == "max_length: half of the present value"


def test_without_a_framework_it_is_said_whose_names_are_used() -> None:
    made = planned([{"id": "a", "set": {"train.gradient_checkpointing": True}}], facts())

    assert spelled(made) == ["--gradient_checkpointing true"]
    assert any("named as in transformers" in note for note in made.fixes[0].notes)


def test_a_package_in_range_needs_no_change() -> None:
    right = {"id": "a", "packages": [{"name": "transformers", "spec": "!=4.50.0"}]}
    wrong = {"id": "b", "packages": [{"name": "transformers", "spec": ">=4.49"}]}

    made = planned([right, wrong], grpo())

    assert [fix.id for fix in made.fixes] == ["b"]
    assert made.fixes[0].changes[0].action == "upgrade"
    assert made.fixes[0].changes[0].spelled == 'pip install "transformers>=4.49"'


def test_bf16_on_a_v100_is_left_out_and_said() -> None:
    job = grpo(hardware__bf16=False, hardware__gpu="V100-32G", train__precision="fp16")

    made = planned([{"id": "a", "set": {"train.precision": "bf16"}}], job)

    assert made.fixes == ()
    assert "no bf16 hardware" in made.left_out[0]


def test_a_smaller_micro_batch_keeps_the_effective_batch() -> None:
    job = grpo(train__micro_batch=6, train__grad_accum=2, parallel__world_size=8)

    made = planned([{"id": "a", "set": {"train.micro_batch": 1}}], job)

    assert spelled(made) == [
        "--per_device_train_batch_size 1",
        "--gradient_accumulation_steps 12",
    ]


def test_the_present_value_is_shown_as_the_user_wrote_it() -> None:
    here = Origin(source="launch.sh", line=3, text="--torch_dtype float16")
    job = grpo()
    job.add(fact("train.precision", "fp16", here))

    made = planned([{"id": "a", "set": {"train.precision": "bf16"}}], job)

    change = made.fixes[0].changes[0]
    assert (change.from_, change.to) == ("float16", "bfloat16")


def test_arguments_of_another_version_are_translated() -> None:
    here = Origin(source="launch.sh", line=2, text="--sft_type lora")
    launch = RawLaunch(
        framework="ms-swift",
        command="sft",
        args=(
            RawArg(name="sft_type", values=("lora",), origin=here),
            RawArg(name="dtype", values=("bf16",), origin=here),
            RawArg(name="max_length", values=("2048",), origin=here),
        ),
        env=(),
        origin=here,
    )
    job = facts(launch__framework="ms-swift", launch__framework_version="3.2.1")

    made = planned([{"id": "a", "respell": True}], job, launch=launch)

    assert spelled(made) == ["--train_type lora", "--torch_dtype bfloat16"]
    assert made.fixes[0].changes[0].from_ == "--sft_type lora"
