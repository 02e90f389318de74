"""ms-swift: `swift COMMAND` and `megatron COMMAND`, each with one class of arguments."""

from __future__ import annotations

import ast
import re

from catalog.classes import class_node, resolution_order
from catalog.evaluate import Evaluator
from catalog.fields import class_command
from catalog.modules import Module
from catalog.sources import Sources, module_name
from catalog.tables import Argument, Command
from catalog.world import Definition, World

_ROUTES = (("", "swift.cli.main"), ("megatron ", "swift.cli._megatron.main"))
_WITHOUT_CLASS = ("web-ui",)
"""Took no arguments before 2.2.3."""
_MAIN = re.compile(r"_main$|^(?:run_ui|main)$")
_CONFIG = Argument("str", None)


def read_commands(sources: Sources) -> dict[str, Command]:
    """Read all commands of a release.

    Raises:
        LookupError: a command's class of arguments was not found.
    """
    world = World(sources)
    out: dict[str, Command] = {}
    for prefix, routes in _ROUTES:
        for command, target in sorted(_routes(world, routes).items()):
            if "_" in command:
                # the same command with another spelling
                continue
            cls = arguments_class(world, target)
            if cls is None and command in _WITHOUT_CLASS:
                continue
            if cls is None:
                raise LookupError(f"no class of arguments for {prefix}{command}")
            out[prefix + command] = class_command(world, cls)
    if _takes_config(world):
        for read in out.values():
            read.arguments.setdefault("config", _CONFIG)
    return out


def arguments_class(world: World, cli_module: str) -> Definition | None:
    """Follow `swift/cli/sft.py` to the class of arguments of its main function."""
    module = world.module(cli_module)
    if module is None:
        return None
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ClassDef):
            found = _declared(world, Definition(module, node, node.name))
            if found is not None:
                return found
    for source, name in _mains(module):
        main = world.resolve(source, name)
        if not isinstance(main, Definition):
            main = _search(world, name)
        found = _of_main(world, main) if main is not None else None
        if found is not None:
            return found
    return None


def _routes(world: World, name: str) -> dict[str, str]:
    module = world.module(name)
    bound = module.candidates("ROUTE_MAPPING") if module else ()
    for binding in bound:
        if module is not None and isinstance(binding.node, ast.expr):
            value = Evaluator(world, module).value(binding.node)
            if isinstance(value, dict):
                return {command: str(target) for command, target in value.items()}
    return {}


def _mains(module: Module) -> list[tuple[str, str]]:
    """Give the main functions a command imports, also below `if __name__ == '__main__'`."""
    found: list[tuple[str, str]] = []
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom):
            source = module.imported_from(node)
            found += [(source, alias.name) for alias in node.names if _MAIN.search(alias.name)]
    return found


def _of_main(world: World, main: Definition) -> Definition | None:
    """Give the class: `get_main(SftArguments, run)`, or a function that builds a pipeline."""
    if isinstance(main.node, ast.Call) and main.node.args:
        return world.resolve_class(main.module.name, ast.unparse(main.node.args[0]))
    if isinstance(main.node, ast.FunctionDef):
        for call in ast.walk(main.node):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
                cls = world.resolve_class(main.module.name, call.func.id)
                found = _declared(world, cls) if cls is not None else None
                if found is not None:
                    return found
    return None


def _declared(world: World, cls: Definition) -> Definition | None:
    """Give what `args_class` of a pipeline says."""
    for ancestor in resolution_order(world, cls):
        if not isinstance(ancestor, Definition):
            continue
        for statement in class_node(ancestor).body:
            match statement:
                case ast.Assign(targets=[ast.Name(id="args_class")], value=value):
                    return world.resolve_class(ancestor.module.name, ast.unparse(value))
                case ast.AnnAssign(target=ast.Name(id="args_class"), value=ast.expr() as value):
                    return world.resolve_class(ancestor.module.name, ast.unparse(value))
    return None


def _search(world: World, name: str) -> Definition | None:
    """Find a definition that is re-exported in a way no import statement shows."""
    pattern = re.compile(rf"^(?:def {name}\(|{name}\s*=)", re.MULTILINE)
    for path in world.sources.glob("swift/*.py"):
        if pattern.search(world.sources.read(path)):
            found = world.resolve(module_name(path), name)
            if isinstance(found, Definition):
                return found
    return None


def _takes_config(world: World) -> bool:
    """Tell whether the command line itself, before any command, reads `--config FILE`."""
    module = world.module("swift.cli.main")
    nodes = ast.walk(module.tree) if module else ()
    return any(isinstance(n, ast.Constant) and n.value == "--config" for n in nodes)
