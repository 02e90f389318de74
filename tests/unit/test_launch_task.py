from __future__ import annotations

import pytest

from trainrx.frameworks.common.task import task_of
from trainrx.model.facts import Origin
from trainrx.model.job import RawArg, RawLaunch, Setting

HERE = Origin(source="run.sh", line=1, text="run")


def arg(name: str, *values: str, via: str = "arg") -> RawArg:
    return RawArg(
        name=name,
        values=values or None,
        origin=Origin(source="run.sh", line=2, text=name),
        via="config" if via == "config" else "arg",
    )


def setting(name: str, value: str | None) -> dict[str, Setting]:
    made = Setting(
        canonical=name, value=value, text=value or "", spelled_as=name, via="arg", how="read"
    )
    return {name: made}


def task(
    framework: str,
    command: str,
    *args: RawArg,
    configs: tuple[RawArg, ...] = (),
    settings: dict[str, Setting] | None = None,
    complete: bool = True,
    program: str = "",
) -> str:
    launch = RawLaunch(
        framework=framework,
        program=program,
        command=command,
        args=args,
        env=(),
        origin=HERE,
        args_complete=complete,
    )
    return task_of(launch, configs, settings or {})[0]


@pytest.mark.parametrize(
    ("framework", "command", "expected"),
    [
        ("ms-swift", "sft", "sft"),
        ("ms-swift", "megatron pt", "pt"),
        ("ms-swift", "pretrain", "pt"),
        ("ms-swift", "deploy", "infer"),
        ("ms-swift", "merge-lora", "export"),
        ("ms-swift", "simpo", "simpo"),
        ("trl", "grpo", "grpo"),
        ("trl", "reward", "rm"),
        ("trl", "vllm-serve", "infer"),
        ("vllm", "serve", "infer"),
        ("openrlhf", "train_sft", "sft"),
        ("openrlhf", "dpo", "dpo"),
        ("verl", "sft", "sft"),
        ("verl", "generation", "infer"),
        ("llamafactory", "export", "export"),
        ("llamafactory", "api", "infer"),
        ("", "train", ""),
    ],
)
def test_the_command_tells_the_task(framework: str, command: str, expected: str) -> None:
    assert task(framework, command) == expected


def test_preference_training_of_ms_swift_is_dpo_unless_told() -> None:
    assert task("ms-swift", "rlhf", arg("model", "m")) == "dpo"
    assert task("ms-swift", "megatron rlhf", settings=setting("rlhf.type", "grpo")) == "grpo"
    assert task("ms-swift", "rlhf", settings=setting("rlhf.type", None)) == ""
    assert task("ms-swift", "rlhf", complete=False) == ""


def test_llamafactory_is_supervised_unless_the_stage_says_otherwise() -> None:
    assert task("llamafactory", "train", arg("model_name_or_path", "m")) == "sft"
    assert task("llamafactory", "train", arg("stage", "pt")) == "pt"
    assert task("llamafactory", "train", configs=(arg("stage", "kto", via="config"),)) == "kto"
    assert task("llamafactory", "train", arg("stage")) == ""
    assert task("llamafactory", "train") == ""


def test_llamafactory_had_a_script_of_its_own_for_each_stage() -> None:
    assert task("llamafactory", "train", program="src/train_ppo.py") == "ppo"
    assert task("llamafactory", "train", arg("model", "m"), program="src/train_bash.py") == "sft"
    told = task("llamafactory", "train", arg("stage", "rm"), program="src/train_ppo.py")
    assert told == "rm"


def test_the_command_line_overrules_the_file() -> None:
    configs = (arg("stage", "dpo", via="config"),)

    assert task("llamafactory", "train", arg("stage", "rm"), configs=configs) == "rm"


@pytest.mark.parametrize(
    ("loss", "expected"), [("orpo", "orpo"), ("simpo", "simpo"), ("ipo", "dpo")]
)
def test_the_loss_tells_kinds_of_preference_training_apart(loss: str, expected: str) -> None:
    assert task("llamafactory", "train", arg("stage", "dpo"), arg("pref_loss", loss)) == expected


def test_axolotl_is_told_by_rl_or_a_reward_model() -> None:
    assert task("axolotl", "train", settings=setting("rlhf.type", "ipo")) == "dpo"
    assert task("axolotl", "train", configs=(arg("reward_model", "true", via="config"),)) == "rm"
    assert task("axolotl", "train", configs=(arg("base_model", "m", via="config"),)) == "sft"
    assert task("axolotl", "train") == ""


@pytest.mark.parametrize(
    ("framework", "command", "estimator", "expected"),
    [
        ("verl", "ppo", "grpo", "grpo"),
        ("verl", "ppo", "gae", "ppo"),
        ("verl", "dapo", "grpo", "grpo"),
        ("openrlhf", "ppo-ray", "group_norm", "grpo"),
        ("openrlhf", "train_ppo_ray", "reinforce", "ppo"),
    ],
)
def test_the_estimator_tells_grpo_from_ppo(
    framework: str, command: str, estimator: str, expected: str
) -> None:
    assert task(framework, command, settings=setting("rlhf.advantage", estimator)) == expected


def test_an_estimator_nobody_can_tell_leaves_the_task_open() -> None:
    assert task("verl", "ppo", settings=setting("rlhf.advantage", None)) == ""
    assert task("verl", "ppo", complete=False) == ""
    assert task("verl", "ppo") == "ppo"
