from __future__ import annotations

import pytest

from trainrx.facts.roles import role_facts, rollout_mode
from trainrx.model.facts import Facts, Scalar, fact

WHOLE: dict[str, Scalar] = {"launch.given": True, "launch.env_complete": True}


def given(**values: Scalar) -> Facts:
    named = {name.replace("__", "."): value for name, value in values.items()}
    return Facts(fact(name, value) for name, value in {**WHOLE, **named}.items())


def derived(**values: Scalar) -> dict[str, Scalar | None]:
    facts = given(**values)
    facts.add(*rollout_mode(facts))
    return {item.kind: item.value for item in (*facts, *role_facts(facts)) if "." in item.kind}


def ms_swift(**values: Scalar) -> dict[str, Scalar | None]:
    return derived(launch__framework="ms-swift", **values)


def openrlhf(**values: Scalar) -> dict[str, Scalar | None]:
    roles: dict[str, Scalar] = {
        "launch__framework": "openrlhf",
        "launch__task": "ppo",
        "parallel__world_size": 8,
        "vllm__num_infer_workers": 4,
        "vllm__tensor_parallel": 2,
        "rlhf__advantage": "gae",
        "rlhf__beta": 0.01,
        "rlhf__reward_model": "rm",
    }
    for role in ("reference", "reward", "critic"):
        roles |= {f"rlhf__{role}_nodes": 1, f"rlhf__{role}_gpus_per_node": 8}
    return derived(**(roles | values))


def test_supervised_training_has_one_role() -> None:
    out = ms_swift(launch__task="sft", parallel__world_size=8)

    assert out["role.trainer_gpus"] == 8
    assert out["role.rollout_gpus"] == 0
    assert out["role.rollout_mode"] == "none"
    assert (out["role.reference"], out["role.critic"], out["role.reward_model"]) == (False,) * 3


def test_one_process_may_spread_a_model_over_all_cards() -> None:
    out = ms_swift(launch__task="sft", parallel__world_size=1, hardware__gpus_per_node=4)

    assert "role.trainer_gpus" not in out


def test_colocated_engines_use_the_trainers_cards() -> None:
    out = ms_swift(
        launch__task="grpo", parallel__world_size=8, vllm__enabled=True, vllm__mode="colocate"
    )

    assert (out["role.trainer_gpus"], out["role.rollout_gpus"]) == (8, 8)


def test_generation_without_an_engine() -> None:
    out = ms_swift(launch__task="grpo", parallel__world_size=8, vllm__enabled=False)

    assert (out["role.rollout_mode"], out["role.rollout_gpus"]) == ("none", 0)


@pytest.mark.parametrize(
    ("version", "host", "mode"),
    [
        ("3.6.0", "127.0.0.1", "server"),
        ("3.4.0", "127.0.0.1", "server"),
        (">=3.3.1,<4.1.0", "127.0.0.1", "server"),
        ("3.6.0", None, "colocate"),
        ("3.12.0", None, None),
    ],
)
def test_the_mode_of_early_releases_follows_from_the_servers_address(
    version: str, host: str | None, mode: str | None
) -> None:
    more: dict[str, Scalar] = {} if host is None else {"vllm__server_host": host}

    out = ms_swift(
        launch__task="grpo", launch__framework_version=version, vllm__enabled=True, **more
    )

    assert out.get("vllm.mode") == mode


def test_full_tuning_holds_a_reference_model_and_adapters_do_not() -> None:
    for tuner, held in (("full", True), ("lora", False)):
        out = ms_swift(launch__task="dpo", tuner__type=tuner)
        assert out["role.reference"] is held


def test_grpo_without_a_kl_term_needs_no_reference() -> None:
    assert ms_swift(launch__task="grpo", tuner__type="full", rlhf__beta=0)["role.reference"] is (
        False
    )
    assert ms_swift(launch__task="grpo", tuner__type="full")["role.reference"] is True


def test_an_early_trl_loaded_the_reference_all_the_same() -> None:
    job: dict[str, Scalar] = {"launch__task": "grpo", "tuner__type": "full", "rlhf__beta": 0.0}
    early = derived(launch__framework="trl", launch__framework_version="0.15.2", **job)
    late = derived(launch__framework="trl", launch__framework_version="0.19.1", **job)

    assert "role.reference" not in early
    assert late["role.reference"] is False


def test_odds_ratio_losses_need_no_reference() -> None:
    assert derived(launch__framework="llamafactory", launch__task="orpo")["role.reference"] is False


@pytest.mark.parametrize(
    ("terms", "tuner", "held"),
    [
        ({"rlhf__kl_in_loss": True, "rlhf__kl_in_reward": False}, "full", True),
        ({"rlhf__kl_in_loss": True, "rlhf__kl_in_reward": False}, "lora", False),
        ({"rlhf__kl_in_loss": False, "rlhf__kl_in_reward": False}, "full", False),
        ({"rlhf__kl_in_loss": False}, "full", None),
    ],
)
def test_verl_holds_a_reference_for_a_kl_term(
    terms: dict[str, Scalar], tuner: str, held: bool | None
) -> None:
    out = derived(launch__framework="verl", launch__task="grpo", tuner__type=tuner, **terms)

    assert out.get("role.reference") is held


def test_the_estimator_decides_on_the_critic() -> None:
    for estimator, critic in (("gae", True), ("grpo", False)):
        out = derived(launch__framework="verl", launch__task="ppo", rlhf__advantage=estimator)
        assert out["role.critic"] is critic


def test_verls_engine_takes_turns_with_the_trainer() -> None:
    out = derived(
        launch__framework="verl",
        launch__task="grpo",
        rollout__engine="sglang",
        parallel__world_size=16,
    )

    assert (out["role.rollout_mode"], out["role.rollout_gpus"]) == ("colocate", 16)


def test_openrlhf_adds_up_roles_with_cards_of_their_own() -> None:
    out = openrlhf()

    assert (out["role.rollout_mode"], out["role.rollout_gpus"]) == ("server", 8)
    assert out["hardware.gpus"] == 8 * 5


def test_openrlhf_counts_shared_cards_once() -> None:
    shared = openrlhf(rlhf__colocate_actor_reference=True, rlhf__colocate_critic_reward=True)

    assert shared["hardware.gpus"] == 8 * 3
    assert openrlhf(vllm__mode="colocate")["hardware.gpus"] == 8


def test_openrlhf_without_ray_keeps_every_model_in_each_process() -> None:
    out = derived(
        launch__framework="openrlhf",
        launch__task="ppo",
        launch__command="ppo",
        parallel__world_size=4,
        rlhf__reward_model="rm",
        rlhf__beta=0.01,
    )
    assert (out["role.rollout_mode"], out["role.rollout_gpus"]) == ("none", 0)
    assert (out["role.reference"], out["role.critic"], out["role.reward_model"]) == (True,) * 3
    assert "hardware.gpus" not in out


def test_llamafactory_samples_with_the_model_it_trains() -> None:
    out = derived(launch__framework="llamafactory", launch__task="ppo", parallel__world_size=2)
    assert (out["role.rollout_mode"], out["role.rollout_gpus"]) == ("none", 0)


@pytest.mark.parametrize("engines", [{}, {"vllm__num_infer_workers": 0}])
def test_openrlhf_samples_itself_where_no_engine_is_asked_for(engines: dict[str, Scalar]) -> None:
    out = derived(
        launch__framework="openrlhf", launch__task="ppo", launch__command="ppo-ray", **engines
    )
    assert out["role.rollout_mode"] == "none"


def test_openrlhf_without_a_critic_or_a_model_that_scores() -> None:
    out = openrlhf(rlhf__advantage="group_norm", rlhf__remote_reward="http://host", rlhf__beta=0)

    assert (out["role.critic"], out["role.reward_model"], out["role.reference"]) == (False,) * 3
    assert out["hardware.gpus"] == 8 * 2


def test_an_engine_that_overlaps_with_training_is_async() -> None:
    assert openrlhf(rlhf__async=True)["role.rollout_mode"] == "async"


def test_a_server_is_all_rollout() -> None:
    out = derived(
        launch__framework="vllm",
        launch__command="serve",
        launch__task="infer",
        vllm__tensor_parallel=4,
        vllm__data_parallel=2,
    )

    assert out["role.rollout_gpus"] == 8
    assert "role.trainer_gpus" not in out


def test_reward_models_of_each_framework() -> None:
    assert ms_swift(launch__task="grpo")["role.reward_model"] is False
    assert ms_swift(launch__task="grpo", rlhf__reward_model="rm")["role.reward_model"] is True
    assert "role.reward_model" not in ms_swift(
        launch__task="grpo", launch__unresolved="rlhf.reward_model"
    )
    for kind, held in (("lora", False), ("full", True)):
        out = derived(
            launch__framework="llamafactory",
            launch__task="ppo",
            rlhf__reward_model="rm",
            rlhf__reward_model_kind=kind,
        )
        assert out["role.reward_model"] is held


def test_nothing_is_said_of_an_unknown_job() -> None:
    assert not [kind for kind in derived() if kind.startswith("role.")]
