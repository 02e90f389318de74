"""What an expression of a Python program is, as far as it can be told without running it."""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence

MOST_PARTS = 64
"""Names in a dotted expression; longer ones are no value of an argument."""
MOST_NODES = 256
"""Nodes of a literal that is taken as a value."""
DTYPES = frozenset({"bfloat16", "float16", "float32", "half", "float"})


class Values:
    """Values of expressions; a name counts when it is bound once, and to a literal."""

    def __init__(self, nodes: Sequence[ast.AST]) -> None:
        bound: dict[str, list[ast.expr | None]] = {}
        for node in nodes:
            for name, value in _bindings(node):
                bound.setdefault(name, []).append(value)
        self._constants = {
            name: values[0] for name, values in bound.items() if len(values) == 1 and values[0]
        }

    def of(self, node: ast.expr) -> tuple[str, ...] | None:
        """Give the texts a configuration file would have; None when it is not known.

        True is "true", None is "null", a list its items, a mapping its JSON, `torch.bfloat16` the
        name of the type.
        """
        if isinstance(node, ast.Name):
            constant = self._constants.get(node.id)
            return None if constant is None else _literal(constant)
        if isinstance(node, ast.Attribute):
            owner, _, name = text_of(node).rpartition(".")
            return (name,) if owner == "torch" and name in DTYPES else None
        return _literal(node)


def text_of(node: ast.expr) -> str:
    """Write a dotted name (`trl.SFTConfig`), "" for what is none."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < MOST_PARTS:
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return parts[0] if parts else ""
    return ".".join((node.id, *reversed(parts)))


def _bindings(node: ast.AST) -> list[tuple[str, ast.expr | None]]:
    """Give the names a node binds, and the value where it is one expression for one name."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
        if isinstance(target, ast.Name):
            return [(target.id, node.value)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [(node.target.id, node.value)]
    if isinstance(node, ast.arg):
        return [(node.arg, None)]
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return [(node.target.id, None), (node.target.id, None)]
    if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension, ast.withitem, ast.NamedExpr)):
        return [(name, None) for name in _targets(node)]
    if isinstance(node, ast.Assign):
        names = (n for target in node.targets for n in ast.walk(target))
        return [(n.id, None) for n in names if isinstance(n, ast.Name)]
    return []


def _targets(
    node: ast.For | ast.AsyncFor | ast.comprehension | ast.withitem | ast.NamedExpr,
) -> list[str]:
    target = node.optional_vars if isinstance(node, ast.withitem) else node.target
    found = () if target is None else ast.walk(target)
    return [n.id for n in found if isinstance(n, ast.Name)]


def _literal(node: ast.expr) -> tuple[str, ...] | None:
    if sum(1 for _ in zip(ast.walk(node), range(MOST_NODES + 1), strict=False)) > MOST_NODES:
        return None
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None
    if isinstance(value, (list, tuple)):
        texts = [_text(item) for item in value]
        return tuple(text for text in texts if text is not None) if None not in texts else None
    text = _text(value)
    return None if text is None else (text,)


def _text(value: object) -> str | None:
    """Write one literal as a configuration file has it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float, str)):
        try:
            return str(value)
        except ValueError:  # an integer of more digits than Python writes
            return None
    if isinstance(value, dict):
        try:
            return json.dumps(value)
        except (TypeError, ValueError, RecursionError):
            return None
    return None
