from __future__ import annotations

import pytest

from trainrx.facts.batch import batch_facts, effective_batch
from trainrx.model.facts import Facts, Scalar, fact

WHOLE = {"launch.given": True, "launch.env_complete": True}


def derived(**values: Scalar) -> dict[str, Scalar | None]:
    named = {name.replace("__", "."): value for name, value in values.items()}
    given = Facts(fact(name, value) for name, value in {**WHOLE, **named}.items())
    return {item.kind: item.value for item in batch_facts(given)}


def test_the_trainer_counts_micro_batch_accumulation_and_replicas() -> None:
    out = derived(
        launch__framework="llamafactory",
        train__micro_batch=2,
        train__grad_accum=8,
        parallel__data_parallel=4,
    )

    assert out["batch.effective"] == 64


def test_megatron_is_told_the_batch_and_computes_the_accumulation() -> None:
    out = derived(
        launch__framework="ms-swift",
        launch__command="megatron sft",
        train__micro_batch=2,
        train__global_batch=64,
        parallel__data_parallel=4,
    )

    assert (out["batch.effective"], out["train.grad_accum"]) == (64, 8)


def test_a_batch_that_does_not_divide_has_no_accumulation() -> None:
    out = derived(
        launch__framework="openrlhf",
        train__micro_batch=3,
        train__global_batch=64,
        parallel__data_parallel=4,
    )

    assert out["batch.effective"] == 64
    assert "train.grad_accum" not in out


def test_verl_multiplies_prompts_by_completions() -> None:
    out = derived(
        launch__framework="verl",
        launch__task="grpo",
        rlhf__mini_batch=256,
        rlhf__prompts_per_step=1024,
        rlhf__num_generations=5,
        train__micro_batch=16,
        parallel__data_parallel=8,
    )

    assert (out["batch.effective"], out["batch.generation"]) == (1280, 5120)
    assert out["train.grad_accum"] == 10


def test_openrlhf_generates_for_every_prompt_of_a_rollout() -> None:
    out = derived(
        launch__framework="openrlhf",
        launch__task="ppo",
        rlhf__prompts_per_step=1024,
        rlhf__num_generations=2,
    )

    assert out["batch.generation"] == 2048


@pytest.mark.parametrize(
    ("version", "batch"), [("0.15.2", 16), ("0.17.0", 64), ("0.18.2", 128), ("1.16.0", 128)]
)
def test_trl_generates_more_at_once_with_each_release(version: str, batch: int) -> None:
    out = derived(
        launch__framework="trl",
        launch__task="grpo",
        launch__framework_version=version,
        train__micro_batch=2,
        train__grad_accum=4,
        parallel__world_size=8,
        rlhf__steps_per_generation=8,
        rlhf__num_generations=8,
    )

    assert out["batch.generation"] == batch
    assert out["batch.divisible_by_generations"] is True


def test_a_generation_batch_that_is_given_counts() -> None:
    out = derived(launch__framework="ms-swift", launch__task="grpo", rlhf__generation_batch=96)

    assert out["batch.generation"] == 96


def test_megatron_grpo_generates_its_global_batch_unless_told_otherwise() -> None:
    base: dict[str, Scalar] = {
        "launch__framework": "ms-swift",
        "launch__command": "megatron rlhf",
        "launch__task": "grpo",
        "train__global_batch": 64,
    }

    assert derived(**base)["batch.generation"] == 64
    assert derived(**base, rlhf__steps_per_generation=4)["batch.generation"] == 256


def test_sequence_parallel_leaves_ms_swifts_generation_batch_open() -> None:
    out = derived(
        launch__framework="ms-swift",
        launch__task="grpo",
        launch__framework_version="3.9.0",
        parallel__sequence=2,
        train__micro_batch=2,
        train__grad_accum=1,
        parallel__world_size=8,
    )

    assert "batch.generation" not in out


@pytest.mark.parametrize(
    ("values", "tokens"),
    [
        ({"launch__task": "sft"}, 4096),
        ({"launch__task": "dpo"}, 8192),
        ({"launch__task": "sft", "parallel__sequence": 4}, 1024),
        ({"launch__task": "grpo", "rlhf__max_completion_length": 1024}, 6144),
        (
            {
                "launch__task": "grpo",
                "rlhf__max_completion_length": 1024,
                "rlhf__max_prompt_length": 512,
            },
            3072,
        ),
    ],
)
def test_tokens_of_a_forward_pass(values: dict[str, Scalar], tokens: int) -> None:
    out = derived(
        launch__framework="ms-swift", train__micro_batch=2, train__max_length=2048, **values
    )

    assert out["batch.tokens_per_micro_batch"] == tokens


def test_of_ranks_that_share_a_sequence_one_takes_the_token_left_over() -> None:
    out = derived(
        launch__framework="ms-swift",
        train__micro_batch=1,
        train__max_length=1001,
        parallel__sequence=2,
    )

    assert out["batch.tokens_per_micro_batch"] == 501


def test_dynamic_batches_are_bounded_by_their_tokens() -> None:
    out = derived(
        launch__framework="verl",
        launch__task="grpo",
        train__dynamic_batch=True,
        train__max_tokens_per_gpu=16384,
        train__micro_batch=4,
    )

    assert out["batch.tokens_per_micro_batch"] == 16384


def test_a_prompt_without_a_known_completion_has_no_length() -> None:
    out = derived(
        launch__framework="verl",
        launch__task="grpo",
        train__micro_batch=4,
        rlhf__max_prompt_length=512,
    )

    assert "batch.tokens_per_micro_batch" not in out


@pytest.mark.parametrize(("how", "batch"), [("default", None), ("assumed", None), ("read", 32)])
def test_a_default_is_no_micro_batch_where_something_else_may_set_it(how, batch):
    known = (
        fact("launch.framework", "transformers"),
        fact("launch.open_terms", "sharding batch", how="derived"),
        fact("train.micro_batch", 8, how=how),
        fact("train.grad_accum", 2),
        fact("parallel.data_parallel", 2),
    )

    assert effective_batch(Facts(known)) == batch
