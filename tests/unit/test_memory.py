from __future__ import annotations

import pytest

from trainrx.memory.facts import memory_facts
from trainrx.memory.terms import (
    logits_gib,
    lora_params_b,
    states_gib,
    tokens_in_allocation,
    weights_gib,
)
from trainrx.model.facts import Facts, Scalar, fact
from trainrx.model.hardware import ModelShape


def test_weights_are_two_bytes_each() -> None:
    assert weights_gib(7.62) == pytest.approx(14.19, abs=0.01)


def test_four_bit_weights_are_about_a_quarter() -> None:
    assert weights_gib(7.62, 4) / weights_gib(7.62) == pytest.approx(0.258, abs=0.001)


@pytest.mark.parametrize(("stage", "per_parameter"), [(0, 14.0), (1, 3.5), (2, 1.75), (3, 1.75)])
def test_zero_shards_states_as_the_paper_says(stage: int, per_parameter: float) -> None:
    gib = states_gib(1.0, zero_stage=stage, world_size=8)

    assert gib * 2**30 / 1e9 == pytest.approx(per_parameter)


def test_lora_on_all_linear_layers_of_a_7b_is_about_40m_at_rank_16() -> None:
    shape = ModelShape(
        id="x", params_b=7.62, layers=28, hidden=3584, heads=28, kv_heads=4, inter=18944
    )

    # peft prints 40,370,176 trainable parameters for Qwen2.5-7B at rank 16 on all linear layers
    assert lora_params_b(shape, 16) == pytest.approx(0.040370176)


def test_an_unknown_shape_has_no_lora_count() -> None:
    assert lora_params_b(ModelShape(id="x", params_b=7.0), 8) is None


def test_logits_and_their_tokens_are_inverse() -> None:
    assert tokens_in_allocation(logits_gib(16384, 151936, 4.0), 151936) == pytest.approx(16384)


def out(**values: Scalar) -> dict[str, Scalar | None]:
    given = Facts(fact(name.replace("__", "."), value) for name, value in values.items())
    return {item.kind: item.value for item in memory_facts(given, None)}


def test_replicated_weights_beside_vllm_do_not_fit_a_24_gib_card() -> None:
    found = out(
        model__params_b=8.29,
        parallel__weight_shards=1,
        parallel__zero_stage=2,
        vllm__enabled=True,
        vllm__mode="colocate",
        vllm__share=0.6,
        hardware__gpu_gib=23.5,
    )

    assert found["memory.left_for_training_gib"] == pytest.approx(9.4)
    assert found["memory.static_fits"] is False


def test_without_the_card_nothing_is_said_about_fitting() -> None:
    assert "memory.static_fits" not in out(model__params_b=8.29, parallel__weight_shards=8)


def test_an_engine_of_unknown_mode_leaves_the_room_unknown() -> None:
    found = out(hardware__gpu_gib=80.0, vllm__enabled=True, vllm__share=0.9, launch__task="grpo")

    assert "memory.left_for_training_gib" not in found
