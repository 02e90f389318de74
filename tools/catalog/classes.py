"""Bases and method resolution order of classes."""

from __future__ import annotations

import ast

from catalog.world import DOTTED, Definition, External, Found, World


def bases(world: World, cls: Definition) -> list[Found]:
    """Give the base classes; one that cannot be followed is External with a leading `?`."""
    out: list[Found] = []
    for base in class_node(cls).bases:
        node = base.value if isinstance(base, ast.Subscript) else base
        text = ast.unparse(node)
        if not DOTTED.fullmatch(text) or text == "object":
            continue
        found = world.resolve(cls.module.name, text)
        is_class = isinstance(found, Definition) and isinstance(found.node, ast.ClassDef)
        if found is not None and (is_class or isinstance(found, External)):
            out.append(found)
        else:
            out.append(External(f"?{text}"))
    return out


def resolution_order(world: World, cls: Found, seen: tuple[Found, ...] = ()) -> list[Found]:
    """Linearise the ancestors as Python does (C3), the class itself first."""
    if isinstance(cls, External) or cls in seen:
        return [cls]
    parents = bases(world, cls)
    rest = [resolution_order(world, parent, (*seen, cls)) for parent in parents] + [parents]
    out: list[Found] = [cls]
    rows = [row for row in rest if row]
    while rows:
        # inconsistent bases cannot happen in a release that imports; then the first one is taken
        head = next(
            (row[0] for row in rows if not any(row[0] in other[1:] for other in rows)), rows[0][0]
        )
        out.append(head)
        rows = [left for row in rows if (left := [c for c in row if c != head])]
    return out


def is_dataclass(node: ast.ClassDef) -> bool:
    """Tell whether a decorator makes fields of the annotations."""
    for decorator in node.decorator_list:
        call = decorator.func if isinstance(decorator, ast.Call) else decorator
        if ast.unparse(call).rpartition(".")[2] in ("dataclass", "config"):
            return True
    return False


def is_enum(node: ast.ClassDef) -> bool:
    """Tell whether a class is an enumeration, from the names of its bases."""
    return any(ast.unparse(base).endswith("Enum") for base in node.bases)


def class_node(cls: Definition) -> ast.ClassDef:
    """Give the statement of a class.

    Raises:
        TypeError: the definition is no class.
    """
    if not isinstance(cls.node, ast.ClassDef):
        raise TypeError(f"{cls.dotted} is no class")
    return cls.node


def class_value(world: World, cls: Definition, name: str) -> Definition | None:
    """Give what a class attribute is set to, in the class or an ancestor."""
    for ancestor in resolution_order(world, cls):
        if isinstance(ancestor, External):
            continue
        for statement in class_node(ancestor).body:
            value = _assigned(statement, name)
            if value is not None:
                return Definition(ancestor.module, value, f"{ancestor.name}.{name}")
    return None


def _assigned(statement: ast.stmt, name: str) -> ast.expr | None:
    match statement:
        case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
            return value
        case ast.AnnAssign(target=ast.Name(id=target), value=ast.expr() as value) if target == name:
            return declared_default(value)
    return None


def declared_default(value: ast.expr) -> ast.expr:
    """Give the default inside `field(default=X)`, `Field(X)` or `field(default_factory=f)`."""
    if not isinstance(value, ast.Call) or not is_field_call(value):
        return value
    given = {k.arg: k.value for k in value.keywords if k.arg}
    if "default" in given:
        return given["default"]
    factory = given.get("default_factory")
    if factory is not None:
        inner = factory.body if isinstance(factory, ast.Lambda) else None
        return inner or ast.Call(func=factory, args=[], keywords=[])
    return value.args[0] if value.args else ast.Constant(value=None)


def is_field_call(node: ast.Call) -> bool:
    """Tell whether a call declares a field of a dataclass or pydantic model."""
    return ast.unparse(node.func).rpartition(".")[2] in ("field", "Field", "HfArg", "arg_field")
