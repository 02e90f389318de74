"""What is spelled for a framework, a release and a command is read back as it was meant.

The text goes through the real parsers: a shell script, or a YAML file, then `resolve`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import FUZZ, examples
from trainrx.catalog.catalog import catalog
from trainrx.catalog.resolved import Resolved
from trainrx.catalog.signature import catalog_command
from trainrx.catalog.spell import Spelled, spell
from trainrx.frameworks import framework_of
from trainrx.inputs.config import read_config
from trainrx.knowledge.load import read_entry
from trainrx.knowledge.places import shipped
from trainrx.launch.find import find_launches
from trainrx.launch.resolve import resolve
from trainrx.model.facts import Origin, Scalar
from trainrx.model.job import RawLaunch
from trainrx.model.parts import Param
from trainrx.shell import read_script

KB = shipped()[0]
PARAMS = {path.stem: read_entry(path, Param) for path in sorted((KB / "params").glob("*.yaml"))}
_SWIFT = ("sft", "pt", "rlhf", "infer", "deploy", "export", "rollout", "app", "eval", "dpo", "orpo")
_MEGATRON = ("megatron sft", "megatron pt", "megatron rlhf", "megatron export")
HEADS = {
    "ms-swift": {c: f"swift {c}" for c in _SWIFT} | {c: c for c in _MEGATRON},
    "llamafactory": {c: f"llamafactory-cli {c}" for c in ("train", "export", "chat")},
    "trl": {c: f"trl {c}" for c in ("sft", "dpo", "grpo", "kto", "reward", "rloo", "orpo", "cpo")},
    "transformers": {"train": "python train.py --num_train_epochs 1"},
    "verl": {
        "ppo": "python -m verl.trainer.main_ppo",
        "sft": "python -m verl.trainer.fsdp_sft_trainer",
    },
    "openrlhf": {
        c: f"python -m openrlhf.cli.train_{c.replace('-', '_')}"
        for c in ("sft", "dpo", "rm", "kto", "ppo-ray")
    },
    "axolotl": {"train": "axolotl train"},
    "vllm": {"serve": "vllm serve"},
    "easyr1": {"ppo": "python3 -m verl.trainer.main"},
    "slime": {"train": "python3 slime/train.py"},
    "pai-megatron-patch": {
        "megatron pt": "python3 Pai-Megatron-Patch/examples/qwen2/pretrain_qwen.py"
    },
    "megatron-lm": {"megatron pt": "python3 pretrain_gpt.py"},
    "megatron-bridge": {"megatron sft": "python3 run_recipe.py --recipe qwen3_8b_finetune_config"},
    "nemo-automodel": {"finetune": "automodel x.yaml"},
    "nemo-rl": {c: f"uv run python examples/run_{c}.py" for c in ("grpo", "sft", "dpo")},
}
"""The beginning of a command line by framework and command."""
RELEASES: dict[str, tuple[str, ...]] = {
    "megatron-lm": ("0.12.0", "0.14.0"),
    "megatron-bridge": ("0.1.0", "0.2.0"),
    "easyr1": ("0.3.0", "0.3.1", "0.3.2", "0.3.3"),
    "slime": ("0.2.0", "0.3.1"),
    "pai-megatron-patch": ("0.8.0",),
    "nemo-automodel": ("0.1.0", "0.2.0", "0.3.0", "0.4.0", "0.5.0"),
    "nemo-rl": ("0.2.1", "0.3.1", "0.4.0", "0.5.0", "0.6.0", "0.7.0"),
}
"""Of frameworks that have no catalog."""
OTHER_HEADS = {"train.epochs": "python train.py --per_device_train_batch_size 1"}
"""Where the head itself sets the parameter: an argument would overrule the configuration file."""
TEXTS: dict[str, list[Scalar]] = {
    "train.precision": ["bf16", "fp16", "fp32"],
    "train.attention": ["flash_attn", "sdpa", "eager", "flash_attention_3"],
    "parallel.deepspeed": ["zero0", "zero1", "zero2", "zero2_offload", "zero3", "zero3_offload"],
    "rlhf.type": ["grpo", "dpo", "ppo", "kto"],
    "tuner.type": ["lora", "full"],
    "vllm.mode": ["colocate", "server"],
}
OWN_ARGUMENTS = {("transformers", "model.name"), ("transformers", "train.attention")}
"""A script on the Trainer declares these itself: no catalog can list them."""
PAIRS = [(p, f) for p in PARAMS.values() for f in HEADS if p.spelled.get(f)]


def values(param: Param, framework: str) -> list[Scalar]:
    words = [word for s in param.spelled[framework] for word in s.values]
    if param.type == "bool":
        return [True, False]
    if param.type == "int":
        return [1, 4, 1003520, *(int(w) for w in words if w.isdecimal())]
    if param.type == "float":
        return [1e-5, 0.5, 2.0, 5e-7]
    return TEXTS.get(param.id) or [*words] or ["all-linear", "/data/my model"]


def releases_of(framework: str) -> tuple[str, ...]:
    return RELEASES.get(framework) or tuple(catalog(framework).releases)


def commands(framework: str, release: str) -> Iterator[str]:
    """Give the commands a release has."""
    known = catalog(framework)
    for command in HEADS[framework]:
        if framework in RELEASES:
            yield command
            continue
        table = catalog_command(framework, command)
        if table not in known.contents.commands or known.has_command(table) & known.of(release):
            yield command


def read_back(spelled: Spelled, param: str, framework: str, command: str, release: str) -> Resolved:
    head = HEADS[framework][command]
    if framework == "transformers":
        head = OTHER_HEADS.get(param, head)
    if spelled.kind == "config_file":
        launch = find_launches(read_script(head if "python" in head else f"{head} x.yaml", "x"))[0]
        whole = not framework_of(framework).nested_files
        configs, unread = read_config(f"{spelled.text}\n", "x.yaml", whole=whole)
        assert not unread
        return resolve(launch, params=PARAMS, configs=configs, versions={framework: release})
    text = f"{spelled.text} {head}" if spelled.kind == "env" else f"{head} {spelled.text}"
    launch = find_launches(read_script(text, "x"))[0]
    assert (launch.framework, launch.command) == (framework, command)
    return resolve(launch, params=PARAMS, versions={framework: release})


def means(spelled: Spelled, param: str, value: Scalar, job: RawLaunch, release: str) -> None:
    """Read back what was spelled for the launch and see that it says the value and no more."""
    found = read_back(spelled, param, job.framework, job.command, release)
    setting = found.settings.get(param)
    assert setting is not None, (release, spelled.text)
    assert (setting.value, setting.via != "default") == (value, True), (release, spelled.text)
    assert not found.unread, (release, spelled.text)
    if (job.framework, param) not in OWN_ARGUMENTS:
        head = HEADS[job.framework][job.command]
        assert all(f"--{flag.name} " in head for flag in found.unknown_flags), spelled.text


def job_of(framework: str, command: str) -> RawLaunch:
    return RawLaunch(
        framework=framework, command=command, args=(), env=(), origin=Origin(source="x", line=1)
    )


@given(st.sampled_from(PAIRS), st.data())
@examples(400)
def test_what_is_spelled_is_read_back(pair: tuple[Param, str], data: st.DataObject) -> None:
    param, framework = pair
    release = data.draw(st.sampled_from(releases_of(framework)))
    command = data.draw(st.sampled_from([*commands(framework, release)] or [""]))
    value = data.draw(st.sampled_from(values(param, framework)))
    via = data.draw(st.sampled_from(("arg", "config")))
    if not command:
        return
    job = job_of(framework, command)

    spelled = spell(param.id, value, framework, release, PARAMS, via=via, launch=job)

    if spelled is not None:
        means(spelled, param.id, value, job, release)


@pytest.mark.parametrize("framework", HEADS)
def test_every_parameter_is_read_back(framework: str) -> None:
    """Some releases and the newest; each wording once with the oldest of them it is for."""
    releases = releases_of(framework)
    read: set[tuple[str, str, str, str]] = set()
    for release in sorted({*releases[:: 1 if FUZZ else 8], releases[-1]}, key=releases.index):
        for command, via in product(commands(framework, release), ("arg", "config")):
            job = job_of(framework, command)
            for param in (p for p, owner in PAIRS if owner == framework):
                value = values(param, framework)[0]
                spelled = spell(param.id, value, framework, release, PARAMS, via=via, launch=job)
                if spelled is None or (key := (param.id, command, via, spelled.text)) in read:
                    continue
                read.add(key)
                means(spelled, param.id, value, job, release)
    assert read


@pytest.mark.parametrize(
    ("canonical", "value", "framework", "version", "command"),
    [
        ("rlhf.type", "grpo", "llamafactory", "0.9.3", "train"),
        ("train.attention", "flash_attention_3", "llamafactory", "0.9.1", "train"),
        ("train.micro_batch", 1, "llamafactory", "0.9.3", "export"),
        ("vllm.share", 0.5, "verl", "0.5.0", "sft"),
        ("train.micro_batch", 1, "ms-swift", "3.2.1", "infer"),
    ],
)
def test_what_the_command_does_not_take_is_not_spelled(
    canonical: str, value: Scalar, framework: str, version: str, command: str
) -> None:
    job = job_of(framework, command)

    assert spell(canonical, value, framework, version, PARAMS, launch=job) is None


def test_a_key_hydra_does_not_know_is_added() -> None:
    job = job_of("verl", "ppo")

    spelled = spell("vllm.disable_cascade_attention", True, "verl", "0.7.0", PARAMS, launch=job)

    assert spelled is not None
    assert spelled.text.startswith("+actor_rollout_ref.rollout.engine_kwargs.vllm.")


def test_a_value_with_a_blank_is_quoted_for_hydra_too() -> None:
    spelled = spell("model.name", "/data/my model", "verl", "0.7.0", PARAMS)

    assert spelled is not None
    assert spelled.text == "actor_rollout_ref.model.path='/data/my model'"


@pytest.mark.parametrize("given", ["", "--accelerator_config '{\"split_batches\": false}'"])
def test_a_key_that_is_not_in_its_mapping_has_a_default_of_its_own(given: str) -> None:
    script = f"llamafactory-cli train --stage sft --streaming true {given}"

    found = resolve(
        find_launches(read_script(script, "x"))[0],
        params=PARAMS,
        versions={"llamafactory": "0.9.3"},
    )

    setting = found.settings.get("train.dispatch_batches")
    assert setting is not None
    assert setting.value is True
