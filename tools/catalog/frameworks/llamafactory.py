"""LLaMA-Factory: one list of classes for training, one for inference, one for evaluation.

Since 0.9.5 a second program is on board, started with USE_V1=1, with arguments of its own.
"""

from __future__ import annotations

import ast

from catalog.fields import class_command
from catalog.sources import Sources
from catalog.tables import Command, joined
from catalog.world import Definition, External, World

_PARSER = "llamafactory.hparams.parser"
_LISTS = {
    "_TRAIN_ARGS": ("train",),
    "_INFER_ARGS": ("infer", "chat", "api", "export", "webchat"),
    "_EVAL_ARGS": ("eval",),
}
"""Which commands parse which list; "infer" stands for the list itself.

https://github.com/hiyouga/LLaMA-Factory/blob/v0.9.3/src/llamafactory/hparams/parser.py
"""

_SECOND = "llamafactory.v1.config.arg_parser"
_SECOND_COMMANDS = ("v1 train", "v1 sft", "v1 rm", "v1 dpo", "v1 chat", "v1 merge")
"""All of them take the same classes: src/llamafactory/v1/launcher.py and config/arg_parser.py."""


def read_commands(sources: Sources) -> dict[str, Command]:
    """Read all commands of a release."""
    world = World(sources)
    out: dict[str, Command] = {}
    for name, commands in _LISTS.items():
        found = world.resolve(_PARSER, name)
        if isinstance(found, Definition) and isinstance(found.node, ast.List):
            out |= dict.fromkeys(commands, _parsed(world, found.module.name, found.node))
    second = _second(world)
    return out | (dict.fromkeys(_SECOND_COMMANDS, second) if second is not None else {})


def _parsed(world: World, module: str, listed: ast.List) -> Command:
    """Read what HfArgumentParser makes of a list of classes, some of them of other packages."""
    read: list[Command] = []
    parents: list[tuple[str, str]] = []
    for element in listed.elts:
        found = world.resolve(module, ast.unparse(element))
        if isinstance(found, External):
            parents.append((found.dotted.partition(".")[0], found.dotted.rpartition(".")[2]))
        elif isinstance(found, Definition) and isinstance(found.node, ast.ClassDef):
            read.append(class_command(world, found))
    return joined(read, parents)


def _second(world: World) -> Command | None:
    module = world.module(_SECOND)
    for node in ast.walk(module.tree) if module else ():
        match node:
            case ast.Call(func=ast.Name(id="HfArgumentParser"), args=[ast.List() as listed]):
                return _parsed(world, _SECOND, listed)
    return None
