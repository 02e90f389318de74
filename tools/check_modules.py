"""Hold two rules of the house: a record's name stands once, and a small module has several users.

A module under sixty lines that one neighbour alone imports belongs into that neighbour; a few may
stand all the same (what is found by folder, what keeps a heavy import apart).
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"
SMALL = 60
MOST_SMALL = 15


def trees(source: Path = SOURCE) -> dict[str, ast.Module]:
    """Parse all modules, by dotted name."""
    found = {}
    for path in sorted(source.rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        name = ".".join(parts).removesuffix(".__init__")
        found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def repeated_names(modules: Mapping[str, ast.Module]) -> Iterator[str]:
    """Give public classes whose name stands in several modules."""
    places: dict[str, list[str]] = defaultdict(list)
    for module, tree in modules.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(module)
    for name, held in sorted(places.items()):
        if len(held) > 1:
            yield f"{name} stands in {', '.join(held)}"


def imports(module: ast.Module, known: Mapping[str, ast.Module]) -> Iterator[str]:
    """Name the modules a module imports, wherever in it."""
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and node.module:
            whole = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (name if name in known else node.module for name in whole)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def small_modules(modules: Mapping[str, ast.Module]) -> Iterator[str]:
    """Give small modules that one module of their own package alone imports."""
    users: dict[str, set[str]] = defaultdict(set)
    for user, tree in modules.items():
        for name in imports(tree, modules):
            if name != user:
                users[name].add(user)
    for name, tree in modules.items():
        package = name.rpartition(".")[0]
        lines = max((node.end_lineno or 0 for node in tree.body), default=0)
        used_by = users[name]
        alone = len(used_by) == 1 and next(iter(used_by)).rpartition(".")[0] == package
        if alone and lines < SMALL:
            yield f"{name} ({lines} lines) belongs into {next(iter(used_by))}"


def main() -> int:
    """Print what breaks the rules."""
    modules = trees()
    names, small = list(repeated_names(modules)), list(small_modules(modules))
    print("\n".join((*names, *small)))
    print(f"{len(names)} names stand twice; {len(small)} small modules have one user")
    return int(bool(names) or len(small) > MOST_SMALL)


if __name__ == "__main__":
    sys.exit(main())
