"""Read annotations: the type as text, and the values a Literal or an enumeration allows."""

from __future__ import annotations

import ast
from copy import deepcopy

from catalog.classes import class_node, is_enum
from catalog.evaluate import Evaluator, Expr
from catalog.modules import Module
from catalog.world import DOTTED, Definition, World
from trainrx.model.catalog import Value

_DEEP = 12
_TRANSPARENT = ("Optional", "Union", "List", "list", "Sequence", "tuple", "Tuple", "set", "Set")


def type_text(world: World, module: Module, annotation: ast.expr) -> str:
    """Write a type: aliases followed, `typing.` left out, `Literal[...]` without its values."""
    plain = _Plain(world, module, 0).visit_inner(parsed_annotation(annotation))
    return " ".join(ast.unparse(plain).split())


def choices(
    world: World, module: Module, annotation: ast.expr, depth: int = 0
) -> list[Value] | None:
    """Give the values a Literal or an enumeration inside an annotation allows."""
    node = parsed_annotation(annotation)
    if depth > _DEEP:
        return None
    match node:
        case ast.Subscript():
            return _of_subscript(world, module, node, depth)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            parts = [choices(world, module, side, depth + 1) or [] for side in (left, right)]
            return _joined(parts)
        case ast.Name() | ast.Attribute():
            text = ast.unparse(node)
            found = world.resolve(module.name, text) if DOTTED.fullmatch(text) else None
            if isinstance(found, Definition):
                return _of_definition(world, found, depth)
    return None


def enum_values(world: World, cls: Definition) -> list[Value]:
    """Give the values of an enumeration, in order."""
    inside = Evaluator(world, cls.module)
    found: list[Value] = []
    for statement in class_node(cls).body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            value = inside.value(statement.value)
            if isinstance(value, (str, int)) and not isinstance(value, Expr):
                found.append(value)
    return found


def _of_definition(world: World, found: Definition, depth: int) -> list[Value] | None:
    if isinstance(found.node, ast.ClassDef):
        return (enum_values(world, found) or None) if is_enum(found.node) else None
    if isinstance(found.node, ast.expr) and not isinstance(found.node, ast.Constant):
        return choices(world, found.module, found.node, depth + 1)
    return None


def _of_subscript(
    world: World, module: Module, node: ast.Subscript, depth: int
) -> list[Value] | None:
    head = ast.unparse(node.value).rpartition(".")[2]
    items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if head == "Literal":
        inside = Evaluator(world, module)
        read = [inside.value(item) for item in items]
        known = [v for v in read if not isinstance(v, Expr)]
        return _joined([v if isinstance(v, list) else [v] for v in known])
    if head == "Annotated":
        return choices(world, module, items[0], depth + 1)
    if head in _TRANSPARENT:
        return _joined([choices(world, module, item, depth + 1) or [] for item in items])
    return None


def _joined(parts: list[list[Value]]) -> list[Value] | None:
    out: list[Value] = []
    for part in parts:
        out.extend(value for value in part if value not in out)
    return out or None


def parsed_annotation(annotation: ast.expr) -> ast.expr:
    """Undo the quotes of an annotation written as text."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            return ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return annotation
    return annotation


class _Plain(ast.NodeTransformer):
    """Follow aliases of types, drop module names and the values of Literal."""

    def __init__(self, world: World, module: Module, depth: int) -> None:
        self._world, self._module, self._depth = world, module, depth

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """Simplify Literal and Annotated, else go on inside."""
        head = ast.unparse(node.value).rpartition(".")[2]
        if head == "Literal":
            return ast.Name(id="Literal")
        if head == "Annotated" and isinstance(node.slice, ast.Tuple):
            return self._inner(node.slice.elts[0])
        return ast.Subscript(value=ast.Name(id=head), slice=self._inner(node.slice), ctx=ast.Load())

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        """Undo quotes inside."""
        parsed = parsed_annotation(node)
        return node if parsed is node else self._inner(parsed)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Keep the last part of `typing.Optional`."""
        return self.visit_Name(ast.Name(id=node.attr), ast.unparse(node))

    def visit_Name(self, node: ast.Name, text: str = "") -> ast.expr:
        """Put what an alias stands for in its place."""
        if self._depth > _DEEP:
            return node
        text = text or node.id
        found = self._world.resolve(self._module.name, text) if DOTTED.fullmatch(text) else None
        if isinstance(found, Definition) and isinstance(found.node, (ast.Subscript, ast.BinOp)):
            below = _Plain(self._world, found.module, self._depth + 1)
            return below.visit_inner(found.node)
        return ast.Name(id=node.id)

    def visit_inner(self, node: ast.expr) -> ast.expr:
        """Simplify an expression."""
        return self._inner(node)

    def _inner(self, node: ast.expr) -> ast.expr:
        # the tree is read again for other commands: it must stay as it is
        found = self.visit(deepcopy(node))
        return found if isinstance(found, ast.expr) else node
