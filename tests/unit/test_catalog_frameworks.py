"""How each framework's releases are read, on small releases."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from catalog.extras import read_extras, write_extras
from catalog.frameworks import deepspeed, llamafactory, ms_swift, trl, verl, vllm
from catalog.metadata import newest_allowed, pins
from catalog.registry import read_registry
from catalog.sources import Sources
from catalog.tables import Argument

SWIFT = {
    "swift/cli/main.py": (
        "ROUTE_MAPPING = {'sft': 'swift.cli.sft', 'merge-lora': 'swift.cli.merge'}\n"
        "ROUTE_MAPPING.update({k: v for k, v in ROUTE_MAPPING.items()})\n"
        "def main(argv):\n    return argv[0] == '--config'\n"
    ),
    "swift/cli/sft.py": (
        "if __name__ == '__main__':\n    from swift.llm import sft_main\n    sft_main()\n"
    ),
    "swift/cli/merge.py": (
        "from swift.llm import Pipeline, Args\nclass Merge(Pipeline):\n    args_class = Args\n"
    ),
    "swift/llm/__init__.py": "if TYPE_CHECKING:\n    from .train import Args, Pipeline\n",
    "swift/llm/train.py": (
        "@dataclass\nclass Args:\n    rank: int = 8\n"
        "class Pipeline:\n    args_class = Args\n"
        "class Sft(Pipeline):\n    pass\n"
        "def sft_main(args=None):\n    return Sft(args).main()\n"
    ),
}


def test_swift_commands_are_followed_to_their_class_of_arguments() -> None:
    commands = ms_swift.read_commands(Sources(SWIFT))

    assert list(commands) == ["merge-lora", "sft"]
    assert commands["sft"].arguments == {
        "rank": Argument("int", 8),
        "config": Argument("str", None),
    }


def test_a_swift_command_without_a_class_is_an_error() -> None:
    broken = SWIFT | {"swift/cli/sft.py": "print('nothing')\n"}

    with pytest.raises(LookupError, match="sft"):
        ms_swift.read_commands(Sources(broken))


def test_llamafactory_joins_its_classes_and_names_what_they_extend() -> None:
    files = {
        "llamafactory/hparams/parser.py": (
            "from transformers import Seq2SeqTrainingArguments\nfrom .a import A, T\n"
            "_TRAIN_ARGS = [A, T]\n_INFER_ARGS = [A]\n"
        ),
        "llamafactory/hparams/a.py": (
            "from transformers import Seq2SeqTrainingArguments\n"
            "@dataclass\nclass A:\n    template: Optional[str] = None\n"
            "@dataclass\nclass T(Seq2SeqTrainingArguments):\n    ray: bool = False\n"
        ),
    }

    commands = llamafactory.read_commands(Sources(files))

    assert set(commands["train"].arguments) == {"template", "ray"}
    assert commands["train"].inherits == (("transformers", "Seq2SeqTrainingArguments"),)
    assert set(commands["export"].arguments) == {"template"}


def test_trl_commands_join_script_settings_and_model() -> None:
    files = {
        "trl/__init__.py": (
            "from .trainer.sft_config import SFTConfig\n"
            "from .scripts.utils import ScriptArguments\n"
        ),
        "trl/trainer/sft_config.py": (
            "from transformers import TrainingArguments\n"
            "@dataclass\nclass SFTConfig(TrainingArguments):\n    max_length: int = 1024\n"
        ),
        "trl/scripts/utils.py": (
            "@dataclass\nclass ScriptArguments:\n    dataset_name: str = None\n"
        ),
        "trl/scripts/sft.py": (
            "def make_parser():\n    from trl import ScriptArguments, SFTConfig\n"
            "    dataclass_types = (ScriptArguments, SFTConfig)\n"
            "    return TrlParser(dataclass_types)\n"
        ),
    }

    commands = trl.read_commands(Sources(files))

    assert set(commands["sft"].arguments) == {"dataset_name", "max_length"}
    assert commands["sft"].inherits == (("transformers", "TrainingArguments"),)


def test_hydra_files_are_put_together_with_the_choices_made() -> None:
    folder = "verl/trainer/config"
    files = {
        f"{folder}/ppo_trainer.yaml": (
            "defaults:\n  - model_engine: dp\n"
            "  - actor@actor_rollout_ref.actor: ${model_engine}_actor\n"
            "  - _self_\nactor_rollout_ref:\n  actor:\n    lr: 1e-6\ntrainer:\n  n_gpus: ???\n"
        ),
        f"{folder}/ppo_megatron_trainer.yaml": (
            "defaults:\n  - ppo_trainer\n  - override model_engine: megatron\n  - _self_\n"
        ),
        f"{folder}/model_engine/dp.yaml": "# @package _global_\nmodel_engine: dp\n",
        f"{folder}/model_engine/megatron.yaml": "# @package _global_\nmodel_engine: megatron\n",
        f"{folder}/actor/actor.yaml": "clip: 0.2\nlr: 1\n_target_: x.Y\n",
        f"{folder}/actor/dp_actor.yaml": (
            "defaults:\n  - ../optim@optim: adam\n  - actor\n  - _self_\nfsdp: true\n"
        ),
        f"{folder}/actor/megatron_actor.yaml": (
            "defaults:\n  - actor\n  - _self_\ntp: ${oc.select:x,1}\n"
        ),
        f"{folder}/optim/adam.yaml": "betas: [0.9]\n",
    }

    commands = verl.read_commands(Sources(files))

    assert commands["ppo_trainer"].arguments == {
        "model_engine": Argument("str", "dp"),
        "actor@actor_rollout_ref.actor": Argument("str", "dp_actor"),
        "actor_rollout_ref.actor.optim.betas": Argument("list", [0.9]),
        "actor_rollout_ref.actor.clip": Argument("float", 0.2),
        "actor_rollout_ref.actor.lr": Argument("float", 1e-6),
        "actor_rollout_ref.actor.fsdp": Argument("bool", True),
        "trainer.n_gpus": Argument("", {"required": True}),
    }
    megatron = commands["ppo_megatron_trainer"].arguments
    assert megatron["actor_rollout_ref.actor.tp"].default == {"expr": "${oc.select:x,1}"}
    assert "actor_rollout_ref.actor.fsdp" not in megatron


def test_a_hydra_file_that_names_itself_ends() -> None:
    place = PurePosixPath("verl/trainer/config/ppo_trainer.yaml")
    sources = Sources({str(place): "defaults:\n  - ppo_trainer\nx: 1\n"})

    tree, _ = verl.compose(sources, place)

    assert tree == {"x": 1}


def test_vllm_options_are_made_from_fields() -> None:
    files = {
        "vllm/config.py": (
            "@config\n@dataclass\nclass Cache:\n    block: Literal[8, 16] = 16\n"
            "    share: bool = True\n"
        ),
        "vllm/engine/arg_utils.py": (
            "from vllm.config import Cache\n"
            "@dataclass\nclass EngineArgs:\n    block: int = Cache.block\n"
            "    def add_cli_args(parser):\n        kw = get_kwargs(Cache)\n"
            "        parser.add_argument('--block-size', **kw['block'])\n"
            "        parser.add_argument('--share', '-s', **kw['share'])\n"
            "        parser.add_argument('--plain', type=int, default=EngineArgs.block)\n"
        ),
    }

    commands = vllm.read_commands(Sources(files))

    assert commands["EngineArgs"].arguments["block"] == Argument("int", 16)
    assert commands["serve"].arguments == {
        "block_size": Argument("Literal", 16, (8, 16)),
        "share": Argument("BooleanOptionalAction", True, None, ("-s",)),
        "plain": Argument("int", 16),
    }


def test_deepspeed_keys_are_found_where_they_are_read() -> None:
    files = {
        "deepspeed/runtime/config.py": (
            "from deepspeed.runtime.constants import *\n"
            "def a(param_dict):\n    return get_scalar_param(param_dict, CLIP, CLIP_DEFAULT)\n"
            "def b(param_dict):\n    for key in [BF16, OLD]:\n"
            "        return get_scalar_param(param_dict[key], 'enabled', False)\n"
        ),
        "deepspeed/runtime/constants.py": (
            "CLIP = 'gradient_clipping'\nCLIP_DEFAULT = 0.\nBF16 = 'bf16'\n"
        ),
    }

    commands = deepspeed.read_commands(Sources(files))

    assert commands["config"].arguments["gradient_clipping"] == Argument("float", 0.0)
    assert commands["config"].arguments["bf16"] == Argument("", None)
    assert commands["bf16"].arguments == {"enabled": Argument("bool", False)}


MODELS = {
    "swift/llm/model/constant.py": (
        "class MLLMModelType:\n    qwen_vl = 'qwen_vl'\n    old = 'old_vl'\n"
    ),
    "swift/llm/template/constant.py": "class TemplateType:\n    t = 'tpl'\n",
    "swift/llm/template/template/qwen.py": (
        "from ..constant import TemplateType\n"
        "class Reader:\n    def init(self):\n        self.n = get_env_args('max_num', int, 12)\n"
        "class QwenTemplate(Reader):\n    pass\n"
        "register_template(Meta(TemplateType.t, template_cls=QwenTemplate))\n"
    ),
    "swift/llm/model/model/qwen.py": (
        "from ..constant import MLLMModelType\nfrom ...template.constant import TemplateType\n"
        "def load():\n    for key in ['fps', 'max_pixels']:\n"
        "        get_env_args(key, int, lookup(key))\n"
        "register_model(ModelMeta(MLLMModelType.qwen_vl, "
        "[Model('Qwen/Qwen-VL')], TemplateType.t, load))\n"
    ),
    "swift/utils/env.py": (
        "import os\nTIMEOUT = os.getenv('SWIFT_TIMEOUT', '20')\nX = os.environ['PORT']\n"
    ),
    "swift/llm/ds_config/zero2.json": '{"zero_optimization": {"stage": 2}}',
}


def test_variables_belong_to_the_models_whose_code_reads_them() -> None:
    registry = read_registry(Sources(MODELS))

    assert registry.models == {"qwen_vl": ("qwen/qwen-vl",)}
    read = {v.name: v.default for v in registry.variables["qwen_vl"]}
    computed = {"expr": "computed"}
    assert read == {"MAX_NUM": 12, "FPS": computed, "MAX_PIXELS": computed}
    shared = {v.name: v.default for v in registry.variables[""]}
    assert shared == {"SWIFT_TIMEOUT": "20", "PORT": {"required": True}}


def test_a_model_type_that_ends_is_paired_with_the_heirs_of_its_models() -> None:
    later = MODELS | {
        "swift/llm/model/constant.py": "class MLLMModelType:\n    qwen_vl = 'qwen_family'\n"
    }
    reads = {"3.0": read_extras(Sources(MODELS)), "4.0": read_extras(Sources(later))}

    files = write_extras(reads)

    assert files["model-types.jsonl"] == (
        b'{"old":"qwen_vl","since":"3.0","until":"4.0","new":["qwen_family"]}\n'
    )
    assert files["presets-ms-swift.jsonl"] == (
        b'{"name":"zero2","spans":[["3.0",null]],'
        b'"contents":[["3.0",{"zero_optimization":{"stage":2}}]]}\n'
    )


def test_pins_of_extras_do_not_count() -> None:
    sources = Sources(
        {
            "METADATA": (
                "Requires-Dist: transformers (<4.53,>=4.33)\n"
                'Requires-Dist: trl<0.1; extra == "rlhf"\n\nRequires-Dist: peft==9\n'
            )
        }
    )

    assert str(pins(sources, "transformers")) == "<4.53,>=4.33"
    assert pins(sources, "trl") is None
    assert pins(sources, "peft") is None


def test_the_release_met_is_the_newest_allowed_that_existed() -> None:
    days = {"4.50.0": "2025-03-01", "4.51.0": "2025-04-01", "4.60.0": "2025-09-01"}
    releases = list(days)

    assert newest_allowed("<4.60", "2025-03-15", releases, days) == "4.50.0"
    assert newest_allowed("<4.60", "", releases, days) == "4.51.0"
    assert newest_allowed(">=4.55", "2025-03-15", releases, days) == "4.60.0"
    assert newest_allowed(">=9", "", releases, days) is None


def test_models_registered_in_a_loop_are_known_one_by_one() -> None:
    files = {
        "swift/llm/utils/model.py": (
            "for size in ['0.5B', '7B']:\n"
            "    lower = size.lower().replace('.', '_')\n"
            "    register_model(f'qwen-{lower}', f'qwen/Qwen-{size}', load)\n"
            "@register_model('one', 'org/One', hf_model_id='hf/One')\n"
            "def load(model_dir):\n    return get_env_args('fps', int, 2)\n"
        )
    }

    registry = read_registry(Sources(files))

    assert registry.models == {
        "qwen-0_5b": ("qwen/qwen-0.5b",),
        "qwen-7b": ("qwen/qwen-7b",),
        "one": ("hf/one", "org/one"),
    }
    assert [v.name for v in registry.variables["one"]] == ["FPS"]
