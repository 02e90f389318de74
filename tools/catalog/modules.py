"""One Python module, parsed: which name is bound to what."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Literal, NamedTuple


class Binding(NamedTuple):
    """One statement that gives a name its meaning.

    `fallback` marks what stands in an `except` branch. `module` and `name` say what is imported.
    """

    kind: Literal["definition", "value", "from", "import"]
    node: ast.AST | None
    fallback: bool
    module: str = ""
    name: str = ""


class Module:
    """The bindings at the top of a module, in the order of the source."""

    def __init__(self, name: str, source: str, *, is_package: bool) -> None:
        self.name = name
        self.is_package = is_package
        self.tree = ast.parse(source)
        self.bindings: dict[str, list[Binding]] = {}
        self.stars: list[str] = []
        self._read(self.tree.body, fallback=False)

    def candidates(self, name: str) -> Sequence[Binding]:
        """Give what a name may be, most likely first: the last one outside an `except`."""
        bound = self.bindings.get(name, [])
        return [b for b in reversed(bound) if not b.fallback] or bound[::-1]

    def imported_from(self, node: ast.ImportFrom) -> str:
        """Give the absolute name of the module an import statement names."""
        if not node.level:
            return node.module or ""
        parts = self.name.split(".")
        drop = node.level - (1 if self.is_package else 0)
        parts = parts[: len(parts) - drop] if drop else parts
        return ".".join([*parts, node.module] if node.module else parts)

    def _bind(self, name: str, binding: Binding) -> None:
        self.bindings.setdefault(name, []).append(binding)

    def _read(self, body: Sequence[ast.stmt], *, fallback: bool) -> None:
        for statement in body:
            match statement:
                case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                    self._bind(statement.name, Binding("definition", statement, fallback))
                case ast.Assign():
                    for target in statement.targets:
                        if isinstance(target, ast.Name):
                            self._bind(target.id, Binding("value", statement.value, fallback))
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    self._bind(name, Binding("value", value, fallback))
                case ast.ImportFrom() | ast.Import():
                    self._read_import(statement, fallback=fallback)
                case _:
                    self._read_block(statement, fallback=fallback)

    def _read_import(self, node: ast.ImportFrom | ast.Import, *, fallback: bool) -> None:
        for alias in node.names:
            if isinstance(node, ast.Import):
                whole = alias.name if alias.asname else alias.name.split(".")[0]
                self._bind(alias.asname or whole, Binding("import", None, fallback, whole))
            elif alias.name == "*":
                self.stars.append(self.imported_from(node))
            else:
                binding = Binding("from", None, fallback, self.imported_from(node), alias.name)
                self._bind(alias.asname or alias.name, binding)

    def _read_block(self, statement: ast.stmt, *, fallback: bool) -> None:
        """Read what stands below `if`, `try` and `with`."""
        if isinstance(statement, (ast.If, ast.Try, ast.With)):
            self._read(statement.body, fallback=fallback)
        if isinstance(statement, ast.Try):
            for handler in statement.handlers:
                self._read(handler.body, fallback=True)
            self._read(statement.finalbody, fallback=fallback)
        if isinstance(statement, (ast.If, ast.Try)):
            self._read(statement.orelse, fallback=fallback)
