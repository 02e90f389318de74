"""What the memory model makes of EasyR1, and that it says nothing of slime."""

from __future__ import annotations

import pytest

from trainrx.memory.workload import workload_of
from trainrx.model.facts import Facts, fact
from trainrx.model.memory import Refusal, Workload
from unit.workloads import knowledge

EASYR1: dict[str, object] = {
    "launch.framework": "easyr1",
    "launch.command": "ppo",
    "launch.task": "grpo",
    "model.name": "Qwen/Qwen2.5-7B",
    "train.micro_batch": 2,
    "rlhf.max_prompt_length": 1024,
    "rlhf.max_completion_length": 2048,
    "parallel.world_size": 8,
    "hardware.gpus": 8,
    "rollout.engine": "vllm",
    "vllm.enabled": True,
    "vllm.mode": "colocate",
    "role.reference": False,
}


def made(**more: object) -> Workload | Refusal:
    given = EASYR1 | {name.replace("__", "."): value for name, value in more.items()}
    models = knowledge().models
    shape = next(model for model in models if model.id == "Qwen/Qwen2.5-7B")
    done = workload_of(Facts([fact(k, v) for k, v in given.items()]), shape)  # type: ignore[arg-type]
    return done if isinstance(done, Refusal) else done[0]


def work(**more: object) -> Workload:
    done = made(**more)
    assert isinstance(done, Workload), done
    return done


def test_it_shards_with_fsdp_loads_in_fp32_and_fuses_the_loss() -> None:
    found = work()

    assert (found.fsdp, found.precision, found.weight_bytes) == (1, "upcast", 4.0)
    assert (found.attention, found.loss) == ("flash", "fused")
    assert found.rollout is not None
    assert (found.rollout.share, found.rollout.sleep) == (0.6, 1)


def test_what_it_loads_in_two_bytes_stays_so() -> None:
    found = work(model__load_dtype="bf16", train__optimizer="adamw_bf16")

    assert (found.precision, found.weight_bytes, found.optimizer) == ("pure", 2.0, "adamw_kahan")


def test_below_adapters_weights_are_cast() -> None:
    found = work(tuner__rank=64, tuner__type="lora")

    assert found.weight_bytes == 2.0


def test_a_dynamic_batch_holds_as_much_as_its_longest_samples() -> None:
    padded, filled = work(), work(train__dynamic_batch=True, train__padding_free=True)

    assert filled.micro_batch == padded.micro_batch == 2.0
    assert (filled.length.how, filled.length.typical) == ("exact", 3072.0)
    assert padded.length.typical < 3072.0


def test_offload_between_turns_leaves_the_update_as_it_is() -> None:
    found = work(parallel__offload_params=True, parallel__offload_optimizer=True)

    assert (found.offload_params, found.offload_optimizer) == (False, False)
    assert found.rollout is not None
    assert found.rollout.offload_model
    assert found.rollout.offload_optimizer


@pytest.mark.parametrize("framework", ["slime", "miles"])
def test_nothing_is_said_of_slime(framework: str) -> None:
    done = made(launch__framework=framework)

    assert isinstance(done, Refusal)
    assert (done.kind, done.id) == ("unmodelled", "setting")
