"""Literals, operators and names of a Python program, told without running it."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import singledispatchmethod

from trainrx.frameworks.common.view import UNKNOWN
from trainrx.launch.python_literals import (
    LONGEST,
    arithmetic,
    compared,
    is_known,
    item_of,
    signed,
    texts_of,
)
from trainrx.launch.python_names import Conditions, FunctionNode, NameBinding, Names

MOST_DEPTH = 40
MOST_STEPS = 20_000
"""Expressions looked at in one program."""


class Expressions(ABC):
    """Values of the expressions of one program; what is called is not known here."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self._left = MOST_STEPS
        self._known: dict[int, object] = {}

    def of(self, node: ast.expr) -> tuple[str, ...] | None:
        """Give the texts a configuration file would have; None when it is not known.

        True is "true", None is "null", a list its items, a mapping its JSON, `torch.bfloat16` the
        name of the type.
        """
        value = self.value(node)
        return texts_of(value) if is_known(value) else None

    def value(self, node: ast.expr | None, depth: int = 0) -> object:
        """Give what an expression is, `UNKNOWN` where that takes more than its text."""
        if id(node) in self._known:
            return self._known[id(node)]
        self._left -= 1
        if node is None or depth > MOST_DEPTH or self._left < 0:
            return UNKNOWN
        try:
            found = self._value(node, depth + 1)
        except (ArithmeticError, LookupError, TypeError, ValueError, RecursionError):
            return UNKNOWN
        if depth < MOST_DEPTH // 2:  # deeper ones may only be too deep
            self._known[id(node)] = found
        return found

    def holds(self, conditions: Conditions, depth: int = 0) -> bool | None:
        """Tell whether a statement under conditions runs; None when that cannot be told."""
        unsure = False
        for test, wanted in conditions:
            found = UNKNOWN if test is None else self.value(test, depth)
            if found is UNKNOWN:
                unsure = True
            elif bool(found) is not wanted:
                return False
        return None if unsure else True

    def bound(self, bindings: Sequence[NameBinding], depth: int) -> object:
        """Give what the last binding that holds binds."""
        for binding in bindings:
            holds = self.holds(binding.conditions, depth)
            if holds is None:
                return UNKNOWN
            if holds and binding.parameter is not None:
                return self.passed(binding, binding.parameter, depth)
            if holds:
                whole = self.value(binding.value, depth)
                return whole if binding.item is None else item_of(whole, binding.item)
        return UNKNOWN

    @abstractmethod
    def passed(self, binding: NameBinding, function: FunctionNode, depth: int) -> object:
        """Give what a function is called with."""

    @abstractmethod
    def attribute(self, node: ast.Attribute, depth: int) -> object:
        """Give what `a.b` is."""

    @abstractmethod
    def called(self, node: ast.Call, depth: int) -> object:
        """Give what a call gives."""

    @singledispatchmethod
    def _value(self, _node: ast.expr, _depth: int) -> object:
        return UNKNOWN

    @_value.register
    def _(self, node: ast.Constant, _depth: int) -> object:
        plain = node.value is None or isinstance(node.value, (bool, int, float, str))
        return node.value if plain else UNKNOWN

    @_value.register
    def _(self, node: ast.Name, depth: int) -> object:
        return self.bound(self.names.bindings(node), depth)

    @_value.register(ast.List)
    @_value.register(ast.Tuple)
    @_value.register(ast.Set)
    def _(self, node: ast.List | ast.Tuple | ast.Set, depth: int) -> object:
        return [self.value(item, depth) for item in node.elts[:LONGEST]]

    @_value.register
    def _(self, node: ast.BinOp, depth: int) -> object:
        return arithmetic(node.op, self.value(node.left, depth), self.value(node.right, depth))

    @_value.register
    def _(self, node: ast.UnaryOp, depth: int) -> object:
        return signed(node.op, self.value(node.operand, depth))

    @_value.register
    def _(self, node: ast.Compare, depth: int) -> object:
        if len(node.ops) > 1:
            return UNKNOWN
        right = self.value(node.comparators[0], depth)
        return compared(node.ops[0], self.value(node.left, depth), right)

    @_value.register
    def _(self, node: ast.IfExp, depth: int) -> object:
        test = self.value(node.test, depth)
        chosen = node.body if test is not UNKNOWN and test else node.orelse
        return UNKNOWN if test is UNKNOWN else self.value(chosen, depth)

    @_value.register
    def _(self, node: ast.JoinedStr, depth: int) -> object:
        parts = [self.value(part, depth) for part in node.values]
        return "".join(map(str, parts))[:LONGEST] if is_known(parts) else UNKNOWN

    @_value.register
    def _(self, node: ast.FormattedValue, depth: int) -> object:
        plain = node.format_spec is None and node.conversion == -1
        return self.value(node.value, depth) if plain else UNKNOWN

    @_value.register
    def _(self, node: ast.Subscript, depth: int) -> object:
        return item_of(self.value(node.value, depth), self.value(node.slice, depth))

    @_value.register
    def _(self, node: ast.BoolOp, depth: int) -> object:
        """Give what `a or b` and `a and b` end up with."""
        found: object = UNKNOWN
        for part in node.values:
            found = self.value(part, depth)
            if found is UNKNOWN or bool(found) is isinstance(node.op, ast.Or):
                return found
        return found

    @_value.register
    def _(self, node: ast.Dict, depth: int) -> object:
        found: dict[object, object] = {}
        for key, item in zip(node.keys, node.values, strict=True):
            value = self.value(item, depth)
            if key is not None:
                found[self.value(key, depth)] = value
            elif isinstance(value, dict):
                found |= value
            else:
                return UNKNOWN
        return UNKNOWN if UNKNOWN in found else found

    @_value.register
    def _(self, node: ast.Attribute, depth: int) -> object:
        return self.attribute(node, depth)

    @_value.register
    def _(self, node: ast.Call, depth: int) -> object:
        return self.called(node, depth)
