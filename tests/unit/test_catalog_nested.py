"""Keys inside keys, options made in loops, and choices of files: how the generator reads them."""

from __future__ import annotations

import pytest

from catalog.frameworks import axolotl, llamafactory, verl
from catalog.parsers import function_parser
from catalog.sources import Sources
from catalog.tables import Argument
from catalog.world import World

AXOLOTL = {
    "axolotl/utils/schemas/config.py": (
        "from enum import Enum\n"
        "class Kind(str, Enum):\n    dpo = 'dpo'\n"
        "class Role(BaseModel):\n    name: str | None = None\n"
        "class Sft(BaseModel):\n    path: str | None = None\n    roles: list[Role] | None = None\n"
        "class Dpo(BaseModel):\n    split: str = 'train'\n    path: int = 1\n"
        "class FSDPConfig(BaseModel):\n    offload_params: bool | None = None\n"
        "    fsdp_version: int | None = None\n"
        "class AxolotlInputConfig(BaseModel):\n"
        "    rl: Kind | None = None\n"
        "    datasets: Annotated[list[Sft | Dpo], MinLen(1)] | None = None\n"
        "    fsdp_config: FSDPConfig | None = None\n"
        "    lora_r: int | None = None\n"
    ),
    "axolotl/integrations/liger/__init__.py": (
        "from .args import LigerArgs\n"
        "class LigerPlugin(BasePlugin):\n"
        "    def get_input_args(self):\n"
        "        '''Say where.'''\n"
        "        return 'axolotl.integrations.liger.LigerArgs'\n"
    ),
    "axolotl/integrations/liger/args.py": (
        "class LigerArgs(BaseModel):\n    liger_rope: bool | None = None\n"
    ),
    "axolotl/cli/main.py": (
        "from .args import TrainerCliArgs\n"
        "@cli.command()\n@click.argument('config')\n"
        "@click.option('--launcher', default='accelerate')\n"
        "@click.option('--accelerate/--no-accelerate', default=True)\n"
        "@add_options_from_dataclass(TrainerCliArgs)\n"
        "def train(config, **kwargs):\n    pass\n"
    ),
    "axolotl/cli/args.py": "@dataclass\nclass TrainerCliArgs:\n    debug: bool = False\n",
}


def test_models_inside_a_model_have_dotted_keys() -> None:
    table = axolotl.read_commands(Sources(AXOLOTL))["train"].arguments

    assert {name for name in table if "." in name} == {
        "datasets.*.path",
        "datasets.*.roles",
        "datasets.*.roles.*.name",
        "datasets.*.split",
        "fsdp_config.offload_params",
        "fsdp_config.fsdp_version",
    }
    assert table["datasets.*.path"] == Argument("str | None", None)


def test_a_key_of_one_model_or_another_takes_what_either_does() -> None:
    either = (
        "class Made(BaseModel):\n    path: Literal['made'] = 'made'\n    kind: Literal['a'] = 'a'\n"
        "class Sft(BaseModel):\n    path: str | None = None\n    kind: Literal['a', 'b'] = 'a'\n"
        "class AxolotlInputConfig(BaseModel):\n    datasets: list[Made | Sft] | None = None\n"
    )
    read = axolotl.read_commands(Sources({"axolotl/utils/schemas/config.py": either}))
    table = read["train"].arguments

    assert table["datasets.*.path"] == Argument("str | None", None)
    assert table["datasets.*.kind"] == Argument("Literal", "a", ("a", "b"))


def test_a_prefix_that_a_validator_takes_off_is_another_spelling() -> None:
    validator = {
        "axolotl/utils/schemas/validation.py": (
            "class V:\n    def check_fsdp_config_kwargs_prefix(cls, data):\n        return data\n"
        )
    }
    with_it = axolotl.read_commands(Sources(AXOLOTL | validator))["train"].arguments
    without = axolotl.read_commands(Sources(AXOLOTL))["train"].arguments

    old = ("fsdp_config.fsdp_offload_params",)
    assert with_it["fsdp_config.offload_params"].aliases == old
    assert with_it["fsdp_config.fsdp_version"].aliases == ()
    assert without["fsdp_config.offload_params"].aliases == ()


def test_plugins_and_programs_have_tables_of_their_own() -> None:
    commands = axolotl.read_commands(Sources(AXOLOTL))

    assert set(commands["plugin:axolotl.integrations.liger"].arguments) == {"liger_rope"}
    assert set(commands["cli train"].arguments) == {"launcher", "accelerate", "debug"}


def test_options_named_in_a_loop_are_read_for_each_of_its_values() -> None:
    source = (
        "parser = ArgumentParser()\n"
        "for prefix in ('actor', 'critic'):\n"
        "    parser.add_argument(f'--{prefix}.lr', type=float,\n"
        "                        default=1e-6 if prefix == 'actor' else 9e-6)\n"
        "for other in names():\n    parser.add_argument(f'--{other}.lr')\n"
        "parser.add_argument('--seed', type=int, default=1)\n"
    )
    world = World(Sources({"cli/train.py": source}))

    assert function_parser(world, "cli.train") == {
        "seed": Argument("int", 1),
        "actor.lr": Argument("float", 1e-6),
        "critic.lr": Argument("float", 9e-6),
    }


@pytest.mark.parametrize("place", ["from transformers import Seq2SeqTrainingArguments\n"])
def test_llamafactory_hands_a_class_of_another_package_to_its_parser(place: str) -> None:
    files = {
        "llamafactory/hparams/parser.py": (
            f"{place}from .a import A\n_TRAIN_ARGS = [A, Seq2SeqTrainingArguments]\n"
        ),
        "llamafactory/hparams/a.py": "@dataclass\nclass A:\n    template: str = ''\n",
    }

    train = llamafactory.read_commands(Sources(files))["train"]

    assert set(train.arguments) == {"template"}
    assert train.inherits == (("transformers", "Seq2SeqTrainingArguments"),)


def test_the_second_program_of_llamafactory_has_commands_of_its_own() -> None:
    files = {
        "llamafactory/v1/config/arg_parser.py": (
            "from .args import M, T\n"
            "def get_args():\n    parser = HfArgumentParser([M, T])\n    return parser\n"
        ),
        "llamafactory/v1/config/args.py": (
            "@dataclass\nclass M:\n    model: str = ''\n"
            "@dataclass\nclass T:\n    micro_batch_size: int = 1\n"
        ),
    }

    commands = llamafactory.read_commands(Sources(files))

    assert set(commands["v1 sft"].arguments) == {"model", "micro_batch_size"}
    assert "train" not in commands


def test_hydra_choices_of_files_are_arguments_under_their_whole_name() -> None:
    folder = "verl/trainer/config"
    files = {
        f"{folder}/ppo_trainer.yaml": (
            "defaults:\n  - model_engine: dp\n"
            "  - actor@actor_rollout_ref.actor: ${model_engine}_actor\n  - _self_\nseed: 1\n"
        ),
        f"{folder}/model_engine/dp.yaml": "x: 1\n",
        f"{folder}/actor/dp_actor.yaml": "defaults:\n  - ../optim@optim: fsdp\n  - _self_\nlr: 2\n",
        f"{folder}/optim/fsdp.yaml": "eps: 3\n",
        "verl/experimental/own/config/own_trainer.yaml": (
            "hydra:\n  searchpath:\n    - file://verl/trainer/config\n"
            "defaults:\n  - ppo_trainer\n  - _self_\nextra: 4\n"
        ),
    }

    commands = verl.read_commands(Sources(files))

    names = {"model_engine", "actor@actor_rollout_ref.actor", "seed", "model_engine.x"}
    names |= {"actor_rollout_ref.actor.lr", "actor_rollout_ref.actor.optim.eps"}
    chosen = commands["ppo_trainer"].arguments
    assert set(chosen) == names
    assert chosen["actor@actor_rollout_ref.actor"].default == "dp_actor"
    assert set(commands["own_trainer"].arguments) - names == {"extra"}
