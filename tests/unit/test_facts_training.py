from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.facts.all import derive
from trainrx.facts.training import quantised_bits, training_facts, vision_facts
from trainrx.knowledge.load import load
from trainrx.model.facts import Facts, Scalar, fact

WHOLE: dict[str, Scalar] = {"launch.given": True, "launch.env_complete": True}


def derived(**values: Scalar) -> dict[str, Scalar | None]:
    named = {name.replace("__", "."): value for name, value in values.items()}
    facts = Facts(fact(name, value) for name, value in {**WHOLE, **named}.items())
    return {item.kind: item.value for item in training_facts(facts)}


@pytest.mark.parametrize(
    ("command", "task", "stage"),
    [
        ("sft", "sft", "sft"),
        ("megatron rlhf", "grpo", "grpo"),
        ("rollout", "infer", "rollout"),
        ("deploy", "infer", "deploy"),
        ("vllm-serve", "infer", "rollout"),
        ("eval", "infer", "eval"),
        ("infer", "infer", "infer"),
        ("merge-lora", "export", "export"),
    ],
)
def test_the_stage_tells_kinds_of_inference_apart(command: str, task: str, stage: str) -> None:
    assert derived(launch__command=command, launch__task=task)["task.stage"] == stage


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ({"tuner__type": "full"}, "full"),
        ({"tuner__type": "lora"}, "lora"),
        ({"tuner__type": "lora", "tuner__quant_bits": 4}, "qlora"),
        ({"tuner__type": "lora", "model__name": "Qwen/Qwen2.5-7B-Instruct-AWQ"}, "qlora"),
        ({"tuner__type": "lora", "tuner__quant_bits": 0, "model__name": "x-GPTQ-Int4"}, "qlora"),
        ({"tuner__type": "lora", "tuner__dora": True}, "dora"),
        ({"tuner__type": "freeze"}, "freeze"),
    ],
)
def test_the_tuner_counts_quantisation_and_dora_in(values: dict[str, Scalar], kind: str) -> None:
    assert derived(launch__task="sft", **values)["tuner.kind"] == kind


@pytest.mark.parametrize(("rank", "tuner"), [(0, "full"), (64, "lora")])
def test_a_rank_decides_where_there_is_no_switch(rank: int, tuner: str) -> None:
    for framework in ("verl", "openrlhf"):
        out = derived(launch__framework=framework, launch__task="grpo", tuner__rank=rank)
        assert out["tuner.type"] == tuner


def test_axolotl_without_an_adapter_trains_everything() -> None:
    assert derived(launch__framework="axolotl", launch__task="sft")["tuner.type"] == "full"
    assert "tuner.type" not in derived(
        launch__framework="axolotl", launch__unresolved="train.epochs tuner.type"
    )


@pytest.mark.parametrize(
    ("name", "bits"),
    [
        ("Qwen/Qwen2.5-7B-Instruct-AWQ", 4),
        ("Qwen/Qwen2.5-7B-Instruct-GPTQ-Int8", 8),
        ("/m/qwen2-7b-instruct-int4/", 4),
        ("unsloth/Meta-Llama-3.1-8B-bnb-4bit", 4),
        ("Qwen/Qwen3-8B-FP8", 8),
        ("Qwen/Qwen3-8B", None),
        ("/m/int4ever", None),
    ],
)
def test_a_name_tells_the_bits(name: str, bits: int | None) -> None:
    assert quantised_bits(name) == bits


def test_ms_swift_computes_in_the_type_of_the_checkpoint() -> None:
    base: dict[str, Scalar] = {"launch__framework": "ms-swift", "model__dtype": "bf16"}

    assert derived(**base, launch__framework_major=3)["train.precision"] == "bf16"
    assert "train.precision" not in derived(**base, launch__framework_major=2)
    assert "train.precision" not in derived(
        **base, launch__framework_major=3, launch__unresolved="train.precision"
    )


def test_the_vision_tower_follows_the_rest_unless_told() -> None:
    base: dict[str, Scalar] = {
        "launch__framework": "ms-swift",
        "model__is_vision": True,
        "train__gradient_checkpointing": True,
    }
    name = "train.vit_gradient_checkpointing"

    assert derived(**base, launch__framework_version="3.6.0")[name] is True
    assert name not in derived(**base, launch__framework_version="3.4.1")


@pytest.mark.parametrize(
    ("release", "argument", "capped"),
    [("3.9.3", None, False), ("3.9.3", 602112, True), ("3.10.1", None, True)],
)
def test_a_limit_of_pixels_counts_where_it_is_read(
    release: str, argument: int | None, capped: bool
) -> None:
    given_facts = {
        "launch.framework": "ms-swift",
        "launch.framework_version": release,
        "model.family": "qwen3-vl",
        "vision.max_pixels": 602112,
        "arg.max_pixels": argument,
    }
    facts = Facts(fact(name, value) for name, value in given_facts.items() if value is not None)

    found = {item.kind: item.value for item in vision_facts(facts)}

    assert found["vision.pixels_capped"] is capped


def test_a_frozen_tower_is_not_trained() -> None:
    for frozen in (True, False):
        out = derived(model__is_vision=True, freeze__vision=frozen)
        assert out["vision.trained"] is not frozen


KINDS = sorted({*load().params, *load().facts})


@given(
    st.dictionaries(
        st.sampled_from(KINDS),
        st.booleans()
        | st.integers(-2, 64)
        | st.floats()
        | st.sampled_from(["grpo", "verl", "ms-swift", "openrlhf", "megatron sft", "3.6.0", "x"]),
        max_size=25,
    )
)
def test_any_facts_are_added_to_and_never_changed(values: dict[str, Scalar]) -> None:
    before = Facts(fact(name, value) for name, value in values.items())

    after = derive(before, load())

    assert {item.kind: item.value for item in before}.items() <= {
        item.kind: item.value for item in after
    }.items()
    assert all(item.kind in KINDS for item in after)
