"""LLaMA-Factory: one list of classes for training, one for inference, one for evaluation."""

from __future__ import annotations

import ast

from catalog.fields import class_command
from catalog.sources import Sources
from catalog.tables import Command, joined
from catalog.world import Definition, World

_PARSER = "llamafactory.hparams.parser"
_LISTS = {
    "_TRAIN_ARGS": ("train",),
    "_INFER_ARGS": ("infer", "chat", "api", "export", "webchat"),
    "_EVAL_ARGS": ("eval",),
}
"""Which commands parse which list; "infer" stands for the list itself.

https://github.com/hiyouga/LLaMA-Factory/blob/v0.9.3/src/llamafactory/hparams/parser.py
"""


def read_commands(sources: Sources) -> dict[str, Command]:
    """Read all commands of a release."""
    world = World(sources)
    out: dict[str, Command] = {}
    for name, commands in _LISTS.items():
        found = world.resolve(_PARSER, name)
        if not isinstance(found, Definition) or not isinstance(found.node, ast.List):
            continue
        read = [
            class_command(world, cls)
            for element in found.node.elts
            if (cls := world.resolve_class(found.module.name, ast.unparse(element)))
        ]
        out |= dict.fromkeys(commands, joined(read))
    return out
