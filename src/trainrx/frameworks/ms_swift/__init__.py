"""ms-swift of ModelScope: `swift sft`, `megatron sft`, their modules, example scripts of 2.x.

Who wins where a file and the command line give the same argument (swift/cli/main.py):
- 3.10.0-4.0.4, `--config x.yaml`: the file. Its values are appended to the command line
  (`prepare_config_args`), and of one name argparse takes the last.
- 4.1.0 on, the first argument being a YAML or JSON file: the command line. The file's values are
  put in its place (`parse_yaml_args`). Its `ENV` overrides the environment before 4.2.2 and gives
  way to it since.
https://github.com/modelscope/ms-swift
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from trainrx.frameworks.base import Framework
from trainrx.frameworks.common.processes import Processes, times
from trainrx.frameworks.common.saved import Loaded
from trainrx.frameworks.common.start import CommandRename
from trainrx.frameworks.common.view import ArgumentView, Worked
from trainrx.frameworks.ms_swift.memory import SwiftLayout
from trainrx.frameworks.transformers import OWN_PROGRAM
from trainrx.launchers.entries import EntryPoint, RecognisedLaunch
from trainrx.model.job import RawArg, RawLaunch, Role
from trainrx.model.pattern import late
from trainrx.versions.ranges import in_range

if TYPE_CHECKING:
    from trainrx.frameworks.common.dumps import DumpForm, Kind
    from trainrx.frameworks.common.renames import ValueRenames


_MEGATRON = "megatron "
_EXAMPLE = late(r"llm_(?P<name>\w+)\.py")
_APPENDS = ">=3.10,<4.1"
_SHELL_FIRST = ">=4.2.2"
_SPREADS = frozenset({"pt", "sft", "rlhf", "infer", "dpo", "orpo", "simpo"})
"""Commands that start torchrun."""
_LONE = _SPREADS - {"infer"}


class MsSwift(SwiftLayout, Framework):
    """The commands of swift/cli/main.py and swift/cli/_megatron/main.py."""

    name = "ms-swift"
    spelled = True
    folders = ("swift", "ms-swift")
    spoken = "swift"
    renamed_commands = (
        *(CommandRename("3.0.0", t, "rlhf", ("rlhf_type", t)) for t in ("dpo", "orpo", "simpo")),
        CommandRename("3.0.2", "app-ui", "app"),
    )
    """The wheels of 2.6.1, 3.0.0 and 3.0.2: swift/cli/main.py."""
    programs = ("swift", "megatron")
    commands = frozenset(
        {"sft", "pt", "rlhf", "infer", "deploy", "rollout", "export", "eval", "app", "sample"}
        | {"web-ui", "app-ui", "merge-lora", "dpo", "orpo", "simpo", "cpo", "kto", "ppo", "rm"}
        | {"grpo", "pretrain"}
        | {_MEGATRON + name for name in ("sft", "pt", "rlhf", "export")}
    )
    path = late(r"(?:.*[./])?swift[./]cli[./](?P<mega>_megatron[./])?(?P<name>\w+?)(?:\.py)?")
    bare_programs = (("--rlhf_type", "swift rlhf"), ("", "swift sft"))
    default_command = "sft"
    command_roles: ClassVar[Mapping[str, Role]] = {
        "rollout": "rollout",
        "infer": "inference",
        "deploy": "inference",
        "app": "inference",
        "app-ui": "inference",
        "sample": "inference",
        "eval": "evaluation",
        "export": "export",
        "merge-lora": "export",
    }
    servers = frozenset({"deploy"})
    default_tasks: ClassVar[Mapping[str, str]] = {"rlhf": "dpo"}
    """RLHFArguments.rlhf_type at every release that has it."""
    names_data = True
    makes_output_first = "--output_dir"
    refuses_unknown = True
    training_arguments = True
    two_dashes = True
    parses_values = True
    ships_presets = True
    refuses_uneven_groups = True
    """3.1.1 and later."""
    places_engine = "<3.5"
    renames_model_types = True
    inner_packages = OWN_PROGRAM
    group_keys = frozenset({"colocate_groups", "device_groups", "train", "rollout"})
    """Those of a job on Ray."""
    file_of_any_command = True
    telling_keys = frozenset(
        {"tuner_type", "train_type", "sft_type", "attn_impl", "rlhf_type", "freeze_vit"}
    )
    usual_keys = frozenset(
        {"model", "model_type", "dataset", "split_dataset_ratio", "vllm_mode", "ENV"}
    )
    keeps_arguments = True
    environment_key = "ENV"
    train_data = ("dataset",)
    eval_data = ("val_dataset",)
    column_names = "columns"
    reward_plugins = "external_plugins"
    adapter_arguments = ("adapters", "ckpt_dir")
    # 3.2.1: trainers/rlhf_trainer/grpo_trainer.py, which every trainer of rlhf is imported with
    command_packages = (("==3.2.1", "rlhf", "vllm"),)

    def by_program(self, entry: EntryPoint) -> RecognisedLaunch | None:
        """Read `swift sft ...` and `megatron sft ...`."""
        if entry.module or entry.name not in self.programs:
            return None
        return self.by_command(entry.args, _MEGATRON if entry.name == "megatron" else "")

    def by_path(self, entry: EntryPoint) -> RecognisedLaunch | None:
        """Read a module of its command line, and an example script of 2.x."""
        found = self.matched(entry)
        if found is not None:
            prefix = _MEGATRON if found["mega"] else ""
            if found["name"] == "main":
                return self.by_command(entry.args, prefix)
            command = prefix + found["name"].replace("_", "-")
            return self.launch(command, entry.args) if command in self.commands else None
        example = _EXAMPLE.fullmatch(entry.name)
        command = "" if example is None else example["name"].replace("_", "-")
        return self.launch(command, entry.args) if command in self.commands else None

    def releases_starting(self, launch: RawLaunch) -> str | None:
        """Tell the releases by how a launch gives its file."""
        if not launch.configs or not launch.origin.line:
            return None
        by_flag = any(arg.name == "config" for arg in launch.args)
        return _APPENDS if by_flag else ">=4.1"

    def role(self, command: str, program: str, names: Collection[str]) -> Role:
        """An export that caches a data set prepares."""
        found = super().role(command, program, names)
        return "preparation" if found == "export" and "to_cached_dataset" in names else found

    def shell_first(self, version: str | None) -> bool:
        """Tell whether `ENV` gives way to the environment."""
        return in_range(version or "", _SHELL_FIRST) is True

    def appended_file(self, launch: RawLaunch, version: str | None) -> str:
        """Name the file of `--config`."""
        asked = next((a.values for a in launch.args if a.name == "config" and a.values), None)
        if asked is None or in_range(version or "", _APPENDS) is False:
            return ""
        return re.split(r"[/\\]", asked[0])[-1]

    def takes_config(self, launch: RawLaunch, version: str | None) -> bool:
        """With `--use_ray` its Megatron commands read the file (swift/ray/megatron/pipeline.py)."""
        rays = launch.command.startswith(_MEGATRON) and any(
            a.name == "use_ray" for a in launch.args
        )
        return rays or in_range(version or "", _APPENDS) is not False

    def command_in_file(self, args: Sequence[RawArg]) -> str:
        """A file with an algorithm is for `rlhf`."""
        named = {arg.name: arg.values[0] for arg in args if arg.values}
        return "rlhf" if named.get("rlhf_type", "null") not in ("null", "None", "") else "sft"

    def takes_file_first(self, version: str | None) -> bool:
        """From 4.1 on: `parse_yaml_args` in swift/cli/main.py."""
        return in_range(version or "", ">=4.1") is True

    def value_renames(self) -> ValueRenames:
        """Give the names of 2.x, and those since 3.0."""
        from trainrx.frameworks.ms_swift import renames

        return renames

    def counts_samples(self, version: str | None) -> bool:
        """Before 3.0 `#` splits them between training and evaluation."""
        return in_range(version or "", ">=3.0") is True

    def data_path(self, word: str) -> str:
        """Leave out the subset and the number of samples: DatasetSyntax."""
        return re.sub(r"(?::[\w./-]*)?(?:#\d+)?$", "", word)

    def reward_inputs(self, columns: Sequence[str]) -> frozenset[str]:
        """Give the columns that do not become messages, and what is always there."""
        from trainrx.frameworks.ms_swift.data import reward_inputs

        return reward_inputs(columns)

    def effective(self, view: ArgumentView) -> Worked:
        """Give what its argument classes compute."""
        from trainrx.frameworks.ms_swift.effective import effective

        return effective(view)

    def run_folders(self, launch: RawLaunch, version: str | None) -> tuple[str, ...]:
        """Give the folders of earlier runs."""
        from trainrx.frameworks.ms_swift.saved_args import run_folders

        return run_folders(launch, version)

    def loaded_back(
        self, launch: RawLaunch, saved: Sequence[RawArg], version: str | None
    ) -> Loaded:
        """Choose what `load_args` takes back."""
        from trainrx.frameworks.ms_swift.saved_args import loaded_back

        return loaded_back(launch, saved, version)

    def saved_beyond(self, args: Sequence[RawArg]) -> tuple[RawArg, ...]:
        """Give what it handed to the trainer."""
        from trainrx.frameworks.ms_swift.saved_args import trainer_values

        return trainer_values(args)

    def lone_process(self, launch: RawLaunch) -> bool:
        """It starts more only when NPROC_PER_NODE or NNODES is set."""
        return not launch.launcher and launch.command in _LONE and launch.env_complete

    def processes(self, launch: RawLaunch, env: Mapping[str, str | None]) -> Processes:
        """Its program starts torchrun when NPROC_PER_NODE or NNODES is set."""
        if launch.command not in _SPREADS:
            return Processes(1, distributed=False)
        if "NPROC_PER_NODE" in env or "NNODES" in env:
            number = times(env.get("NPROC_PER_NODE", "1"), env.get("NNODES", "1"))
            return Processes(number, distributed=True)
        return Processes(1, distributed=False) if launch.env_complete else Processes()

    def dumps(self) -> Iterable[DumpForm]:
        """Give the forms of its dumps."""
        from trainrx.frameworks.ms_swift.dumps import forms

        return forms()

    def printed_object(self, name: str, before: str) -> tuple[str, Kind] | None:
        """Its argument classes are called after the commands."""
        from trainrx.frameworks.ms_swift.dumps import OBJECTS

        own = name in OBJECTS and before.endswith("args: ")
        return (OBJECTS[name], "arguments") if own else None


FRAMEWORK = MsSwift()
