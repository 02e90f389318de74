"""Read what a Python program hands to its trainer as data, as far as the text is certain of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from trainrx.data.job import DataJob
from trainrx.model.facts import Origin

LARGEST = 1 << 20
LOADER = "load_dataset"
_SPLIT_AT = 4
"""The place of `split` among what `load_dataset` is called with."""


class UnnamedSplit(NamedTuple):
    """A call of `load_dataset` that gives all splits, and the trainer that is handed them."""

    trainer: str
    at: Origin


def program_of(job: DataJob) -> tuple[str, ast.Module] | None:
    """Give the program a launch was read from, with what it is called."""
    places = (job.place(name).source for name in job.own.train_data)
    source = next((name for name in (*places, job.origin.source) if name.endswith(".py")), "")
    tree = parsed_program(job.path(source)) if source else None
    return None if tree is None else (source, tree)


def parsed_program(path: Path | None) -> ast.Module | None:
    """Parse a program; None where it is not at hand, or is no Python."""
    try:
        if path is None or not path.is_file() or path.stat().st_size > LARGEST:
            return None
        return ast.parse(path.read_bytes())
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
        return None


def unnamed_splits(job: DataJob) -> Iterator[UnnamedSplit]:
    """Give calls that load all splits where their result goes to a trainer as it is."""
    found = program_of(job)
    if found is None:
        return
    source, tree = found
    if not _is_imported(tree):
        return
    loaded = _bound_once(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or job.own.python_class(_last(node.func)) != "Trainer":
            continue
        handed = next((item.value for item in node.keywords if item.arg == "train_dataset"), None)
        value = loaded.get(handed.id) if isinstance(handed, ast.Name) else handed
        if isinstance(value, ast.Call) and _gives_all(value):
            at = Origin(source=source, line=value.lineno)
            yield UnnamedSplit(_last(node.func), at)


def _is_imported(tree: ast.Module) -> bool:
    """Tell whether `load_dataset` is that of the library, and of nobody else."""
    own = (node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef)))
    if any(node.name == LOADER for node in own):
        return False
    imports = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    named = {
        node.module if isinstance(node, ast.ImportFrom) else item.name
        for node in imports
        for item in node.names
        if item.name in (LOADER, "datasets")
    }
    return named == {"datasets"}


def _bound_once(tree: ast.Module) -> dict[str, ast.expr]:
    """Give the value of each name that is bound in one place of the whole program."""
    bound: dict[str, list[ast.expr | None]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.setdefault(node.id, []).append(None)
        elif isinstance(node, ast.arg):
            bound.setdefault(node.arg, []).append(None)
        elif isinstance(node, ast.alias):
            bound.setdefault(node.asname or node.name, []).append(None)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound.setdefault(node.name, []).append(None)
    once = {name for name, places in bound.items() if len(places) == 1}
    return {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and len(node.targets) == 1
        for target in node.targets
        if isinstance(target, ast.Name) and target.id in once
    }


def _gives_all(call: ast.Call) -> bool:
    """Tell whether a call loads all splits: nothing in it may name one."""
    if _last(call.func) != LOADER or len(call.args) > _SPLIT_AT:
        return False
    starred = any(isinstance(item, ast.Starred) for item in call.args)
    return not starred and not any(item.arg in (None, "split") for item in call.keywords)


def _last(node: ast.expr) -> str:
    """Give the last part of a dotted name."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
