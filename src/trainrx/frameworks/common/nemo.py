"""NVIDIA NeMo Automodel and NeMo RL: their programs, and what of their files is in force.

https://github.com/NVIDIA-NeMo/Automodel/tree/v0.5.0 (nemo_automodel/cli/app.py; to v0.3.0
nemo_automodel/_cli/app.py), https://github.com/NVIDIA-NeMo/RL/tree/v0.7.0 (examples/run_*.py)
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from trainrx.inputs.config import read_config
from trainrx.launchers.entries import EntryPoint, RecognisedLaunch
from trainrx.model.job import RawArg, RawLaunch, Word
from trainrx.model.pattern import late

_CLI = late(r"nemo_automodel\._?cli\.app|(?:.*/)?nemo_automodel/_?cli/app\.py")
_RECIPE = late(
    r"(?:.*[./])?(?:nemo_automodel[./]recipes|examples)[./](?:ll|vl)m(?:_\w+)?[./](?P<name>\w+?)(?:\.py)?"
)
_COMMANDS = {
    "finetune": "finetune",
    "train_ft": "finetune",
    "pretrain": "pretrain",
    "kd": "kd",
    "benchmark": "benchmark",
}
_NAMED_RECIPES = (("knowledgedistillation", "kd"), ("benchmarking", "benchmark"))
_TRAINS = late(r"(?:.*\.)?(?:TrainFinetuneRecipeForNextTokenPrediction|FinetuneRecipeForVLM)")
_RL = late(r"(?:.*/)?examples/run_(?P<name>\w+)\.py")
_RL_ANYWHERE = late(r"(?:.*/)?run_(?P<name>\w+)\.py")
_OWN_FILE = late(r"(?:.*/)?run_(?:grpo|grpo_math|sft|dpo|rm)\.py")
"""The programs whose configuration is the one the defaults in knowledge are of, or of no other."""
_RL_OWN = late(
    r"\+{0,2}(?:policy\.(?:model_name|train_|generation\.|\w+_cfg\.)|cluster\.)[\w.]*=.*"
)
_ALGORITHMS = ("grpo", "sft", "dpo", "rm", "ppo", "distillation", "eval")
_PACKED = ("packed_sequence.packed_sequence_size", "packed_sequence.pack_size")
"""The length of a packed row, which takes the place of a sample's; 0 packs none."""
_EITHER_WAY = ("colocated.enabled",)
"""Switches beside which the rest says how it is done without."""
_OFF = frozenset({"false", "no", "off", "0"})
_ON = frozenset({"true", "yes", "on", "1"})
_MOST_PARENTS = 8
_MEGATRON = "policy.megatron_cfg.enabled"
_WHOLE = {
    "nemo-rl": ("policy.model_name", "policy.train_micro_batch_size", "cluster.gpus_per_node"),
    "nemo-automodel": ("model._target_", "step_scheduler.local_batch_size"),
}
"""What no configuration that can be run is without: one that lacks it is a part of one."""


def recognise(entry: EntryPoint) -> RecognisedLaunch | None:
    """Give framework, command and arguments of a launch, None when it is of neither."""
    path, args = entry.path.text, entry.args
    if (not entry.module and entry.name in ("automodel", "am")) or _CLI.fullmatch(path):
        return _automodel(args)
    recipe = _RECIPE.fullmatch(path)
    if recipe is not None and recipe["name"] in _COMMANDS and _names_file(args):
        return RecognisedLaunch("nemo-automodel", _COMMANDS[recipe["name"]], args)
    return None if entry.module else _rl(path, args)


def _automodel(args: tuple[Word, ...]) -> RecognisedLaunch | None:
    """Read `automodel finetune llm -c x.yaml` (to 0.3) and `automodel x.yaml` (from 0.4 on)."""
    words = [word.text for word in args[:2]]
    if len(words) > 1 and words[0] in _COMMANDS and words[1] in ("llm", "vlm"):
        return RecognisedLaunch("nemo-automodel", _COMMANDS[words[0]], args[2:])
    return RecognisedLaunch("nemo-automodel", "finetune", args) if _names_file(args) else None


def _names_file(args: Iterable[Word]) -> bool:
    return any(word.text.endswith((".yaml", ".yml")) or word.unknown for word in args)


def _rl(path: str, args: Sequence[Word]) -> RecognisedLaunch | None:
    """Read `examples/run_grpo.py`; elsewhere a script so called is known by its overrides."""
    own = any(_RL_OWN.fullmatch(word.text) for word in args)
    match = (_RL_ANYWHERE if own else _RL).fullmatch(path)
    if match is None:
        return None
    words = match["name"].split("_")
    command = next((name for name in _ALGORITHMS if name in words), "")
    flags = {word.text.partition("=")[0] for word in args if word.text.startswith("-")}
    if not command or not flags <= {"--config"}:
        return None
    return RecognisedLaunch("nemo-rl", command, tuple(args))


def command_of(launch: RawLaunch, args: Sequence[RawArg]) -> str:
    """Give the command, with what the files say of it: the recipe, or Megatron as the backend."""
    if launch.framework == "nemo-rl":
        bare = launch.command.removeprefix("megatron ")
        on = _last(_MEGATRON, args, launch.args).lower() in _ON
        return f"megatron {bare}" if on and bare else bare
    recipe = _last("recipe", args, launch.args) or _last("recipe._target_", args, launch.args)
    if launch.command != "finetune" or not recipe or _TRAINS.fullmatch(recipe):
        return launch.command
    name = recipe.rpartition(".")[2]
    known = (command for word, command in _NAMED_RECIPES if word in name.lower())
    return next(known, name)


def algorithm_of(args: Sequence[RawArg]) -> str:
    """Give the command of NeMo RL a configuration is for, "" when it does not tell."""
    fronts = {arg.name.partition(".")[0] for arg in args}
    return next((name for name in ("distillation", *_ALGORITHMS) if name in fronts), "")


def is_part(launch: RawLaunch, args: Sequence[RawArg], files: Collection[str]) -> bool:
    """Tell whether the files at hand are less than what the program needs to begin.

    One that `defaults` names may set anything.
    """
    if not args:
        # where none is named, a program takes one of its own
        return bool(launch.configs) or _OWN_FILE.fullmatch(launch.program) is None
    names = {arg.name for arg in (*args, *launch.args)}
    bases = {_base(name) for name in files}
    missing = any(_base(name) not in bases for name in parents_of(args))
    return missing or not all(name in names for name in _WHOLE[launch.framework])


def parents_of(args: Iterable[RawArg]) -> Iterator[str]:
    """Give the files a configuration of NeMo RL builds on (nemo_rl/utils/config.py)."""
    for arg in args:
        if arg.name == "defaults":
            yield from arg.values or ()


def parents_first(texts: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Order files so that each stands behind those it builds on."""
    by_base = {_base(name): name for name in texts}
    ordered: dict[str, str] = {}

    def put(name: str, depth: int) -> None:
        for parent in parents_of(read_config(texts[name], name)[0]) if depth else ():
            known = by_base.get(_base(parent))
            if known is not None and known not in ordered and known != name:
                put(known, depth - 1)
        ordered.setdefault(name, texts[name])

    for name in texts:
        put(name, _MOST_PARENTS)
    return tuple(ordered.items())


def _base(name: str) -> str:
    return name.replace("\\", "/").rpartition("/")[2]


def in_force(args: Sequence[RawArg], decided_by: Sequence[RawArg]) -> tuple[RawArg, ...]:
    """Leave out what stands in a section that `enabled: false` turns off, but for the switch.

    Both programs look at a section (`lora_cfg`, `megatron_cfg`, `sequence_packing`, `compile`)
    only where its `enabled` is true. Of the lengths of samples and of packed rows the decisive one
    is kept.
    """
    off = tuple(_switched_off(decided_by))
    if not off:
        return tuple(args)
    return tuple(
        arg for arg in args if not arg.name.startswith(off) or arg.name.endswith(".enabled")
    )


def _switched_off(args: Sequence[RawArg]) -> Iterator[str]:
    last = {arg.name: arg.values[0].lower() for arg in args if arg.values}
    for name, value in last.items():
        if name in _PACKED and value not in ("", "0", "null", "none"):
            yield "dataset.seq_length"
        elif name in _PACKED:
            yield name
        elif name.endswith(".enabled") and value in _OFF and not name.endswith(_EITHER_WAY):
            yield name.removesuffix("enabled")


def _last(name: str, *groups: Sequence[RawArg]) -> str:
    """Give the decisive value of a key, "" for none: the groups go from file to command line."""
    found = [arg for group in groups for arg in group if arg.name == name and arg.values]
    return found[-1].values[0] if found and found[-1].values else ""
