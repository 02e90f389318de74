"""vLLM: the engine's class of arguments, and `vllm serve`.

Since 0.8.5 most options are made from the fields of configuration classes:
https://github.com/vllm-project/vllm/blob/v0.8.5/vllm/engine/arg_utils.py (`get_kwargs`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from catalog.evaluate import Evaluator
from catalog.fields import class_command, class_fields
from catalog.modules import Module
from catalog.parsers import option_names, read_argument
from catalog.sources import Sources, module_name
from catalog.tables import Argument, Command, Table
from catalog.world import Definition, World

_ENGINE = "vllm.engine.arg_utils"
_MADE = ("get_kwargs", "_compute_kwargs")
_FRONT = ("vllm/entrypoints/*cli_args.py", "vllm/entrypoints/cli/serve.py", "vllm/scripts.py")


def read_commands(sources: Sources) -> dict[str, Command]:
    """Read the class `EngineArgs` and the command `serve`."""
    world = World(sources)
    out: dict[str, Command] = {}
    engine = world.resolve_class(_ENGINE, "EngineArgs")
    if engine is not None:
        out["EngineArgs"] = class_command(world, engine)
    table: Table = {}
    arguments = world.module(_ENGINE)
    if arguments is not None:
        table |= _Options(world, arguments).read(arguments.tree)
    for path in sources.glob(*_FRONT):
        module = world.module(module_name(path))
        if module is not None:
            table |= _front(world, module)
    out["serve"] = Command(table)
    return out


def _front(world: World, module: Module) -> Table:
    """Read the server's own options: written out, or the fields of `FrontendArgs`."""
    table = _Options(world, module).read(module.tree)
    found = world.resolve_class(module.name, "FrontendArgs")
    if found is not None:
        fields = class_fields(world, found)
        table |= {n: a._replace(type=_as_option(a.type)) for n, a in fields.items()}
    return table


class _Options:
    """Reads `add_argument` calls whose keywords may come from the field of a class."""

    def __init__(self, world: World, module: Module) -> None:
        self._world, self._module = world, module

    def read(self, tree: ast.AST) -> Table:
        """Read the calls of every function below a node that is not a subcommand of its own."""
        table: Table = {}
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef):
                for name, argument in self._of_function(function):
                    table[name] = argument
        return table

    def _of_function(self, function: ast.FunctionDef) -> Iterator[tuple[str, Argument]]:
        inside = Evaluator(self._world, self._module)
        made = self._made(function)
        for call in ast.walk(function):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
                continue
            options = [text for argument in call.args if (text := inside.text(argument))]
            if call.func.attr != "add_argument" or not options or options[0][0] != "-":
                continue
            keywords = {k.arg: k.value for k in call.keywords if k.arg}
            name, aliases = option_names(options, inside, keywords)
            given = [k.value for k in call.keywords if k.arg is None]
            field = self._field(given[0], made) if given else None
            if field is None:
                yield name, read_argument(inside, keywords, aliases)
                continue
            field = field._replace(type=_as_option(field.type), aliases=aliases)
            if "default" in keywords:
                field = field._replace(default=read_argument(inside, keywords).default)
            yield name, field

    def _made(self, function: ast.FunctionDef) -> dict[str, Table | Argument]:
        """Give the variables that hold options made from a class, or one of them."""
        found: dict[str, Table | Argument] = {}
        for statement in ast.walk(function):
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.expr() as value):
                    made = self._from_class(value)
                    if made is not None:
                        found[name] = made
        return found

    def _from_class(self, value: ast.expr) -> Table | Argument | None:
        match value:
            case ast.Call(func=ast.Name(id=name), args=[ast.expr() as cls]) if name in _MADE:
                found = self._world.resolve_class(self._module.name, ast.unparse(cls))
                return class_fields(self._world, found) if isinstance(found, Definition) else None
            case ast.Subscript(value=ast.expr() as inner, slice=ast.Constant(value=str() as key)):
                table = self._from_class(inner)
                return table.get(key) if isinstance(table, dict) else None
        return None

    def _field(self, node: ast.expr, made: dict[str, Table | Argument]) -> Argument | None:
        match node:
            case ast.Name(id=name):
                found = made.get(name)
                return found if isinstance(found, Argument) else None
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str() as key)):
                table = made.get(name)
                return table.get(key) if isinstance(table, dict) else None
        return None


def _as_option(type_: str) -> str:
    """Give the type of the option that is made from a field: a boolean becomes a pair of flags."""
    words = set(re.findall(r"\w+", type_))
    if "bool" in words and "str" in words:
        return "Optional[str]"
    return "BooleanOptionalAction" if "bool" in words and "list" not in words else type_
