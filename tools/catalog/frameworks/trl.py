"""trl: the settings of each trainer, and the commands of `trl`, which join several of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from catalog.fields import class_command
from catalog.frameworks.libraries import settings_classes
from catalog.modules import Module
from catalog.sources import Sources, module_name
from catalog.tables import Command, joined
from catalog.world import Definition, External, World

_PLACES = (
    "trl/trainer/*config*.py",
    "trl/trainer/utils.py",
    "trl/trainer/base.py",
    "trl/scripts/utils.py",
    "trl/experimental/*config*.py",
)
_SCRIPTS = ("trl/scripts/*.py", "trl/commands/scripts/*.py")
_PARSERS = ("TrlParser", "HfArgumentParser")


def read_commands(sources: Sources) -> dict[str, Command]:
    """Read classes (named as they are) and commands (`sft`, `dpo`, `vllm-serve` ...)."""
    world = World(sources)
    out = settings_classes(world, _PLACES)
    for path in sources.glob(*_SCRIPTS):
        module = world.module(module_name(path))
        classes = next(_parsed(world, module), None) if module else None
        if module is not None and classes:
            name = module.name.rpartition(".")[2].replace("_", "-")
            out[name] = _command(world, classes)
    return out


def _parsed(world: World, module: Module) -> Iterator[list[Definition | External]]:
    """Find the classes a script hands to its parser."""
    for node in ast.walk(module.tree):
        given: ast.expr | None = None
        match node:
            case ast.Assign(targets=[ast.Name(id="dataclass_types")], value=value):
                given = value
            case ast.Call(func=ast.Name(id=name), args=[first, *_]) if name in _PARSERS:
                given = first
        if given is None:
            continue
        elements = given.elts if isinstance(given, (ast.Tuple, ast.List)) else [given]
        found = [_meaning(world, module, ast.unparse(e)) for e in elements]
        classes = [
            f
            for f in found
            if isinstance(f, External)
            or (isinstance(f, Definition) and isinstance(f.node, ast.ClassDef))
        ]
        if len(classes) == len(elements):
            yield classes


def _meaning(world: World, module: Module, name: str) -> Definition | External | None:
    """Follow a name that the script may also import inside a function."""
    found = world.resolve(module.name, name)
    for node in ast.walk(module.tree) if found is None else ():
        if isinstance(node, ast.ImportFrom) and any(a.name == name for a in node.names):
            return world.resolve(module.imported_from(node), name)
    return found


def _command(world: World, classes: list[Definition | External]) -> Command:
    read = [class_command(world, cls) for cls in classes if isinstance(cls, Definition)]
    parents = [
        ("transformers", cls.dotted.rpartition(".")[2])
        for cls in classes
        if isinstance(cls, External) and cls.dotted.startswith("transformers.")
    ]
    return joined(read, parents)
