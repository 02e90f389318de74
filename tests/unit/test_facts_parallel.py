from __future__ import annotations

import pytest

from trainrx.facts.layout import parallel_facts, sharing
from trainrx.model.facts import Facts, Scalar, fact

WHOLE = {"launch.given": True, "launch.env_complete": True}


def facts(**values: Scalar) -> Facts:
    named = {name.replace("__", "."): value for name, value in values.items()}
    return Facts(fact(name, value) for name, value in {**WHOLE, **named}.items())


def derived(given: Facts) -> dict[str, Scalar | None]:
    return {item.kind: item.value for item in parallel_facts(given)}


@pytest.mark.parametrize(
    ("name", "command", "settings", "replicas"),
    [
        ("transformers", "train", {}, 16),
        ("llamafactory", "train", {}, 16),
        ("ms-swift", "sft", {}, 16),
        ("ms-swift", "sft", {"parallel__sequence": 4}, 4),
        ("ms-swift", "megatron sft", {"parallel__tensor": 2, "parallel__pipeline": 2}, 4),
        ("ms-swift", "megatron sft", {"parallel__tensor": 2, "parallel__sequence": 2}, 4),
        ("verl", "ppo", {"parallel__strategy": "fsdp", "parallel__sequence": 2}, 8),
        ("verl", "ppo", {"parallel__strategy": "megatron", "parallel__tensor": 4}, 4),
        ("openrlhf", "ppo-ray", {"parallel__tensor": 2, "parallel__sequence": 4}, 2),
        ("axolotl", "train", {"parallel__sequence": 2}, 8),
    ],
)
def test_replicas_follow_each_frameworks_own_formula(
    name: str, command: str, settings: dict[str, Scalar], replicas: int
) -> None:
    given = facts(
        launch__framework=name, launch__command=command, parallel__world_size=16, **settings
    )

    assert derived(given)["parallel.data_parallel"] == replicas


def test_experts_are_spread_over_the_replicas_and_change_nothing() -> None:
    given = facts(
        launch__framework="ms-swift",
        launch__command="megatron sft",
        parallel__world_size=8,
        parallel__tensor=2,
        parallel__expert=4,
    )

    assert derived(given)["parallel.data_parallel"] == 4


def test_a_layout_that_does_not_divide_has_no_replicas() -> None:
    given = facts(launch__framework="ms-swift", parallel__world_size=6, parallel__sequence=4)

    assert "parallel.data_parallel" not in derived(given)


def test_a_degree_that_may_be_hidden_leaves_the_replicas_unknown() -> None:
    open_launch = {"launch__framework": "ms-swift", "launch__env_complete": False}
    unresolved = {"launch__framework": "ms-swift", "launch__unresolved": "parallel.sequence"}

    assert sharing(facts(**open_launch)) is None
    assert sharing(facts(**unresolved)) is None
    assert sharing(facts(launch__framework="ms-swift")) == 1


@pytest.mark.parametrize(
    ("settings", "shards"),
    [
        ({"parallel__zero_stage": 3}, 16),
        ({"parallel__zero_stage": 2}, 1),
        ({"parallel__fsdp": "full_shard auto_wrap"}, 16),
        ({"parallel__fsdp": "shard_grad_op auto_wrap"}, 1),
        ({"parallel__fsdp": "hybrid_shard", "parallel__processes_per_node": 8}, 8),
        ({"parallel__fsdp": "my_fsdp.json"}, None),
        ({}, None),
    ],
)
def test_the_weights_are_split_as_the_sharding_says(
    settings: dict[str, Scalar], shards: int | None
) -> None:
    given = facts(launch__framework="transformers", parallel__world_size=16, **settings)

    assert derived(given).get("parallel.weight_shards") == shards


def test_verl_shards_over_all_ranks_or_over_its_groups() -> None:
    base = {"launch__framework": "verl", "parallel__strategy": "fsdp", "parallel__world_size": 16}

    assert derived(facts(**base, parallel__fsdp_size=-1))["parallel.weight_shards"] == 16
    assert derived(facts(**base, parallel__fsdp_size=8))["parallel.weight_shards"] == 8


def test_megatron_splits_weights_over_tensor_and_pipeline_ranks() -> None:
    given = facts(
        launch__framework="ms-swift",
        launch__command="megatron pt",
        parallel__tensor=4,
        parallel__pipeline=2,
    )

    assert derived(given)["parallel.weight_shards"] == 8


def test_offloading_is_named_alike_for_all() -> None:
    out = derived(facts(parallel__param_offload=True, parallel__optimizer_offload=False))

    assert (out["parallel.offload_params"], out["parallel.offload_optimizer"]) == (True, False)
