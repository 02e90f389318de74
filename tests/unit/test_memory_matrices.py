from __future__ import annotations

import msgspec
import pytest
from model_shapes import LLAMA_7B, QWEN_7B

from trainrx.memory.sizes import embedding, layer, matrices, total
from trainrx.model.hardware import ModelShape


@pytest.mark.parametrize(
    ("shape", "parameters"),
    # what model.num_parameters() says
    [(LLAMA_7B, 6_738_415_616), (QWEN_7B, 7_615_616_512)],
)
def test_parameters_are_counted_to_the_last_one(shape: ModelShape, parameters: int) -> None:
    assert total(shape) == (parameters, parameters)


def test_a_layer_of_llama_7b() -> None:
    assert layer(LLAMA_7B) == 202_383_360


def test_merged_matrices_are_there_beside_the_single_ones() -> None:
    found = matrices(QWEN_7B)

    assert found["up_proj"] == 3584 * 18944
    assert found["gate_up_proj"] == 2 * 3584 * 18944
    assert found["qkv_proj"] == 3584 * (28 + 4 + 4) * 128
    assert embedding(QWEN_7B) == 152064 * 3584


def test_experts_are_one_matrix() -> None:
    sparse = msgspec.structs.replace(QWEN_7B, experts=64, moe_inter=2560, inter=None)

    assert matrices(sparse)["experts.gate_up_proj"] == 64 * 2 * 3584 * 2560


def test_layers_of_two_kinds_have_no_common_size() -> None:
    mixed = msgspec.structs.replace(QWEN_7B, experts=64, moe_inter=2560, first_dense=1)

    assert layer(mixed) is None


def test_a_published_figure_stands_in_with_its_rounding() -> None:
    assert total(ModelShape(id="x", params_b=8.02)) == (8_015_000_000, 8_025_000_000)


def test_a_count_that_contradicts_the_published_figure_is_not_used() -> None:
    other = msgspec.structs.replace(LLAMA_7B, params_b=7.2)

    assert total(other) == (7_195_000_000, 7_205_000_000)


def test_a_model_with_a_tower_is_not_counted() -> None:
    assert total(msgspec.structs.replace(QWEN_7B, vision=True)) is None


def test_nothing_is_known_of_nothing() -> None:
    empty = ModelShape(id="x")

    assert matrices(empty) == {}
    assert (layer(empty), embedding(empty), total(empty)) == (None, None, None)
