"""Names that code looks up in a register of its own: keys of a mapping, members, calls, tests."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from catalog.evaluate import Evaluator
from catalog.modules import Module
from catalog.sources import module_name
from catalog.world import World


def keys_of(world: World, folder: str, *names: str) -> set[str] | None:
    """Give the keys of a mapping, and those added to it one by one; None: some only a run tells."""
    found: set[str] = set()
    seen = False
    for module in _mentioning(world, folder, rf"\b(?:{'|'.join(names)})\b"):
        for node in ast.walk(module.tree):
            held = _held(node, names)
            if held is None:
                continue
            keys = _keys(world, module, held)
            if keys is None:
                return None
            found |= keys
            seen = True
    return found if seen else None


def _held(node: ast.AST, names: tuple[str, ...]) -> ast.expr | None:
    """Give what a statement puts into one of the mappings: a display, or the key of one element."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in names:
            return value
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value) if name in names:
            return value
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name), slice=key)]):
            return key if name in names else None
    return None


def _keys(world: World, module: Module, value: ast.expr) -> set[str] | None:
    inside = Evaluator(world, module)
    match value:
        case ast.Dict(keys=keys):
            texts = [inside.text(key) if key is not None else None for key in keys]
        case ast.DictComp(key=ast.Name(id=key), generators=[one]) if ast.unparse(one.target) == key:
            listed = inside.value(one.iter)
            texts = [str(item) for item in listed] if isinstance(listed, list) else [None]
        case ast.Name():
            # a key that came as an argument: `calls` reads who gives it
            return set()
        case _:
            texts = [inside.text(value)]
    return None if None in texts else {text for text in texts if text is not None}


def called_with(world: World, folder: str, pattern: str, keyword: str = "name") -> set[str]:
    """Give the names some functions are called with: first, or under the keyword."""
    found: set[str] = set()
    for module in _mentioning(world, folder, rf"\b(?:{pattern})\("):
        inside = Evaluator(world, module)
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Call) and re.fullmatch(pattern, ast.unparse(node.func)):
                given = [item.value for item in node.keywords if item.arg == keyword]
                texts = (inside.text(item) for item in (*given, *node.args[:1]))
                found |= {text for text in texts if text}
    return found


def members(world: World, folder: str, pattern: str) -> set[str]:
    """Give the texts that are the members of some classes (enumerations, classes of constants)."""
    found: set[str] = set()
    for module in _mentioning(world, folder, rf"^class (?:{pattern})\b"):
        inside = Evaluator(world, module)
        for node in module.tree.body:
            if not isinstance(node, ast.ClassDef) or not re.fullmatch(pattern, node.name):
                continue
            values = (item.value for item in node.body if isinstance(item, ast.Assign))
            found |= {text for value in values if (text := inside.text(value))}
    return found


def tested(world: World, folder: str, name: str) -> set[str]:
    """Give the texts a variable or attribute is compared with; `x*` for the beginnings."""
    found: set[str] = set()
    for module in _mentioning(world, folder, rf"\b{name}\b"):
        inside = Evaluator(world, module)
        for node in ast.walk(module.tree):
            match node:
                case ast.Compare(left=left, ops=[ast.Eq() | ast.In() | ast.NotIn()]):
                    if _is(left, name):
                        found |= _texts(inside, node.comparators[0])
                case ast.Call(func=ast.Attribute(value=value, attr="startswith"), args=[start]):
                    if _is(value, name):
                        found |= {f"{text}*" for text in _texts(inside, start)}
    return found


def _is(node: ast.expr, name: str) -> bool:
    """Tell whether an expression is `name`, `x.name`, or that in lower case."""
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr="lower"), args=[]):
            return _is(value, name)
        case ast.Name(id=found) | ast.Attribute(attr=found):
            return found == name
    return False


def _texts(inside: Evaluator, node: ast.expr) -> set[str]:
    value = inside.value(node)
    items = value if isinstance(value, list) else [value]
    return {str(item) for item in items if isinstance(item, str) and type(item) is str}


def texts_in(world: World, folder: str, function: str) -> set[str] | None:
    """Give every text in the sets and lists of a function; None when there is no such function."""
    for module in _mentioning(world, folder, rf"def {function}\("):
        for node in ast.walk(module.tree):
            if isinstance(node, ast.FunctionDef) and node.name == function:
                held = (x for x in ast.walk(node) if isinstance(x, (ast.Set, ast.List, ast.Tuple)))
                return {text for x in held for text in _texts(Evaluator(world, module), x)}
    return None


def _mentioning(world: World, folder: str, pattern: str) -> Iterator[Module]:
    wanted = re.compile(pattern, re.MULTILINE)
    for path in world.sources.glob(folder):
        if wanted.search(world.sources.read(path)):
            module = world.module(module_name(path))
            if module is not None:
                yield module
