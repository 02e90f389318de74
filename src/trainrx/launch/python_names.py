"""Which names a Python program binds, in which scope, and to which expression."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

MOST_PARTS = 64
"""Names in a dotted expression; longer ones are no value of an argument."""
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_UNDECIDED = (ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.Match)
MOST_BINDINGS = 200
"""Bindings of one name that are kept: no training program has as many."""
_PARAMETER = -1
"""Line of a parameter: it is bound before all that stands in its function."""

Conditions = tuple[tuple[ast.expr | None, bool], ...]
"""Tests and what each must be for a statement to run; None is one nobody can decide: a loop."""


class NameBinding(NamedTuple):
    """A name is bound: to an expression, or to an item of the tuple it is.

    `value` None: to what no single expression tells. `parameter`: the function that is called with
    it as `name`; `value` is its default then.
    """

    line: int
    value: ast.expr | None
    conditions: Conditions = ()
    item: int | None = None
    parameter: FunctionNode | None = None
    name: str = ""


class Scope:
    """The names of a module, a class or a function; what a class binds its methods do not see."""

    def __init__(self, parent: Scope | None, *, of_class: bool = False) -> None:
        self.of_class: bool = of_class
        self.parent: Scope | None = parent
        if parent is not None and parent.of_class:
            self.parent = parent.parent
        self.names: dict[str, list[NameBinding]] = {}

    def bind(self, name: str, binding: NameBinding) -> None:
        """Note that a name is bound here; of very many bindings the first are forgotten."""
        bound = self.names.setdefault(name, [])
        if len(bound) >= MOST_BINDINGS:
            bound[:] = [NameBinding(0, None)]
        bound.append(binding)


class Names:
    """All names of a program.

    `attributes` holds what is assigned to `a.b`, by that text; `calls` by the last name of what is
    called; `conditions` those under which a call runs, by the identity of its node.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.module = Scope(None)
        self.attributes: dict[str, list[NameBinding]] = {}
        self.calls: dict[str, list[ast.Call]] = {}
        self.classes: dict[str, ast.ClassDef] = {}
        self.conditions: dict[int, Conditions] = {}
        self.nodes: list[ast.AST] = []
        self._scopes: dict[int, Scope] = {}
        self._targets: dict[int, list[tuple[str, int | None]]] = {}
        self._walk(tree)

    def bindings(self, node: ast.Name) -> list[NameBinding]:
        """Give what a name may stand for where it is used, the last first.

        In its own scope what is bound above counts. A function may run at any time, so that all
        that is bound in a scope around it does.
        """
        scope: Scope | None = self._scopes.get(id(node), self.module)
        own = scope.names.get(node.id) if scope is not None else None
        if own:
            return [item for item in reversed(own) if item.line < node.lineno]
        while scope is not None and scope.parent is not None:
            scope = scope.parent
            if found := scope.names.get(node.id):
                undecided = [NameBinding(0, None)] if len(found) > 1 else []
                return [*undecided, *found]
        return []

    def targets(self, value: ast.expr) -> Iterator[tuple[str, int | None]]:
        """Give the names that are bound to an expression, or to items of the tuple it is."""
        yield from self._targets.get(id(value), ())

    def assigned(self, text: str, before: int) -> list[NameBinding]:
        """Give the assignments to `a.b` above a line, the last first."""
        return [item for item in reversed(self.attributes.get(text, ())) if item.line < before]

    def _walk(self, tree: ast.Module) -> None:
        waiting: list[tuple[ast.AST, Scope, Conditions]] = [(tree, self.module, ())]
        while waiting:
            node, scope, conditions = waiting.pop()
            self.nodes.append(node)
            self._note(node, scope, conditions)
            waiting += [
                (child, *self._place(node, child, scope, conditions))
                for child in reversed([*ast.iter_child_nodes(node)])
            ]

    def _place(
        self, node: ast.AST, child: ast.AST, scope: Scope, conditions: Conditions
    ) -> tuple[Scope, Conditions]:
        """Give the scope of a child, and the conditions under which it runs there."""
        if isinstance(node, FunctionNode):
            body = node.body if isinstance(node.body, list) else [node.body]
            return (self._scopes[id(node)], ()) if child in body else (scope, conditions)
        if isinstance(node, ast.ClassDef) and child in node.body:
            return self._scopes[id(node)], ()
        if isinstance(node, (ast.If, ast.IfExp)) and child is not node.test:
            holds = child is node.body if isinstance(node, ast.IfExp) else child in node.body
            own = () if _is_main(node.test) else ((node.test, holds),)
            return scope, (*conditions, *own)
        return scope, (*conditions, (None, True)) if isinstance(node, _UNDECIDED) else conditions

    def _note(self, node: ast.AST, scope: Scope, conditions: Conditions) -> None:
        if isinstance(node, ast.Name):
            self._scopes[id(node)] = scope
        elif isinstance(node, FunctionNode):
            own = self._scopes[id(node)] = Scope(scope)
            for name, default in parameters(node.args):
                own.bind(name, NameBinding(_PARAMETER, default, parameter=node, name=name))
        elif isinstance(node, ast.ClassDef):
            self._scopes[id(node)] = Scope(scope, of_class=True)
            self.classes[node.name] = node
        elif isinstance(node, ast.Call):
            self.calls.setdefault(text_of(node.func).rpartition(".")[2], []).append(node)
            self.conditions[id(node)] = conditions
        elif isinstance(node, ast.Global):
            for name in node.names:
                self.module.bind(name, NameBinding(node.lineno, None))
        for target, binding in _bindings(node, conditions):
            if isinstance(target, ast.Attribute):
                self.attributes.setdefault(text_of(target), []).append(binding)
            elif isinstance(target, ast.Name):
                scope.bind(target.id, binding)
                bound = (target.id, binding.item)
                self._targets.setdefault(id(binding.value), []).append(bound)


def text_of(node: ast.expr) -> str:
    """Write a dotted name (`trl.SFTConfig`), "" for what is none."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < MOST_PARTS:
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return parts[0] if parts else ""
    return ".".join((node.id, *reversed(parts)))


def _is_main(test: ast.expr) -> bool:
    """Tell `if __name__ == "__main__":`: a program that is started runs it."""
    return isinstance(test, ast.Compare) and text_of(test.left) == "__name__"


def parameters(args: ast.arguments) -> Iterator[tuple[str, ast.expr | None]]:
    """Give the parameters of a function in order, with their defaults."""
    plain = (*args.posonlyargs, *args.args)
    missing = len(plain) - len(args.defaults)
    yield from zip((a.arg for a in plain), (*(None,) * missing, *args.defaults), strict=True)
    yield from zip((a.arg for a in args.kwonlyargs), args.kw_defaults, strict=True)
    for rest in (args.vararg, args.kwarg):
        if rest is not None:
            yield rest.arg, None


def _bindings(node: ast.AST, conditions: Conditions) -> Iterator[tuple[ast.expr, NameBinding]]:
    """Give the targets a node binds."""
    line = getattr(node, "end_lineno", None) or 0
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _unpacked(target, NameBinding(line, node.value, conditions))
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        yield node.target, NameBinding(line, node.value, conditions)
    elif isinstance(node, ast.AugAssign):
        yield node.target, NameBinding(line, None, conditions)
    elif isinstance(node, ast.NamedExpr):
        yield node.target, NameBinding(line, node.value, (*conditions, (None, True)))
    elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        yield from _hidden(node.target, conditions)
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        yield from _hidden(node.optional_vars, conditions)


def _hidden(target: ast.expr, conditions: Conditions) -> Iterator[tuple[ast.expr, NameBinding]]:
    """Give the names of a target that no expression tells the value of."""
    for name in ast.walk(target):
        if isinstance(name, ast.Name):
            yield name, NameBinding(name.lineno - 1, None, conditions)


def _unpacked(target: ast.expr, bound: NameBinding) -> Iterator[tuple[ast.expr, NameBinding]]:
    if not isinstance(target, (ast.Tuple, ast.List)):
        yield target, bound
        return
    value = bound.value
    items: Sequence[ast.expr] = value.elts if isinstance(value, (ast.Tuple, ast.List)) else ()
    for number, part in enumerate(target.elts):
        if len(items) == len(target.elts):
            yield part, bound._replace(value=items[number])
        else:
            yield part, bound._replace(item=number)
