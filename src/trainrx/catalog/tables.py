"""Which tables of a catalog a launch is read with, and whether they are all it may be read with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from trainrx.catalog.catalog import catalog, plain
from trainrx.catalog.signature import catalog_command
from trainrx.model.job import EnvVar, RawArg, RawLaunch
from trainrx.model.pattern import late

_VERL_PROGRAM = late(
    r"(?:.*[./])?verl[./](?:trainer|experimental[./]\w+)[./](?P<name>\w+?)(?:\.py)?"
)
_VERL_TABLES: Mapping[str, str] = {
    "main_ppo": "ppo_trainer",
    "main_ppo_sync": "ppo_trainer",
    "main_generation": "generation",
    "main_generation_server": "ppo_trainer",
    "main_eval": "evaluation",
    "fsdp_sft_trainer": "sft_trainer",
    "sft_trainer": "sft_trainer_engine",
    "sft_trainer_ray": "sft_trainer_engine",
    "fully_async_main": "fully_async_ppo_trainer",
}
"""The `@hydra.main(config_name=...)` of verl's programs; those of recipes are in no wheel.

https://github.com/volcengine/verl/tree/v0.7.0/verl/trainer
"""

_SHIPPED_FOLDER = late(r"(?:\./|pkg://)?config|(?:.*/)?verl/trainer/config/?")
_ASYNC = late(r"one_step_off_policy[./]\w+")
_PLUGIN = late(r"axolotl\.integrations\.\w+")
_TRUE = frozenset({"1", "true", "y"})
_MEGATRON = frozenset(
    {"tensor_model_parallel_size", "pipeline_model_parallel_size", "expert_model_parallel_size"}
    | {"virtual_pipeline_model_parallel_size", "context_parallel_size"}
)
"""Arguments of mcore_adapter, which LLaMA-Factory trains with when USE_MCA=1."""


class Tables(msgspec.Struct, frozen=True):
    """The command of a catalog, further tables that count beside it, and what to make of the rest.

    `closed` is false when the program takes names that no table here lists: then nothing it is
    given can be called unknown.
    """

    command: str
    beside: tuple[str, ...] = ()
    closed: bool = True


def tables_of(
    launch: RawLaunch, configs: Sequence[RawArg] = (), env: Sequence[EnvVar] = ()
) -> Tables:
    """Say which tables describe what a launch may be given.

    Args:
        launch: the command.
        configs: keys of the framework's own config files at hand.
        env: variables given beside the launch.
    """
    if launch.framework == "verl":
        return _verl(launch, configs)
    command = catalog_command(launch.framework, launch.command)
    if launch.framework == "axolotl":
        return _axolotl(launch, command, configs)
    if launch.framework == "llamafactory":
        return _llamafactory(launch, command, configs, env)
    return Tables(command)


def judges(tables: Tables, framework: str, bits: int) -> bool:
    """Tell whether a name that is in none of the tables is unknown at some releases.

    A table that did not exist yet, or no longer, says nothing about them.
    """
    known = catalog(framework)
    named = (tables.command, *tables.beside)
    return tables.closed and all(known.life(table) & bits for table in named)


def _axolotl(launch: RawLaunch, command: str, configs: Sequence[RawArg]) -> Tables:
    """Add the keys of plugins turned on, and the options of the program when it is given some."""
    own = catalog("axolotl").contents.commands
    wanted = [*_plugins(configs), *([f"cli {launch.command}"] if launch.args else [])]
    known = tuple(dict.fromkeys(name for name in wanted if name in own))
    return Tables(command, known, closed=len(known) == len(set(wanted)))


def _verl(launch: RawLaunch, configs: Sequence[RawArg]) -> Tables:
    """Find the configuration hydra starts from: named, chosen, or the program's own."""
    args = {plain(arg.name): arg for arg in launch.args}
    named = _value(args, "config_name").removesuffix(".yaml")
    folder = _value(args, "config_path") or _value(args, "config_dir")
    shipped = not folder or _SHIPPED_FOLDER.fullmatch(folder) is not None
    own = catalog("verl").contents.commands
    match = _VERL_PROGRAM.fullmatch(launch.program)
    default = _program_table(launch, match["name"] if match else "")
    table = named or default
    engine = _value(args, "model_engine")
    if table == "ppo_trainer" and f"ppo_{engine}_trainer" in own:
        table = f"ppo_{engine}_trainer"
    if table in own and shipped and (default or not launch.program):
        return Tables(table)
    based = next((name for name in _defaults(configs) if name in own), None)
    if based is not None:
        return Tables(based)
    near = table if table in own else catalog_command("verl", launch.command)
    return Tables(near, closed=False)


def _program_table(launch: RawLaunch, name: str) -> str:
    """Give the configuration of a program of verl's own, "" of any other."""
    if not launch.program:
        return catalog_command("verl", launch.command)
    if name and _ASYNC.search(launch.program):
        return "one_step_off_ppo_trainer"
    return _VERL_TABLES.get(name, "")


def _defaults(configs: Sequence[RawArg]) -> Iterator[str]:
    """Give the configurations another one builds on."""
    for arg in configs:
        if arg.name == "defaults":
            yield from arg.values or ()


def _plugins(configs: Sequence[RawArg]) -> Iterator[str]:
    """Give the tables of the plugins a file turns on."""
    for arg in configs:
        if arg.name == "plugins":
            for value in arg.values or ():
                match = _PLUGIN.match(value)
                yield f"plugin:{match[0] if match else value}"


def _llamafactory(
    launch: RawLaunch, command: str, configs: Sequence[RawArg], env: Sequence[EnvVar]
) -> Tables:
    """Tell the second program (USE_V1) and Megatron's arguments (USE_MCA) from the usual ones.

    A file alone does not say what it is given to: then the command fits that has most of its keys.
    """
    variables = {item.name: (item.value or "").lower() for item in (*env, *launch.env)}
    own = catalog("llamafactory").contents.commands
    if variables.get("USE_V1") in _TRUE and f"v1 {launch.command}" in own:
        return Tables(f"v1 {launch.command}")
    names = {plain(arg.name) for arg in (*launch.args, *configs)}
    if variables.get("USE_MCA") in _TRUE or (not launch.program and names & _MEGATRON):
        return Tables(command, closed=False)
    if launch.program:
        return Tables(command)
    return Tables(_most_taken(names, (command, "v1 train", "eval", "export")))


def _most_taken(names: set[str], commands: Sequence[str]) -> str:
    """Give the command that takes most of the names; the first one of equals."""
    known = catalog("llamafactory")
    scores = {
        command: sum(bool(known.find(name, command)) or _inherits(name, command) for name in names)
        for command in commands
    }
    return max(commands, key=lambda command: scores[command])


def _inherits(name: str, command: str) -> bool:
    parents = catalog("llamafactory").contents.inherits.get(command, ())
    return any(catalog(parent.package).find(name, parent.command) for parent in parents)


def _value(args: Mapping[str, RawArg], name: str) -> str:
    arg = args.get(name)
    return arg.values[0] if arg is not None and arg.values else ""
