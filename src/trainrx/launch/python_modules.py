"""Classes and constants a program takes from modules of its own repository."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

ReadModule = Callable[[str], tuple[str, str] | None]
"""Gives name and text of a module by its dotted name; None for one that is not at hand."""
Parse = Callable[[str], ast.Module | None]
APART = 10_000_000
"""Lines between two files: what a program imports stands above it, where no line of its own is."""
MOST_MODULES = 8


class ImportedFile(NamedTuple):
    """A module that was taken in: its name, its lines, and what was added to their numbers."""

    name: str
    lines: list[str]
    shift: int


def take_in(tree: ast.Module, read: ReadModule, parse: Parse) -> Mapping[int, ImportedFile]:
    """Put what a program imports of its own repository in front of it; give the files by place.

    Only classes and constants are taken: nothing else of a module says what arguments are.
    """
    files: dict[int, ImportedFile] = {}
    waiting = [*_imported(tree)]
    seen: set[str] = set()
    while waiting and len(files) < MOST_MODULES:
        name = waiting.pop(0)
        found = None if name in seen else read(name)
        seen.add(name)
        module = None if found is None else parse(found[1])
        if found is None or module is None:
            continue
        number = len(files) + 1
        shift = -number * APART
        waiting += _imported(module)
        taken = [item for item in module.body if isinstance(item, (ast.ClassDef, ast.Assign))]
        for item in taken:
            ast.increment_lineno(item, shift)
        tree.body[:0] = taken
        files[number] = ImportedFile(found[0], found[1].split("\n"), shift)
    return files


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
