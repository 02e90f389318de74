"""Compare what reward functions of someone's own take with the columns that reach them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trainrx.data.job import DataJob
from trainrx.data.programs import parsed_program, program_of
from trainrx.model.facts import Origin

_Function = (ast.FunctionDef, ast.AsyncFunctionDef)


class MissingInput(NamedTuple):
    """A parameter of a reward function that nothing is given for."""

    function: str
    name: str
    at: Origin


def missing_inputs(job: DataJob, columns: Sequence[str]) -> Iterator[MissingInput]:
    """Give parameters without a default that neither the trainer nor the columns have."""
    handed = job.own.reward_inputs(columns)
    if handed is None:
        return
    for source, name, function in _rewards(job):
        for missing in _required(function):
            if missing not in handed:
                line = function.lineno
                yield MissingInput(name, missing, Origin(source=source, line=line))


def _rewards(job: DataJob) -> Iterator[tuple[str, str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Give the reward functions whose source is at hand, with their file and name."""
    if job.own.reward_plugins:
        wanted = frozenset(job.words("reward_funcs"))
        for word in job.words(job.own.reward_plugins):
            tree = parsed_program(job.path(word))
            yield from () if tree is None else ((word, *item) for item in _registered(tree, wanted))
        return
    found = program_of(job)
    if found is not None:
        source, tree = found
        yield from ((source, *item) for item in _handed_over(tree))


def _handed_over(
    tree: ast.Module,
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Give the functions of a program that its trainer gets as `reward_funcs`."""
    own = _functions(tree.body)
    for node in ast.walk(tree):
        if not isinstance(node, ast.keyword) or node.arg != "reward_funcs":
            continue
        listed = node.value.elts if isinstance(node.value, (ast.List, ast.Tuple)) else [node.value]
        for item in listed:
            if isinstance(item, ast.Name) and item.id in own:
                yield item.id, own[item.id]


def _registered(
    tree: ast.Module, wanted: frozenset[str]
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Give what a plugin puts into the table of rewards: `orms['name'] = Class` or a function."""
    own = _functions(tree.body)
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    for node in tree.body:
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Name):
            continue
        name, target = node.value.id, node.targets[0]
        if _key(target) not in wanted:
            continue
        held = classes.get(name)
        called = own.get(name) if held is None else _functions(held.body).get("__call__")
        if called is not None:
            yield name, called


def _key(target: ast.expr) -> str:
    if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
        return str(target.slice.value)
    return ""


def _functions(body: Sequence[ast.stmt]) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef]:
    return {node.name: node for node in body if isinstance(node, _Function)}


def _required(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """Give the parameters without a default; what is done to a decorated one is not known."""
    if function.decorator_list:
        return
    given = function.args
    usual = [*given.posonlyargs, *given.args]
    for item in usual[: len(usual) - len(given.defaults)]:
        if item.arg != "self":
            yield item.arg
    for item, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        if default is None:
            yield item.arg
