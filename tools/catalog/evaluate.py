"""Read the value of an expression without running it."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping

from catalog.classes import class_value
from catalog.modules import Module
from catalog.world import DOTTED, Definition, World
from trainrx.model.catalog import Value

_DEEP = 25
_LARGE = 1e18
_MOST_BITS = 64
_OPERATIONS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
}
_COLLECTIONS = ("list", "tuple", "set", "sorted", "frozenset")
_METHODS = ("keys", "values", "lower", "upper", "replace")
_CASTS = ("int", "float", "str", "bool", "strtobool", "pp_int")


class Expr(str):
    """Source text of a value that only a run can tell."""

    __slots__ = ()


class _NotConstantError(Exception):
    """Only a run can tell the value."""


Read = Value | Expr
Scope = Mapping[str, ast.expr]


class Evaluator:
    """Values of expressions in one module; `scope` adds the names of a class body or function."""

    def __init__(self, world: World, module: Module, scope: Scope | None = None) -> None:
        self.world = world
        self.module = module
        self.scope = scope or {}

    def value(self, node: ast.expr, depth: int = 0) -> Read:
        """Give the value, an `Expr` when it is not constant."""
        try:
            return self._constant(node, depth)
        except _NotConstantError:
            return Expr(ast.unparse(node))

    def text(self, node: ast.expr) -> str | None:
        """Give the value when it is a constant text."""
        found = self.value(node)
        return found if isinstance(found, str) and not isinstance(found, Expr) else None

    def _constant(self, node: ast.expr, depth: int) -> Value:
        """Give the value.

        Raises:
            _NotConstantError: there is none.
        """
        if depth > _DEEP:
            raise _NotConstantError
        match node:
            case ast.Constant(value=None | bool() | int() | float() | str() as constant):
                found: Value = constant
            case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
                found = self._items(elements, depth + 1)
            case ast.Dict():
                found = self._dict(node, depth + 1)
            case ast.UnaryOp() | ast.BinOp() | ast.IfExp():
                found = self._operation(node, depth + 1)
            case ast.Lambda(body=body):
                found = self._constant(body, depth + 1)
            case ast.Name(id=name) if name in self.scope and self.scope[name] is not node:
                found = self._constant(self.scope[name], depth + 1)
            case ast.Name(id=name):
                found = self._defined(self.world.resolve(self.module.name, name), depth)
            case ast.Attribute():
                found = self._attribute(node, depth)
            case ast.Call():
                found = self._call(node, depth)
            case ast.JoinedStr(values=parts):
                found = "".join(self._text_of(part, depth + 1) for part in parts)
            case _:
                raise _NotConstantError
        return found

    def _holds(self, test: ast.expr, depth: int) -> bool:
        """Decide `name == "constant"`."""
        match test:
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
                sides = (self._constant(left, depth + 1), self._constant(right, depth + 1))
                return sides[0] == sides[1]
        raise _NotConstantError

    def _operation(self, node: ast.UnaryOp | ast.BinOp | ast.IfExp, depth: int) -> Value:
        if isinstance(node, ast.IfExp):
            return self._constant(
                node.body if self._holds(node.test, depth) else node.orelse, depth
            )
        if isinstance(node, ast.UnaryOp):
            return _negated(node.op, self._constant(node.operand, depth))
        left, right = (self._constant(side, depth) for side in (node.left, node.right))
        return _calculated(node.op, left, right)

    def _text_of(self, part: ast.expr, depth: int) -> str:
        """Give one part of a formatted text; only plain `{name}` is calculated."""
        plain = isinstance(part, ast.FormattedValue) and part.format_spec is None
        inner = part.value if plain and isinstance(part, ast.FormattedValue) else part
        found = self._constant(inner, depth)
        if isinstance(found, (str, int)) and not isinstance(found, bool):
            return str(found)
        raise _NotConstantError

    def _items(self, elements: list[ast.expr], depth: int) -> list[Value]:
        out: list[Value] = []
        for element in elements:
            if isinstance(element, ast.Starred):
                out += _as_list(self._constant(element.value, depth))
            else:
                out.append(self._constant(element, depth))
        return out

    def _dict(self, node: ast.Dict, depth: int) -> dict[str, Value]:
        """Read a dictionary; a value in it may be {"expr": source}, a key may not."""
        out: dict[str, Value] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            name = self._constant(key, depth) if key is not None else None
            if isinstance(name, str):
                out[name] = _plain(self.value(value, depth))
                continue
            inner = self._constant(value, depth) if key is None else None
            if not isinstance(inner, dict):
                raise _NotConstantError
            out.update(inner)
        return out

    def _attribute(self, node: ast.Attribute, depth: int) -> Value:
        text = ast.unparse(node)
        if not DOTTED.fullmatch(text):
            raise _NotConstantError
        if node.attr in ("value", "name"):
            # of a member of an enumeration
            try:
                return self._constant(node.value, depth + 1)
            except _NotConstantError:
                pass
        head, _, rest = text.rpartition(".")
        owner = self.world.resolve_class(self.module.name, head)
        if owner is not None:
            return self._defined(class_value(self.world, owner, rest), depth)
        return self._defined(self.world.resolve(self.module.name, text), depth)

    def _defined(self, found: object, depth: int) -> Value:
        """Evaluate a definition in the module it stands in."""
        if not isinstance(found, Definition) or not isinstance(found.node, ast.expr):
            raise _NotConstantError
        return Evaluator(self.world, found.module)._constant(found.node, depth + 1)  # noqa: SLF001

    def _call(self, node: ast.Call, depth: int) -> Value:
        name = ast.unparse(node.func)
        if name == "dict" and not node.args and all(k.arg for k in node.keywords):
            return {str(k.arg): _plain(self.value(k.value, depth + 1)) for k in node.keywords}
        if name in _COLLECTIONS:
            return _as_list(self._constant(node.args[0], depth + 1)) if node.args else []
        if name == "get_field" and len(node.args) == 2:
            # vLLM: the default of a field of a configuration class
            return self._field_of(node, depth)
        if len(node.args) == 1 and not node.keywords:
            if name in _CASTS:
                return _cast(name, self._constant(node.args[0], depth + 1))
            if name.rpartition(".")[2] == "get_args":
                return self._allowed(node.args[0])
        if isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
            owner = self._constant(node.func.value, depth + 1)
            return _method(owner, node.func.attr, self._items(node.args, depth + 1))
        raise _NotConstantError

    def _field_of(self, node: ast.Call, depth: int) -> Value:
        owner = self.world.resolve_class(self.module.name, ast.unparse(node.args[0]))
        name = self.text(node.args[1])
        if owner is None or name is None:
            raise _NotConstantError
        return self._defined(class_value(self.world, owner, name), depth)

    def _allowed(self, node: ast.expr) -> Value:
        # annotations are read with the help of this module
        from catalog.annotations import choices

        found = choices(self.world, self.module, node)
        if found is None:
            raise _NotConstantError
        return found


def _method(owner: Value, name: str, given: list[Value]) -> Value:
    if isinstance(owner, dict) and not given and name in ("keys", "values"):
        return list(owner if name == "keys" else owner.values())
    if isinstance(owner, str) and not given and name in ("lower", "upper"):
        return owner.lower() if name == "lower" else owner.upper()
    if isinstance(owner, str) and name == "replace" and len(given) == 2:
        return owner.replace(str(given[0]), str(given[1]))
    raise _NotConstantError


def _negated(op: ast.unaryop, value: Value) -> Value:
    if isinstance(op, ast.Not) and isinstance(value, bool):
        return not value
    if isinstance(op, ast.USub) and isinstance(value, (int, float)):
        return -value
    raise _NotConstantError


def _calculated(op: ast.operator, left: Value, right: Value) -> Value:
    if isinstance(op, ast.Add) and isinstance(left, str) and isinstance(right, str):
        return left + right
    if isinstance(op, ast.Add) and isinstance(left, list) and isinstance(right, list):
        return left + right
    if not isinstance(left, (int, float)) or not isinstance(right, (int, float)):
        raise _NotConstantError
    if isinstance(op, ast.LShift) and isinstance(left, int) and isinstance(right, int):
        return left << min(max(right, 0), _MOST_BITS)
    operation = _OPERATIONS.get(type(op))
    too_large = isinstance(op, ast.Pow) and abs(right) > _MOST_BITS
    if operation is None or too_large:
        raise _NotConstantError
    try:
        result = operation(left, right)
    except (ZeroDivisionError, OverflowError):
        raise _NotConstantError from None
    if isinstance(result, complex) or abs(result) > _LARGE:
        raise _NotConstantError
    return result


def _cast(kind: str, value: Value) -> Value:
    if not isinstance(value, (bool, int, float, str)):
        raise _NotConstantError
    try:
        if kind in ("int", "pp_int"):
            return int(value)
        if kind == "float":
            return float(value)
    except ValueError:
        raise _NotConstantError from None
    if kind == "str":
        return str(value)
    if not isinstance(value, bool):
        raise _NotConstantError
    return value


def _as_list(value: Value) -> list[Value]:
    if not isinstance(value, (list, dict)):
        raise _NotConstantError
    return list(value)


def _plain(value: Read) -> Value:
    return {"expr": str(value)} if isinstance(value, Expr) else value
