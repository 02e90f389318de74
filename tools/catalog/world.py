"""Follow names through imports and re-exports to the statement that defines them."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from catalog.modules import Binding, Module
from catalog.sources import Sources

_DEEP = 40
DOTTED = re.compile(r"[\w.]+")


class Definition(NamedTuple):
    """A statement or value that defines a name, and the module it stands in."""

    module: Module
    node: ast.AST
    name: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Definition) and self.node is other.node

    def __hash__(self) -> int:
        return id(self.node)

    @property
    def dotted(self) -> str:
        """Full name."""
        return f"{self.module.name}.{self.name}"


class External(NamedTuple):
    """A name that leads out of the files at hand."""

    dotted: str


Found = Definition | External


class World:
    """The modules of one release."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self._tops = {path.split("/")[0].removesuffix(".py") for path in sources.glob("*.py")}
        self._modules: dict[str, Module | None] = {}
        self._resolved: dict[tuple[str, str], Found | None] = {}

    def module(self, dotted: str) -> Module | None:
        """Give a module, None when there is no such file or it is not Python 3."""
        if dotted not in self._modules:
            self._modules[dotted] = self._load(dotted)
        return self._modules[dotted]

    def resolve(self, module: str, name: str, depth: int = 0) -> Found | None:
        """Say what a name means in a module; the name may be dotted (`package.Class`)."""
        key = (module, name)
        if key not in self._resolved:
            if depth > _DEEP:
                return None
            # a cycle of re-exports ends here
            self._resolved[key] = None
            self._resolved[key] = self._resolve(module, name, depth + 1)
        return self._resolved[key]

    def resolve_class(self, module: str, name: str) -> Definition | None:
        """Give the class a name stands for."""
        found = self.resolve(module, name) if DOTTED.fullmatch(name) else None
        is_class = isinstance(found, Definition) and isinstance(found.node, ast.ClassDef)
        return found if is_class and isinstance(found, Definition) else None

    def holds(self, module: str) -> bool:
        """Tell whether a module belongs to a package at hand."""
        return module.split(".", maxsplit=1)[0] in self._tops

    def _load(self, dotted: str) -> Module | None:
        stem = dotted.replace(".", "/")
        for path, is_package in ((f"{stem}/__init__.py", True), (f"{stem}.py", False)):
            if path in self.sources:
                try:
                    return Module(dotted, self.sources.read(path), is_package=is_package)
                except SyntaxError:
                    return None
        return None

    def _resolve(self, module: str, name: str, depth: int) -> Found | None:
        if "." in name:
            return self._resolve_dotted(module, name, depth)
        here = self.module(module)
        if here is None:
            return None if self.holds(module) else External(f"{module}.{name}")
        candidates = here.candidates(name)
        for binding in candidates:
            found = self._bound(here, name, binding, depth, alone=len(candidates) == 1)
            if found is not None:
                return found
        for star in reversed(here.stars):
            found = self.resolve(star, name, depth)
            if isinstance(found, Definition):
                return found
        is_module = self.module(f"{module}.{name}") is not None
        return External(f"{module}.{name}") if is_module else None

    def _bound(
        self, here: Module, name: str, binding: Binding, depth: int, *, alone: bool
    ) -> Found | None:
        if binding.kind == "import":
            return External(binding.module)
        if binding.kind == "from":
            return self._imported(binding.module, binding.name, depth)
        node = binding.node
        if node is None:
            return None
        if isinstance(node, ast.Constant) and node.value is None and not alone:
            # a placeholder beside a real import
            return None
        if isinstance(node, ast.Name) and node.id != name:
            found = self.resolve(here.name, node.id, depth)
            if found is not None:
                return found
        return Definition(here, node, name)

    def _imported(self, module: str, name: str, depth: int) -> Found | None:
        if not self.holds(module):
            return External(f"{module}.{name}")
        found = self.resolve(module, name, depth)
        if found is None and self.module(f"{module}.{name}") is not None:
            return External(f"{module}.{name}")
        return found

    def _resolve_dotted(self, module: str, name: str, depth: int) -> Found | None:
        head, _, rest = name.partition(".")
        found = self.resolve(module, head, depth)
        if not isinstance(found, External):
            return None
        if self.module(found.dotted) is not None:
            return self.resolve(found.dotted, rest, depth)
        return External(f"{found.dotted}.{rest}")
