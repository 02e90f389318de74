"""Read `add_argument` calls."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterator, Mapping

from catalog.evaluate import Evaluator, Expr
from catalog.modules import Module
from catalog.tables import Argument, Table, plain_value
from catalog.world import World
from trainrx.model.catalog import Value

Keywords = Mapping[str, ast.expr]

FLAGS = ("store_true", "store_false", "store_const", "count", "append", "append_const")
_OWN_ACTIONS = {"check_env": "store_true", "env": ""}
"""Actions torch's launcher defines: both look a default up in the environment."""


def function_parser(world: World, module: str, function: str = "") -> Table:
    """Read the calls in one function of a module, or in the whole module."""
    here = world.module(module)
    if here is None:
        return {}
    for node in ast.walk(here.tree):
        named = isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == function
        if named or not function:
            return read_parser(world, here, node)
    return {}


def read_parser(world: World, module: Module, node: ast.AST) -> Table:
    """Read every `add_argument` call below a node; what is added twice is described by the last."""
    table: Table = {}
    for call, scope in _calls(world, module, node, local_values(node)):
        inside = Evaluator(world, module, scope)
        keywords = {k.arg: k.value for k in call.keywords if k.arg}
        names = [inside.text(argument) for argument in call.args]
        options = [name for name in names if name]
        if options and len(options) == len(names):
            name, aliases = option_names(options, inside, keywords)
            if name in table and "dest" in keywords:
                # a second way to set the same: `--x` and `--no_x`
                name, aliases = option_names(options, inside, {})
            table[name] = read_argument(inside, keywords, aliases)
    return table


def _calls(
    world: World, module: Module, node: ast.AST, scope: Mapping[str, ast.expr]
) -> Iterator[tuple[ast.Call, Mapping[str, ast.expr]]]:
    """Find the calls in the order of `ast.walk`; those of a loop once for each of its constants."""
    later: list[tuple[ast.For, list[str]]] = []
    queue = deque([node])
    while queue:
        current = queue.popleft()
        if isinstance(current, ast.For) and isinstance(current.target, ast.Name):
            listed = Evaluator(world, module, scope).value(current.iter)
            values = listed if isinstance(listed, list) else []
            texts = [value for value in values if isinstance(value, str)]
            if texts and len(texts) == len(values):
                later.append((current, texts))
                continue
        match current:
            case ast.Call(func=ast.Attribute(attr="add_argument")):
                yield current, scope
        queue.extend(ast.iter_child_nodes(current))
    for loop, turns in later:
        body = ast.Module(body=loop.body, type_ignores=[])
        for value in turns:
            turn = {**scope, ast.unparse(loop.target): ast.Constant(value)}
            yield from _calls(world, module, body, turn)


def local_values(node: ast.AST) -> dict[str, ast.expr]:
    """Give the names a function assigns once, at its own level."""
    found: dict[str, ast.expr] = {}
    if isinstance(node, ast.FunctionDef):
        for statement in node.body:
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                found[statement.targets[0].id] = statement.value
    return found


def option_names(
    options: list[str], inside: Evaluator, keywords: Keywords
) -> tuple[str, tuple[str, ...]]:
    """Give the name an option is stored under and its other spellings.

    Dashes and underscores are not told apart; a short option keeps its dash.
    """
    long = [option for option in options if option.startswith("--")] or options
    dest = inside.text(keywords["dest"]) if "dest" in keywords else None
    name = _plain(dest or long[0])
    spellings = [o if o[:1] == "-" and o[1:2] != "-" else _plain(o) for o in options]
    return name, tuple(dict.fromkeys(s for s in spellings if s != name))


def read_argument(inside: Evaluator, keywords: Keywords, aliases: tuple[str, ...] = ()) -> Argument:
    """Read the keywords of one call."""
    action = _action(inside, keywords)
    required = "required" in keywords and inside.value(keywords["required"]) is True
    allowed = inside.value(keywords["choices"]) if "choices" in keywords else None
    return Argument(
        type=_type(inside, keywords, action),
        default={"required": True} if required else _default(inside, keywords, action),
        choices=constants(allowed),
        aliases=aliases,
    )


def constants(listed: object) -> tuple[Value, ...] | None:
    """Give a list of choices, None when one of them is not constant."""
    if not isinstance(listed, list) or any(isinstance(v, (Expr, dict)) for v in listed):
        return None
    return tuple(listed) or None


def _plain(option: str) -> str:
    return option.lstrip("-").replace("-", "_")


def _action(inside: Evaluator, keywords: Keywords) -> str:
    if "action" not in keywords:
        return ""
    action = str(inside.value(keywords["action"])).rpartition(".")[2]
    return _OWN_ACTIONS.get(action, action)


def _default(inside: Evaluator, keywords: Keywords, action: str) -> Value:
    if "default" in keywords:
        return plain_value(inside.value(keywords["default"]))
    return {"store_true": False, "store_false": True}.get(action)


def _type(inside: Evaluator, keywords: Keywords, action: str) -> str:
    """Name what an option takes: an action without a value, or the type of its values."""
    base = ast.unparse(keywords["type"]).rpartition(".")[2] if "type" in keywords else "str"
    if not base.isidentifier():
        base = "str"
    if action in FLAGS and action != "append":
        return action
    if action == "BooleanOptionalAction":
        return action
    count = inside.value(keywords["nargs"]) if "nargs" in keywords else None
    if count == "?":
        return f"Optional[{base}]"
    several = count in ("*", "+") or (isinstance(count, int) and not isinstance(count, Expr))
    if several:
        return f"List[{base}]"
    if action == "append":
        return f"append[{base}]"
    return "remainder" if count in ("...", "argparse.REMAINDER", "REMAINDER") else base
