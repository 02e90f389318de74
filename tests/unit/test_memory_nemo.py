"""What the memory model makes of NeMo Automodel and NeMo RL, and what it says nothing of."""

from __future__ import annotations

import pytest

from trainrx.memory.workload import workload_of
from trainrx.model.facts import Facts, fact
from trainrx.model.memory import Refusal, Workload
from unit.workloads import knowledge

AUTOMODEL = {
    "launch.framework": "nemo-automodel",
    "launch.command": "finetune",
    "launch.task": "sft",
    "model.name": "Qwen/Qwen2.5-7B",
    "model.dtype": "bf16",
    "train.max_length": 2048,
    "train.micro_batch": 1,
    "parallel.world_size": 8,
    "hardware.gpus": 8,
}
RL = {
    **AUTOMODEL,
    "launch.framework": "nemo-rl",
    "launch.command": "grpo",
    "launch.task": "grpo",
    "parallel.strategy": "fsdp2",
    "rlhf.max_completion_length": 2048,
    "vllm.enabled": True,
    "vllm.mode": "colocate",
    "vllm.share": 0.6,
    "role.reference": False,
}


def made(facts: dict[str, object], **more: object) -> Workload | Refusal:
    given = facts | {name.replace("__", "."): value for name, value in more.items()}
    models = knowledge().models
    shape = next(model for model in models if model.id == "Qwen/Qwen2.5-7B")
    done = workload_of(Facts([fact(k, v) for k, v in given.items()]), shape)  # type: ignore[arg-type]
    return done if isinstance(done, Refusal) else done[0]


def work(facts: dict[str, object], **more: object) -> Workload:
    done = made(facts, **more)
    assert isinstance(done, Workload), done
    return done


def test_automodel_keeps_what_it_loads() -> None:
    halves = work(AUTOMODEL)
    masters = work(AUTOMODEL, model__load_dtype="fp32")

    assert (halves.fsdp, halves.precision, halves.weight_bytes) == (2, "pure", 2.0)
    assert (masters.precision, masters.weight_bytes) == ("upcast", 4.0)


def test_gradients_stay_whole_while_they_are_accumulated() -> None:
    assert not work(AUTOMODEL).defers_sync
    assert work(AUTOMODEL, train__grad_accum=4).defers_sync
    assert not work(AUTOMODEL, train__grad_accum=4, parallel__defer_grad_sync=False).defers_sync
    assert not work(AUTOMODEL, train__grad_accum=4, launch__framework_version="0.2.0").defers_sync


def test_plain_data_parallelism_shards_nothing() -> None:
    assert work(AUTOMODEL, parallel__strategy="ddp").fsdp == 0


def test_a_rank_above_0_is_lora() -> None:
    assert work(AUTOMODEL, tuner__rank=16).tuner == "lora"
    assert work(AUTOMODEL).tuner == "full"


def test_the_policy_of_nemo_rl_has_fp32_masters_and_leaves_for_the_engine() -> None:
    found = work(RL)

    assert (found.fsdp, found.precision, found.weight_bytes) == (2, "upcast", 4.0)
    assert found.rollout.mode == "colocate"
    assert found.rollout.sleep == 1
    assert found.rollout.offload_model
    assert found.rollout.offload_optimizer
    assert found.length.high == 2048
    assert not found.copies


@pytest.mark.parametrize(
    ("base", "kind", "value"),
    [
        (AUTOMODEL, "parallel.strategy", "mfsdp"),
        (AUTOMODEL, "parallel.pipeline", 2),
        (AUTOMODEL, "parallel.expert", 8),
        (AUTOMODEL, "launch.command", "TrainEagle3Recipe"),
        (RL, "launch.task", "ppo"),
        (RL, "vllm.mode", "server"),
    ],
)
def test_what_nobody_measured_is_not_predicted(
    base: dict[str, object], kind: str, value: object
) -> None:
    found = made(base | {kind: value})

    assert isinstance(found, Refusal)
    assert found.kind == "unmodelled"


def test_automodel_cuts_no_sample_unless_told() -> None:
    facts = {name: value for name, value in AUTOMODEL.items() if name != "train.max_length"}

    found = made(facts)

    assert isinstance(found, Refusal)
    assert found.id == "length-unknown"
