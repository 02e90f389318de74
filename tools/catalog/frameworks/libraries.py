"""transformers, trl and peft: classes of settings in modules of a known place."""

from __future__ import annotations

import ast
import re

from catalog.classes import is_dataclass, resolution_order
from catalog.fields import class_command
from catalog.sources import Sources, module_name
from catalog.tables import Command
from catalog.world import Definition, World

_NAMED = re.compile(r"^[^_].*(?:Config|Arguments|Args)$")


def read_transformers(sources: Sources) -> dict[str, Command]:
    """Read the two classes of training arguments."""
    found = settings_classes(World(sources), ("transformers/training_args*.py",))
    return {name: found[name] for name in ("TrainingArguments", "Seq2SeqTrainingArguments")}


def read_peft(sources: Sources) -> dict[str, Command]:
    """Read the class of each adapter."""
    places = ("peft/config.py", "peft/tuners/*.py", "peft/tuners/tuners_utils.py")
    return settings_classes(World(sources), places)


def settings_classes(world: World, places: tuple[str, ...]) -> dict[str, Command]:
    """Read the dataclasses that are named like settings and stand in some modules."""
    out: dict[str, Command] = {}
    for path in world.sources.glob(*places):
        module = world.module(module_name(path))
        for node in module.tree.body if module else ():
            if module is None or not isinstance(node, ast.ClassDef):
                continue
            cls = Definition(module, node, node.name)
            if _NAMED.match(node.name) and _has_fields(world, cls):
                command = class_command(world, cls)
                if command.arguments or command.inherits:
                    out.setdefault(node.name, command)
    return out


def _has_fields(world: World, cls: Definition) -> bool:
    return any(
        isinstance(c, Definition) and isinstance(c.node, ast.ClassDef) and is_dataclass(c.node)
        for c in resolution_order(world, cls)
    )
