"""ms-swift's registry of models, and the environment variables its code reads."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from catalog.evaluate import Evaluator, Expr
from catalog.modules import Module
from catalog.sources import Sources, module_name
from catalog.tables import plain_value
from catalog.world import Definition, World
from trainrx.model.catalog import Value

_SPECIFIC = re.compile(
    r"/(?:models?/models?|templates?/templates?)/[^/]+\.py$"
    r"|/template/vision_utils\.py$"
    r"|^swift/llm/utils/(?:model|template|vision_utils)\.py$"
)
"""Modules whose code belongs to particular models."""

_SHARED = ("Template", "TemplateType", "ModelType", "ModelMeta", "TemplateMeta")
"""Names in those modules that belong to all models."""

_MAY_READ = re.compile(r"environ|getenv|get_env_args|get_bool_env|is_env_enabled")
_CALLED = ("get", "pop", "getenv", "get_bool_env", "is_env_enabled", "get_env_args")
_READS = re.compile(r"(?:^|\.)(?:environ\.(?:get|pop)|getenv|get_bool_env|is_env_enabled)$")
_ID = re.compile(r"^[\w.-]+/[\w.-]*\w$")
_TEMPLATE = re.compile(r"^(?:LLM|MLLM|Mega)?TemplateType\.\w+$")


class Variable(NamedTuple):
    """An environment variable, as one place reads it."""

    name: str
    default: Value


class Registry(NamedTuple):
    """What a release knows of models: their identifiers and the variables read for them."""

    models: dict[str, tuple[str, ...]]
    variables: dict[str, tuple[Variable, ...]]
    """By model type; "" is what is read for all."""


def read_registry(sources: Sources) -> Registry:
    """Read a release of ms-swift."""
    world = World(sources)
    specific = _modules(world, [p for p in sources.glob("swift/*.py") if _SPECIFIC.search(p)])
    reading = [p for p in sources.glob("swift/*.py") if _MAY_READ.search(sources.read(p))]
    graph = _Graph(world, specific)
    shared = _modules(world, [p for p in reading if not _SPECIFIC.search(p)])
    general = [v for m in shared for v in _variables(world, m, m.tree)]
    templates = dict(_templates(world, specific))
    models: dict[str, list[str]] = {}
    variables: dict[str, set[str]] = {}
    found: dict[str, Variable] = {}
    for module in specific:
        for call in _calls(world, module, "register_model"):
            kind, ids = _registered(call)
            roots = mentioned(world, module, call.node) | call.decorated
            for template in _template_types(call):
                roots |= templates.get(template, set())
            models.setdefault(kind, []).extend(ids)
            for variable in graph.reachable(roots):
                found[repr(variable)] = variable
                variables.setdefault(kind, set()).add(repr(variable))
    by_model = {k: tuple(found[key] for key in sorted(v)) for k, v in variables.items()}
    claimed = {v.name for read in by_model.values() for v in read}
    general += [v for v in graph.all() if v.name not in claimed]
    by_model[""] = tuple({repr(v): v for v in sorted(general, key=repr)}.values())
    return Registry({k: tuple(sorted(set(v))) for k, v in models.items()}, by_model)


class _Graph:
    """Which definition mentions which, among the modules of particular models."""

    def __init__(self, world: World, modules: list[Module]) -> None:
        self._world = world
        self._reads: dict[Definition, tuple[Variable, ...]] = {}
        self._mentions: dict[Definition, set[Definition]] = {}
        own = {m.name for m in modules}
        for module in modules:
            for node in module.tree.body:
                if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name not in _SHARED:
                    definition = Definition(module, node, node.name)
                    self._reads[definition] = tuple(_variables(world, module, node))
                    self._mentions[definition] = mentioned(world, module, node, own)

    def all(self) -> Iterator[Variable]:
        """Give every variable read."""
        for read in self._reads.values():
            yield from read

    def reachable(self, roots: set[Definition]) -> list[Variable]:
        """Give the variables of everything that is mentioned directly or indirectly."""
        seen: set[Definition] = set()
        left = [root for root in roots if root in self._reads]
        found: dict[str, Variable] = {}
        while left:
            one = left.pop()
            if one in seen:
                continue
            seen.add(one)
            found |= {repr(v): v for v in self._reads[one]}
            left += [d for d in self._mentions[one] if d in self._reads]
        return list(found.values())


def mentioned(
    world: World, module: Module, node: ast.AST, own: set[str] | None = None
) -> set[Definition]:
    """Give the definitions a node names."""
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    found = {world.resolve(module.name, name) for name in names}
    return {d for d in found if isinstance(d, Definition) and (own is None or d.module.name in own)}


def _modules(world: World, paths: Iterable[str]) -> list[Module]:
    return [m for p in paths if (m := world.module(module_name(p))) is not None]


class _Call(NamedTuple):
    """A registration: the call, what it decorates, how to evaluate it."""

    node: ast.Call
    decorated: set[Definition]
    inside: Evaluator


def _calls(world: World, module: Module, name: str) -> Iterator[_Call]:
    """Find registrations at the top of a module, also in loops over written-out lists."""
    for node, scope in _statements(module.tree.body, {}):
        inside = Evaluator(world, module, scope)
        match node:
            case ast.Expr(value=ast.Call(func=ast.Name(id=called)) as call) if called == name:
                yield _Call(call, set(), inside)
            case ast.FunctionDef(decorator_list=decorators):
                for decorator in decorators:
                    if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == name:
                        yield _Call(decorator, {Definition(module, node, node.name)}, inside)


def _statements(
    body: Iterable[ast.stmt], scope: dict[str, ast.expr]
) -> Iterator[tuple[ast.stmt, dict[str, ast.expr]]]:
    """Give the statements of a block, those of a loop once for each element."""
    known = dict(scope)
    for node in body:
        match node:
            case ast.For(target=ast.Name(id=name), iter=ast.List(elts=elements), body=inner):
                for element in elements:
                    yield from _statements(inner, known | {name: element})
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if scope:
                known[name] = value
            case _:
                yield node, known


def _templates(world: World, modules: Iterable[Module]) -> Iterator[tuple[str, set[Definition]]]:
    for module in modules:
        for call in _calls(world, module, "register_template"):
            for kind in _template_types(call):
                yield kind, mentioned(world, module, call.node)


def _template_types(call: _Call) -> list[str]:
    texts = [
        call.inside.text(n)
        for n in ast.walk(call.node)
        if isinstance(n, ast.Attribute) and _TEMPLATE.match(ast.unparse(n))
    ]
    return [text for text in texts if text]


def _registered(call: _Call) -> tuple[str, list[str]]:
    """Give the type and the identifiers of a registration."""
    first = call.node.args[0] if call.node.args else call.node
    meta = first if isinstance(first, ast.Call) else call.node
    named = [k.value for k in meta.keywords if k.arg == "model_type"]
    given = next(iter([*named, *meta.args]), None)
    kind = str(call.inside.value(given)) if given is not None else ""
    texts = [
        call.inside.text(n)
        for n in ast.walk(call.node)
        if isinstance(n, (ast.Constant, ast.JoinedStr))
    ]
    return kind, [text.lower() for text in texts if text and _ID.match(text)]


def _variables(world: World, module: Module, node: ast.AST) -> Iterator[Variable]:
    """Find what is read from the environment below a node."""
    inside = Evaluator(world, module)
    nodes = list(ast.walk(node))
    loops = _loops(nodes)
    for call in nodes:
        if isinstance(call, ast.Call) and call.args:
            if getattr(call.func, "attr", getattr(call.func, "id", "")) not in _CALLED:
                continue
            name = ast.unparse(call.func)
            own = name.rpartition(".")[2] == "get_env_args"
            if own or _READS.search(name):
                default = _default(inside, call, at=2 if own else 1)
                for text in _names(inside, call.args[0], loops):
                    yield Variable(text.upper() if own else text, default)
        elif isinstance(call, ast.Subscript) and _is_environ(call):
            key = inside.text(call.slice)
            if key:
                yield Variable(key, {"required": True})


def _is_environ(node: ast.Subscript) -> bool:
    name = getattr(node.value, "attr", getattr(node.value, "id", ""))
    return isinstance(node.ctx, ast.Load) and name == "environ"


def _names(inside: Evaluator, node: ast.expr, loops: dict[str, list[str]]) -> list[str]:
    if isinstance(node, ast.Name) and node.id in loops:
        return loops[node.id]
    text = inside.text(node)
    return [text] if text else []


def _loops(nodes: Iterable[ast.AST]) -> dict[str, list[str]]:
    """Give the variables that run over a written-out list of names."""
    found: dict[str, list[str]] = {}
    for loop in nodes:
        match loop:
            case ast.For(target=ast.Name(id=name), iter=ast.List(elts=elements)):
                values = [e.value for e in elements if isinstance(e, ast.Constant)]
                found[name] = [v for v in values if isinstance(v, str)]
    return found


def _default(inside: Evaluator, call: ast.Call, *, at: int) -> Value:
    keywords = [k.value for k in call.keywords if k.arg in ("default", "default_value")]
    given = call.args[at] if len(call.args) > at else next(iter(keywords), None)
    if given is None:
        return None
    value = inside.value(given)
    return {"expr": "computed"} if isinstance(value, Expr) else plain_value(value)
