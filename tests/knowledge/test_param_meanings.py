"""What one framework's word means to the others: values and names that are easy to misread."""

from __future__ import annotations

import pytest

from trainrx.catalog.values import write_value
from trainrx.knowledge.load import load
from trainrx.launch.resolve import resolve
from trainrx.model.facts import Origin, Scalar
from trainrx.model.job import EnvVar, RawArg, RawLaunch, Setting

PARAMS = load().params
HERE = Origin(source="run.sh", line=1)


def read(at: str, name: str, value: str, *, env: bool = False) -> dict[str, Setting]:
    """Resolve one setting of a launch; `at` is `framework version command`."""
    framework, version, *command = at.split(" ", 2)
    launch = RawLaunch(
        framework=framework,
        command=" ".join(command),
        args=() if env else (RawArg(name=name, values=(value,), origin=HERE),),
        env=(EnvVar(name=name, value=value, origin=HERE),) if env else (),
        origin=HERE,
    )
    return dict(resolve(launch, params=PARAMS, versions={framework: version}).settings)


@pytest.mark.parametrize(
    ("at", "name", "value", "meant", "means"),
    [
        ("trl 0.24.0 grpo", "vllm_enable_sleep_mode", "true", "vllm.sleep_level", 1),
        ("trl 0.25.0 grpo", "vllm_enable_sleep_mode", "true", "vllm.sleep_level", 2),
        ("openrlhf 0.8.11 ppo-ray", "num_episodes", "3", "train.epochs", 3.0),
        ("openrlhf 0.8.11 sft", "max_epochs", "3", "train.epochs", 3.0),
        (
            "verl 0.6.1 ppo",
            "actor_rollout_ref.actor.entropy_from_logits_with_chunking",
            "True",
            "rlhf.chunked_entropy",
            True,
        ),
        (
            "verl 0.6.1 dapo",
            "actor_rollout_ref.rollout.free_cache_engine",
            "False",
            "rollout.free_cache_engine",
            False,
        ),
        ("verl 0.8.0 sft", "model.path", "Qwen/Qwen2.5-7B", "model.name", "Qwen/Qwen2.5-7B"),
        ("verl 0.8.0 sft", "engine.ulysses_sequence_parallel_size", "2", "parallel.sequence", 2),
        ("verl 0.9.1 sft", "data.max_token_len_per_gpu", "8192", "train.max_tokens_per_gpu", 8192),
        ("vllm 0.11.0 serve", "quantization", "bitsandbytes", "tuner.quant_method", "bnb"),
        ("slime 0.3.1", "advantage-estimator", "ppo", "rlhf.advantage", "gae"),
        (
            "axolotl 0.19.0 train",
            "gradient_checkpointing",
            "offload",
            "train.gradient_checkpointing",
            True,
        ),
        (
            "axolotl 0.19.0 train",
            "activation_offloading",
            "legacy",
            "train.activation_offloading",
            True,
        ),
        ("axolotl 0.19.0 train", "bf16", "full", "train.precision", "bf16"),
        ("axolotl 0.19.0 train", "bf16", "full", "train.pure_half", True),
        ("axolotl 0.19.0 train", "bf16", "full", "train.mixed_precision", "no"),
        ("axolotl 0.9.2 train", "bfloat16", "true", "train.pure_half", True),
        ("axolotl 0.19.0 train", "bfloat16", "true", "train.mixed_precision", "bf16"),
    ],
)
def test_a_word_is_read_as_its_framework_means_it(
    at: str, name: str, value: str, meant: str, means: Scalar
) -> None:
    assert read(at, name, value)[meant].value == means


@pytest.mark.parametrize(
    ("at", "name", "value", "not_meant"),
    [
        ("openrlhf 0.8.11 ppo-ray", "max_epochs", "4", "train.epochs"),
        ("axolotl 0.19.0 train", "bf16", "true", "train.pure_half"),
        ("axolotl 0.19.0 train", "bfloat16", "true", "train.pure_half"),
    ],
)
def test_a_word_is_not_read_as_what_it_resembles(
    at: str, name: str, value: str, not_meant: str
) -> None:
    found = read(at, name, value).get(not_meant)

    assert found is None or found.via == "default"


def test_a_switch_of_the_environment_is_written_as_it_is_compared() -> None:
    single = PARAMS["parallel.single_device"].spelled["ms-swift"][0]

    assert write_value(single, value=True) == "1"


@pytest.mark.parametrize("word", ["1", "true", "TRUE", "yes", "ON"])
def test_the_hub_takes_several_words_for_offline(word: str) -> None:
    found = read("ms-swift 4.6.0 sft", "HF_HUB_OFFLINE", word, env=True)

    assert found["hub.offline"].value is True
