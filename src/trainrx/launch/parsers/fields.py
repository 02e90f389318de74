"""Fields of dataclasses as the options that transformers makes of them.

https://github.com/huggingface/transformers/blob/v4.57.0/src/transformers/hf_argparser.py
(_parse_dataclass_field)
"""

from __future__ import annotations

import ast
from typing import NamedTuple

import msgspec

from trainrx.launch.python_literals import is_known
from trainrx.launch.python_names import Names, text_of
from trainrx.launch.python_values import Values
from trainrx.model.catalog import Value
from trainrx.model.job import ProgramOption

MOST_DEPTH = 8
_SCALARS = frozenset({"int", "float", "str"})
_LISTS = frozenset({"list", "List"})
_MISSING = object()


class FieldType(NamedTuple):
    """What an annotation says: the type of one value, several of them, the choices, None too."""

    kind: str = "?"
    many: bool = False
    optional: bool = False
    choices: tuple[Value, ...] | None = None


class Fields:
    """Collects the options of the classes a parser is made of.

    `library` are the classes of libraries among them; `is_open`: one is not at hand.
    """

    def __init__(self, names: Names, values: Values) -> None:
        self.library: list[str] = []
        self.is_open = False
        self._found: dict[str, ProgramOption] = {}
        self._names, self._values = names, values

    @property
    def options(self) -> tuple[ProgramOption, ...]:
        """Give the options, the ones that turn a switch off behind it."""
        return tuple(part for option in self._found.values() for part in _with_opposite(option))

    def read(self, name: str, depth: int = 0) -> None:
        """Take the fields of a class and of those it is derived from."""
        node = self._names.classes.get(name)
        if node is None or depth > MOST_DEPTH:
            self.library.append(name)
            return
        for base in node.bases:
            above = text_of(base).rpartition(".")[2]
            if above == name:  # `class TrainingArguments(transformers.TrainingArguments)`
                self.library.append(name)
            elif above not in ("object", "ABC"):
                self.read(above, depth + 1)
        if not any(_named(item) == "dataclass" for item in node.decorator_list):
            self.is_open = True
        for statement in node.body:
            target = statement.target if isinstance(statement, ast.AnnAssign) else None
            if isinstance(statement, ast.AnnAssign) and isinstance(target, ast.Name):
                self._field(target.id, statement)

    def _field(self, name: str, statement: ast.AnnAssign) -> None:
        declared = self._type(statement.annotation)
        if declared is None:
            return
        default, given = statement.value, dict[str, ast.expr]()
        if isinstance(default, ast.Call) and _named(default) == "field":
            given = {item.arg: item.value for item in default.keywords if item.arg}
            default = given.get("default", given.get("default_factory"))
            if self._values.value(given.get("init")) is False:
                return
        told = self._values.value(given["metadata"]) if "metadata" in given else {}
        extra = told if isinstance(told, dict) else {}
        value = self._values.value(default) if default is not None else _MISSING
        option = _option(name, declared, value, is_set=default is not None)
        aliases = extra.get("aliases", ())
        names = [aliases] if isinstance(aliases, str) else aliases
        more = [one for one in names if isinstance(one, str)] if isinstance(names, list) else []
        choices = extra.get("choices")
        if isinstance(choices, list) and is_known(choices) and option.choices is None:
            option = msgspec.structs.replace(option, choices=_values(choices))
        self._found[name] = msgspec.structs.replace(
            option, flags=(*option.flags, *more), line=statement.lineno
        )

    def _type(self, node: ast.expr) -> FieldType | None:
        """Read an annotation; None for what is no field."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                return self._type(ast.parse(node.value, mode="eval").body)
            except (SyntaxError, ValueError, RecursionError):
                return FieldType()
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return self._union([node.left, node.right])
        name = text_of(node).rpartition(".")[2]
        if isinstance(node, ast.Subscript):
            return self._subscript(node)
        if name == "bool":
            return FieldType("switch")
        if name in _SCALARS:
            return FieldType(name)
        found = self._enum(name)
        return FieldType() if found is None else FieldType("choice", choices=found)

    def _subscript(self, node: ast.Subscript) -> FieldType | None:
        name = text_of(node.value).rpartition(".")[2]
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if name == "ClassVar":
            return None
        if name == "Literal":
            found = [self._values.value(item) for item in inner]
            known = is_known(found)
            return FieldType("choice" if known else "?", choices=_values(found) if known else None)
        if name == "Optional":
            return self._union([*inner, ast.Constant(None)])
        if name == "Union":
            return self._union(inner)
        if name in _LISTS and len(inner) == 1:
            one = self._type(inner[0])
            kind = one.kind if one is not None and one.kind in _SCALARS else "?"
            return FieldType(kind, many=True)
        return FieldType()

    def _union(self, parts: list[ast.expr]) -> FieldType | None:
        flat: list[ast.expr] = []
        for part in parts:
            nested = isinstance(part, ast.BinOp) and isinstance(part.op, ast.BitOr)
            flat += [part.left, part.right] if nested and isinstance(part, ast.BinOp) else [part]
        kept = [p for p in flat if not (isinstance(p, ast.Constant) and p.value is None)]
        if len(kept) != 1:
            return FieldType()
        found = self._type(kept[0])
        return None if found is None else found._replace(optional=len(kept) < len(flat))

    def _enum(self, name: str) -> tuple[Value, ...] | None:
        """Give the values of an enumeration of the program."""
        node = self._names.classes.get(name)
        if node is None or not any(text_of(base).endswith("Enum") for base in node.bases):
            return None
        found = [self._values.value(s.value) for s in node.body if isinstance(s, ast.Assign)]
        return _values(found) if found and is_known(found) else None


def _values(found: list[object]) -> tuple[Value, ...]:
    return tuple(item for item in found if isinstance(item, (str, int, float, bool)))


def _named(node: ast.expr) -> str:
    return text_of(node.func if isinstance(node, ast.Call) else node).rpartition(".")[2]


def _option(name: str, declared: FieldType, value: object, *, is_set: bool) -> ProgramOption:
    flags = (f"--{name}", f"--{name.replace('_', '-')}") if "_" in name else (f"--{name}",)
    nargs: str | None = "+" if declared.many else None
    default = value if isinstance(value, (str, int, float, bool)) else None
    required = not is_set
    if declared.kind == "switch":
        # an Optional[bool] that is None takes a word, true or false, and no bare flag
        nargs = None if declared.optional and value in (None, _MISSING) else "?"
        default = False if value is _MISSING and not declared.optional else default
        required = False
    return ProgramOption(
        flags=flags,
        dest=name,
        kind=declared.kind,
        nargs=nargs,
        choices=declared.choices,
        required=required,
        default=default,
    )


def _with_opposite(option: ProgramOption) -> tuple[ProgramOption, ...]:
    if option.kind != "switch" or option.default is not True:
        return (option,)
    name = option.dest
    flags = tuple(dict.fromkeys((f"--no_{name}", f"--no-{name.replace('_', '-')}")))
    off = ProgramOption(flags=flags, dest=name, action="store_false", default=True)
    return option, off
