from __future__ import annotations

import pytest

from trainrx.memory.facts import memory_facts, states_gib, weights_gib
from trainrx.model.facts import Facts, Scalar, fact


def test_weights_are_two_bytes_each() -> None:
    assert weights_gib(7.62) == pytest.approx(14.19, abs=0.01)


def test_four_bit_weights_are_about_a_quarter() -> None:
    assert weights_gib(7.62, 4) / weights_gib(7.62) == pytest.approx(0.258, abs=0.001)


@pytest.mark.parametrize(("stage", "per_parameter"), [(0, 14.0), (1, 3.5), (2, 1.75), (3, 1.75)])
def test_zero_shards_states_as_the_paper_says(stage: int, per_parameter: float) -> None:
    gib = states_gib(1.0, zero_stage=stage, world_size=8)

    assert gib * 2**30 / 1e9 == pytest.approx(per_parameter)


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
