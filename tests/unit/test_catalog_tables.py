"""Which tables a launch is read with, and when a name can be called unknown at all."""

from __future__ import annotations

import pytest

from trainrx.catalog.catalog import catalog
from trainrx.catalog.tables import judges, tables_of
from trainrx.launch.find import find_launches
from trainrx.model.facts import Origin
from trainrx.model.job import EnvVar, RawArg, RawLaunch
from trainrx.shell import read_script

HERE = Origin(source="run.sh", line=1)


def launched(text):
    (launch,) = find_launches(read_script(text, "run.sh"))
    return launch


def key(name, *values):
    return RawArg(name=name, values=values, origin=Origin(source="own.yaml"), via="config")


def alone(framework, command="train"):
    return RawLaunch(
        framework=framework, command=command, args=(), env=(), origin=Origin(source="own.yaml")
    )


@pytest.mark.parametrize(
    ("line", "table"),
    [
        ("python3 -m verl.trainer.main_ppo trainer.nnodes=1", "ppo_trainer"),
        (
            "python -m verl.trainer.main_ppo --config-path=config --config-name='ppo_trainer.yaml'",
            "ppo_trainer",
        ),
        (
            "python3 -m verl.trainer.main_ppo --config-name=ppo_megatron_trainer trainer.nnodes=1",
            "ppo_megatron_trainer",
        ),
        (
            "python3 -m verl.trainer.main_ppo model_engine=megatron trainer.nnodes=1",
            "ppo_megatron_trainer",
        ),
        ("torchrun -m verl.trainer.fsdp_sft_trainer trainer.nnodes=1", "sft_trainer"),
        ("torchrun -m verl.trainer.sft_trainer trainer.nnodes=1", "sft_trainer_engine"),
        ("python3 -m verl.trainer.main_generation data.path=x", "generation"),
        (
            "python3 -m verl.experimental.one_step_off_policy.main_ppo trainer.nnodes=1",
            "one_step_off_ppo_trainer",
        ),
    ],
)
def test_the_configuration_a_hydra_program_starts_from(line, table):
    found = tables_of(launched(line))

    assert found.command == table
    assert found.closed


@pytest.mark.parametrize(
    "line",
    [
        "python3 -m recipe.dapo.main_dapo algorithm.filter_groups.enable=True",
        # a program of the same name in a recipe, and a folder of the user's own
        "python3 recipe/one_step_off_policy/main_ppo.py rollout.nnodes=1",
        "python3 -m verl.trainer.main_ppo --config-path=/my/config --config-name=gsm8k a.b=1",
        "python3 -m verl.trainer.main_ppo --config-name=gsm8k_multiturn a.b=1",
        "python3 -m verl.trainer.main_ppo --config-path=/my/own --config-name=ppo_trainer a.b=1",
    ],
)
def test_a_configuration_in_no_wheel_leaves_names_unjudged(line):
    assert not tables_of(launched(line)).closed


def test_a_recipe_is_judged_when_its_configuration_is_at_hand():
    launch = launched("python3 -m recipe.dapo.main_dapo algorithm.filter_groups.enable=True")

    found = tables_of(launch, [key("defaults", "ppo_trainer", "_self_")])

    assert (found.command, found.closed) == ("ppo_trainer", True)


@pytest.mark.parametrize(
    ("front", "command", "closed"),
    [
        ("", "train", True),
        ("USE_V1=1 ", "v1 train", True),
        ("USE_MCA=1 ", "train", False),
        ("USE_V1=0 USE_MCA=false ", "train", True),
    ],
)
def test_variables_choose_the_program_of_llamafactory(front, command, closed):
    found = tables_of(launched(f"{front}llamafactory-cli train a.yaml"))

    assert (found.command, found.closed) == (command, closed)


def test_variables_beside_the_launch_count_as_well():
    launch = launched("llamafactory-cli train a.yaml")
    env = [EnvVar(name="USE_MCA", value="1", origin=HERE)]

    assert not tables_of(launch, [], env).closed


@pytest.mark.parametrize(
    ("names", "command", "closed"),
    [
        (["stage", "template", "learning_rate", "output_dir"], "train", True),
        (["model", "train_dataset", "dist_config", "micro_batch_size"], "v1 train", True),
        (["task", "n_shot", "save_dir", "batch_size", "template"], "eval", True),
        (["stage", "template", "tensor_model_parallel_size"], "train", False),
    ],
)
def test_a_file_alone_is_told_by_its_keys(names, command, closed):
    found = tables_of(alone("llamafactory"), [key(name, "x") for name in names])

    assert (found.command, found.closed) == (command, closed)


def test_a_file_that_is_launched_is_not_guessed_at():
    launch = launched("llamafactory-cli train a.yaml")

    assert tables_of(launch, [key("tensor_model_parallel_size", "2")]).closed


def test_plugins_of_axolotl_bring_their_tables():
    plugin = key("plugins", "axolotl.integrations.liger.LigerPlugin")

    found = tables_of(alone("axolotl"), [plugin])

    assert found.beside == ("plugin:axolotl.integrations.liger",)
    assert found.closed


def test_a_plugin_nobody_knows_may_take_any_key():
    assert not tables_of(alone("axolotl"), [key("plugins", "my.own.Plugin")]).closed


def test_the_program_of_axolotl_has_options_beside_the_file():
    found = tables_of(launched("axolotl train a.yaml --launcher torchrun"))

    assert found.beside == ("cli train",)


def test_a_table_says_nothing_about_releases_without_it():
    found = tables_of(launched("python3 -m verl.trainer.sft_trainer trainer.nnodes=1"))
    known = catalog("verl")

    assert judges(found, "verl", known.of("0.7.0"))
    assert not judges(found, "verl", known.of("0.4.0"))
