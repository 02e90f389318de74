"""NVIDIA NeMo RL: https://github.com/NVIDIA-NeMo/RL (examples/run_*.py, read at v0.7.0)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import ClassVar, Literal

from trainrx.frameworks.common.fsdp2 import Fsdp2
from trainrx.frameworks.common.sections import last_value
from trainrx.inputs.config import read_config
from trainrx.launchers.entries import EntryPoint, RecognisedLaunch
from trainrx.model.facts import Facts
from trainrx.model.job import RawArg, RawLaunch, Role
from trainrx.model.pattern import late

_ANYWHERE = late(r"(?:.*/)?run_(?P<name>\w+)\.py")
_OWN_FILE = late(r"(?:.*/)?run_(?:grpo|grpo_math|sft|dpo|rm)\.py")
"""The programs whose configuration is the one the defaults in knowledge are of, or of no other."""
_OWN_KEY = late(
    r"\+{0,2}(?:policy\.(?:model_name|train_|generation\.|\w+_cfg\.)|cluster\.)[\w.]*=.*"
)
_ALGORITHMS = ("grpo", "sft", "dpo", "rm", "ppo", "distillation", "eval")
_MOST_PARENTS = 8
_MEGATRON = "policy.megatron_cfg.enabled"
_ON = frozenset({"true", "yes", "on", "1"})
_WHOLE = ("policy.model_name", "policy.train_micro_batch_size", "cluster.gpus_per_node")
"""What no configuration that can be run is without: one that lacks it is a part of one."""


class NemoRl(Fsdp2):
    """`examples/run_grpo.py`; elsewhere a script so called is known by its overrides."""

    name = "nemo-rl"
    folders = ("nemo_rl", "NeMo-RL")
    checkout = (
        "https://github.com/NVIDIA-NeMo/RL",
        "git submodule update --init --recursive",
    )
    spelled = True
    repository = "NVIDIA-NeMo/RL"
    path = late(r"(?:.*/)?examples/run_(?P<name>\w+)\.py")
    file_flags = ("config",)
    command_roles: ClassVar[Mapping[str, Role]] = {"eval": "evaluation"}
    takes_overrides = True
    only_assigns = True
    edits_assigned = True
    omegaconf = True
    runs_engine = True
    parser = "hydra"
    model_arguments = frozenset({"policy.model_name"})
    also_called = ("nemo",)
    nested_files = True
    nests_changes = True
    sections = True
    telling_keys = frozenset(
        {"policy.model_name", "policy.generation", "policy.dtensor_cfg", "policy.megatron_cfg"}
        | {"policy.train_micro_batch_size", "policy.train_global_batch_size"}
        | {"grpo.num_generations_per_prompt", "grpo.async_grpo", "grpo.num_prompts_per_step"}
    )
    usual_keys = frozenset({"policy", "cluster", "grpo", "sft", "dpo", "loss_fn", "checkpointing"})

    def by_path(self, entry: EntryPoint) -> RecognisedLaunch | None:
        """Read one of its programs, which take no flag but `--config`."""
        own = any(_OWN_KEY.fullmatch(word.text) for word in entry.args)
        found = _ANYWHERE.fullmatch(entry.path.text) if own else self.matched(entry)
        if found is None or entry.module:
            return None
        words = found["name"].split("_")
        command = next((name for name in _ALGORITHMS if name in words), "")
        flags = {w.text.partition("=")[0] for w in entry.args if w.text.startswith("-")}
        return self.launch(command, entry.args) if command and flags <= {"--config"} else None

    def command_in_file(self, args: Sequence[RawArg]) -> str:
        """Name the algorithm a configuration has a section of."""
        fronts = {arg.name.partition(".")[0] for arg in args}
        return next((name for name in ("distillation", *_ALGORITHMS) if name in fronts), "")

    def command_with_files(self, launch: RawLaunch, args: Sequence[RawArg]) -> str:
        """Give the command, with Megatron as the backend where the files choose it."""
        bare = launch.command.removeprefix("megatron ")
        on = last_value(_MEGATRON, args, launch.args).lower() in _ON
        return f"megatron {bare}" if on and bare else bare

    def is_part(self, launch: RawLaunch, args: Sequence[RawArg], files: Collection[str]) -> bool:
        """Tell whether a file others build on is missing, or something that every run needs.

        A file that `defaults` names may set anything.
        """
        if not args:
            # where none is named, a program takes one of its own
            return bool(launch.configs) or _OWN_FILE.fullmatch(launch.program) is None
        bases = {_base(name) for name in files}
        names = {arg.name for arg in (*args, *launch.args)}
        missing = any(_base(name) not in bases for name in self.parents(args))
        return missing or not names.issuperset(_WHOLE)

    def parents(self, args: Iterable[RawArg]) -> Iterable[str]:
        """Give the files a configuration builds on (nemo_rl/utils/config.py)."""
        for arg in args:
            if arg.name == "defaults":
                yield from arg.values or ()

    def in_order(self, texts: Mapping[str, str]) -> Iterable[tuple[str, str]]:
        """Order files so that each stands behind those it builds on."""
        by_base = {_base(name): name for name in texts}
        ordered: dict[str, str] = {}

        def put(name: str, depth: int) -> None:
            for parent in self.parents(read_config(texts[name], name)[0]) if depth else ():
                known = by_base.get(_base(parent))
                if known is not None and known not in ordered and known != name:
                    put(known, depth - 1)
            ordered.setdefault(name, texts[name])

        for name in texts:
            put(name, _MOST_PARENTS)
        return tuple(ordered.items())

    # Memory ---------------------------------------------------------------------------------------
    loads_as = "fp32"
    """models/automodel/setup.py."""
    limits_total = True
    """policy.max_total_sequence_length."""
    engine_share = 0.6
    prompts_per_step = True

    def unmodelled_setting(self, facts: Facts, *, megatron: bool) -> str:
        """Name the value model too."""
        found = super().unmodelled_setting(facts, megatron=megatron)
        if found in ("", "vllm.mode") and facts.text("launch.task") == "ppo":
            return "launch.task"
        return found

    def engine_sleeps(self, facts: Facts) -> bool:
        """It does while the policy trains (models/generation/vllm: finish_generation)."""
        return True

    def leaves_card(self, facts: Facts, part: Literal["model", "optimizer"]) -> bool:
        """All of it does (offload_before_refit, offload_after_refit of its workers)."""
        return True

    def has_reference(self, facts: Facts, task: str) -> bool | None:
        """Its weights lie on the host and change places with the policy's.

        models/policy/workers: reference_model_state_dict.
        """
        return False


def _base(name: str) -> str:
    return name.replace("\\", "/").rpartition("/")[2]


FRAMEWORK = NemoRl()
