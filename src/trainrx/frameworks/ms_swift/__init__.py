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
from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar

from trainrx.frameworks.base import Framework
from trainrx.frameworks.common.processes import Processes, times
from trainrx.frameworks.common.view import View, Worked
from trainrx.launchers.entries import EntryPoint, RecognisedLaunch
from trainrx.model.job import RawArg, RawLaunch, Role
from trainrx.model.pattern import late
from trainrx.versions.ranges import in_range

_MEGATRON = "megatron "
_EXAMPLE = late(r"llm_(?P<name>\w+)\.py")
_APPENDS = ">=3.10,<4.1"
_SHELL_FIRST = ">=4.2.2"
_SPREADS = frozenset({"pt", "sft", "rlhf", "infer", "dpo", "orpo", "simpo"})
"""Commands that start torchrun."""


class MsSwift(Framework):
    """The commands of swift/cli/main.py and swift/cli/_megatron/main.py."""

    name = "ms-swift"
    spelled = True
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
    refuses_unknown = True
    telling_keys = frozenset(
        {"tuner_type", "train_type", "sft_type", "attn_impl", "rlhf_type", "freeze_vit"}
    )
    usual_keys = frozenset(
        {"model", "model_type", "dataset", "split_dataset_ratio", "vllm_mode", "ENV"}
    )
    keeps_arguments = True
    environment_key = "ENV"

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

    def effective(self, view: View) -> Worked:
        """Give what its argument classes compute."""
        from trainrx.frameworks.ms_swift.effective import effective

        return effective(view)

    def processes(self, launch: RawLaunch, env: Mapping[str, str | None]) -> Processes:
        """Its program starts torchrun when NPROC_PER_NODE or NNODES is set."""
        if launch.command not in _SPREADS:
            return Processes(1, distributed=False)
        if "NPROC_PER_NODE" in env or "NNODES" in env:
            number = times(env.get("NPROC_PER_NODE", "1"), env.get("NNODES", "1"))
            return Processes(number, distributed=True)
        return Processes(1, distributed=False) if launch.env_complete else Processes()


FRAMEWORK = MsSwift()
