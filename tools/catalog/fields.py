"""Read the fields of dataclasses and pydantic models."""

from __future__ import annotations

import ast
from collections.abc import Callable

from catalog.annotations import choices, type_text
from catalog.classes import (
    class_node,
    declared_default,
    is_dataclass,
    is_field_call,
    resolution_order,
)
from catalog.evaluate import Evaluator, Expr, Read
from catalog.parsers import constants
from catalog.tables import REQUIRED, Argument, Command, Table, plain_value
from catalog.world import Definition, External, Found, World
from trainrx.model.catalog import Value

IsContainer = Callable[[ast.ClassDef], bool]


def every_class(_: ast.ClassDef) -> bool:
    """Take annotations of all ancestors as fields: right for pydantic models."""
    return True


def class_command(
    world: World, cls: Definition, *, is_container: IsContainer = is_dataclass
) -> Command:
    """Read a class: its fields, and the classes of other packages it extends."""
    order = resolution_order(world, cls)
    parents = _parents([c for c in order if isinstance(c, External)])
    table = class_fields(world, cls, is_container=is_container)
    return Command(table, parents, frozenset(table) - _leading(world, order, is_container))


def class_fields(
    world: World, cls: Definition, *, is_container: IsContainer = is_dataclass
) -> Table:
    """Give what `dataclasses.fields` would list and `__init__` takes, in order of definition.

    A class without the decorator adds no field, whatever it annotates: mixins rely on that.
    """
    table: dict[str, Argument | None] = {}
    for ancestor in reversed(resolution_order(world, cls)):
        if isinstance(ancestor, Definition) and is_container(class_node(ancestor)):
            table.update(_own_fields(world, ancestor))
    return {name: argument for name, argument in table.items() if argument is not None}


def _leading(world: World, order: list[Found], is_container: IsContainer) -> set[str]:
    """Give the names declared before the first ancestor of another package."""
    found: set[str] = set()
    for ancestor in order:
        if isinstance(ancestor, External):
            if _parents([ancestor]):
                return found
        elif is_container(class_node(ancestor)):
            found |= _own_fields(world, ancestor).keys()
    return found


def _parents(outside: list[External]) -> tuple[tuple[str, str], ...]:
    """Give package and class of the ancestors outside; unknown names and the library's drop out."""
    out = [
        (cls.dotted.partition(".")[0], cls.dotted.rpartition(".")[2])
        for cls in outside
        if not cls.dotted.startswith("?")
    ]
    return tuple(dict.fromkeys(p for p in out if p[0] in ("transformers", "trl", "peft")))


def _own_fields(world: World, cls: Definition) -> dict[str, Argument | None]:
    """Read the annotated assignments of one class body; None marks what `__init__` does not take.

    A plain name that is assigned again below an `if` has no single value.
    """
    scope: dict[str, ast.expr] = {}
    out: dict[str, Argument | None] = {}

    def visit(body: list[ast.stmt], *, conditional: bool) -> None:
        for statement in body:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    _note(scope, name, value, conditional=conditional)
                case ast.AnnAssign(target=ast.Name(id=name)):
                    text = ast.unparse(statement.annotation)
                    if "ClassVar" not in text and "KW_ONLY" not in text:
                        out[name] = _field(world, cls, statement, scope)
                case ast.If():
                    visit(statement.body, conditional=True)
                    visit(statement.orelse, conditional=True)

    visit(class_node(cls).body, conditional=False)
    return out


def _note(scope: dict[str, ast.expr], name: str, value: ast.expr, *, conditional: bool) -> None:
    """Remember what a name of the class body stands for."""
    if not conditional or name not in scope:
        scope[name] = value
        return
    known = scope[name]
    scope[name] = ast.BoolOp(op=ast.Or(), values=[known, value])


def _field(
    world: World, cls: Definition, statement: ast.AnnAssign, scope: dict[str, ast.expr]
) -> Argument | None:
    module = cls.module
    inside = Evaluator(world, module, dict(scope))
    value = statement.value
    options = _options(value)
    if isinstance(options.get("init"), ast.Constant) and ast.unparse(options["init"]) == "False":
        return None
    allowed = choices(world, module, statement.annotation)
    listed = inside.value(options["choices"]) if "choices" in options else None
    return Argument(
        type_text(world, module, statement.annotation),
        _default(inside, value, options),
        constants(allowed or listed),
        _aliases(inside, options),
    )


def _options(value: ast.expr | None) -> dict[str, ast.expr]:
    """Give the keywords of a field call, those of `metadata={...}` included."""
    if not isinstance(value, ast.Call) or not is_field_call(value):
        return {}
    found = {k.arg: k.value for k in value.keywords if k.arg}
    metadata = found.get("metadata")
    if isinstance(metadata, ast.Dict):
        for key, node in zip(metadata.keys, metadata.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                found.setdefault(key.value, node)
    return found


def _default(inside: Evaluator, value: ast.expr | None, options: dict[str, ast.expr]) -> Value:
    if value is None:
        return REQUIRED
    if isinstance(value, ast.Call) and is_field_call(value):
        has_default = "default" in options or "default_factory" in options or value.args
        if not has_default or _is_ellipsis(declared_default(value)):
            return REQUIRED
    return plain_value(_spread(inside, declared_default(value)))


def _spread(inside: Evaluator, node: ast.expr) -> Read:
    """Evaluate a default; one with two possible values is written `'a' or 'b'`."""
    if isinstance(node, ast.Name) and isinstance(inside.scope.get(node.id), ast.BoolOp):
        return Expr(ast.unparse(inside.scope[node.id]))
    return inside.value(node)


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def _aliases(inside: Evaluator, options: dict[str, ast.expr]) -> tuple[str, ...]:
    found: list[str] = []
    for key in ("aliases", "alias", "validation_alias"):
        if key in options:
            value = inside.value(options[key])
            given = value if isinstance(value, list) else [value]
            found += [str(v).lstrip("-") for v in given if v and not isinstance(v, Expr)]
    return tuple(dict.fromkeys(found))
