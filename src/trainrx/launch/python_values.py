"""What an expression of a Python program is, as far as it can be told without running it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence

from trainrx.frameworks.common.view import UNKNOWN
from trainrx.launch.python_expressions import MOST_DEPTH, Expressions
from trainrx.launch.python_literals import (
    LONGEST,
    ParsedObject,
    as_declared,
    is_known,
)
from trainrx.launch.python_names import (
    FunctionNode,
    NameBinding,
    Names,
    parameters,
    text_of,
)

DTYPES = frozenset({"bfloat16", "float16", "float32", "half", "float"})
_OF_LAUNCHERS = frozenset(
    {"RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "NODE_RANK", "MASTER_ADDR"}
)
"""Variables a launcher sets: what stands for a missing one is not what they are."""
_CASTS = frozenset({"int", "float", "bool"})
_COPIES = frozenset({"str", "list", "tuple", "Path", "copy", "deepcopy"})
_RECORDS = frozenset({"Namespace", "SimpleNamespace", "EasyDict", "AttrDict", "DotDict"})
DATACLASS_PARSERS = frozenset({"HfArgumentParser", "TrlParser", "H4ArgumentParser"})
_COMMANDS = frozenset({"Fire", "cli", "run", "CLI"})
"""What makes the parameters of a function, or the fields of a class, the options of a command:
of fire, tyro, typer, jsonargparse."""
_OF_CLASSES = ("tyro.cli", "cli", "jsonargparse.CLI", "CLI")
_DECORATORS = frozenset({"option", "argument"})
"""Those of click that declare an option of the function below."""


class Values(Expressions):
    """Values of the expressions of one program, of its functions, classes and options too.

    `options` are what its command line sets, by name without dashes; None where the command is not
    at hand. What it does not set has the default the program declares.
    """

    def __init__(self, names: Names, options: Mapping[str, object] | None = None) -> None:
        super().__init__(names)
        self._options = options or {}

    def keywords(self, call: ast.Call, depth: int = 0) -> Iterator[tuple[str, ast.expr, object]]:
        """Give the named arguments of a call, those of `**mapping` too, where they are known.

        The name is "" for a mapping that is not.
        """
        for item in call.keywords:
            if item.arg is not None:
                yield item.arg, item.value, self.value(item.value, depth)
                continue
            mapping = self.value(item.value, depth)
            if not isinstance(mapping, dict):
                yield "", item.value, UNKNOWN
                continue
            yield from ((str(name), item.value, value) for name, value in mapping.items())

    def fields(self, name: str, depth: int = 0) -> dict[str, object]:
        """Give the fields a class of the program declares, with what its command line sets."""
        node = self.names.classes.get(name)
        if node is None or depth > MOST_DEPTH:
            return {}
        found: dict[str, object] = {}
        for base in reversed(node.bases):
            above = text_of(base).rpartition(".")[2]
            found |= self.fields(above, depth + 1) if above != name else {}
        for statement in node.body:
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                # what parses dataclasses reads switches by their word
                kind = text_of(statement.annotation).replace("bool", "bool word")
                own = statement.target.id
                found[own] = self._option(own, kind, statement.value, depth)
            elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                found[statement.targets[0].id] = self.value(statement.value, depth)
        return found

    def parsed_classes(self, parser: ast.Call) -> list[str]:
        """Give the classes a parser of dataclasses is made of, in order."""
        given = [*parser.args, *(item.value for item in parser.keywords)]
        first = given[0] if given else None
        parts = first.elts if isinstance(first, (ast.Tuple, ast.List)) else given[:1]
        return [text_of(part).rpartition(".")[2] for part in parts]

    def attribute(self, node: ast.Attribute, depth: int) -> object:
        """Give what stands under a name of an object, a class or torch."""
        owner = text_of(node.value)
        if owner == "torch" and node.attr in DTYPES:
            return node.attr
        assigned = self.names.assigned(text_of(node), node.lineno)
        if assigned:
            return self.bound(assigned, depth)
        if owner in self.names.classes:
            return self.fields(owner, depth).get(node.attr, UNKNOWN)
        record = self.value(node.value, depth)
        return (
            record.fields.get(node.attr, UNKNOWN) if isinstance(record, ParsedObject) else UNKNOWN
        )

    def called(self, node: ast.Call, depth: int) -> object:
        """Give what a parser, a class of the program or a function of Python gives."""
        owner, _, name = text_of(node.func).rpartition(".")
        args = [self.value(arg, depth) for arg in node.args[:4]]
        if owner in ("os.environ", "environ", "os") and name in ("get", "getenv"):
            hidden = not args or args[0] in _OF_LAUNCHERS
            return UNKNOWN if hidden or len(args) < 2 else args[1]
        if name in ("parse_args", "parse_known_args"):
            options = ParsedObject(self._declared(depth))
            return options if name == "parse_args" else [options, []]
        if text_of(node.func) in _OF_CLASSES and node.args:
            return ParsedObject(self.fields(text_of(node.args[0]), depth))
        if name.startswith("parse_") and isinstance(node.func, ast.Attribute):
            return self._dataclasses(node.func.value, depth)
        if name == "getattr" and text_of(node.args[0]) == "torch":
            return args[1] if args[1] in DTYPES else UNKNOWN
        if name == "get" and isinstance(node.func, ast.Attribute):
            return _looked_up(self.value(node.func.value, depth), args)
        return self._made(node, name, args, depth)

    def _made(self, node: ast.Call, name: str, args: list[object], depth: int) -> object:
        """Give what a class of the program or of Python makes of its arguments."""
        given = {key: value for key, _, value in self.keywords(node, depth)}
        if name in self.names.classes or name in _RECORDS:
            given.pop("", None)
            return ParsedObject({**self.fields(name, depth), **given})
        if name == "dict" and not args:
            return UNKNOWN if "" in given else given
        if name == "field":
            return self._default_of(node, depth)
        if not args or not is_known(args):
            return UNKNOWN
        return _built_in(name, args)

    def passed(self, binding: NameBinding, function: FunctionNode, depth: int) -> object:
        """Give what a function is called with, where it is called once."""
        if isinstance(function, ast.Lambda):
            return UNKNOWN
        order = [key for key, _ in parameters(function.args)]
        name = binding.name
        commands = (call for one in _COMMANDS for call in self.names.calls.get(one, ()))
        if any(text_of(arg) == function.name for call in commands for arg in call.args):
            return self._option(name, "", binding.value, depth)
        declared = self._options_above(function, depth)
        if name in declared:
            return declared[name]
        own = order[:1] in (["self"], ["cls"])
        calls = [
            call
            for call in self.names.calls.get(function.name, ())
            if isinstance(call.func, ast.Attribute) is own
        ]
        if len(calls) != 1 or name not in order:
            return UNKNOWN
        position = order.index(name) - own
        if position < len(calls[0].args):
            return self.value(calls[0].args[position], depth)
        given = [item.value for item in calls[0].keywords if item.arg == name]
        if given or all(item.arg for item in calls[0].keywords):
            return self.value(given[0] if given else binding.value, depth)
        spread = {key: value for key, _, value in self.keywords(calls[0], depth)}
        return UNKNOWN if "" in spread else spread.get(name, self.value(binding.value, depth))

    def _option(self, name: str, kind: str, default: ast.expr | None, depth: int) -> object:
        if name not in self._options:
            return self.value(default, depth)
        try:
            return as_declared(self._options[name], kind)
        except ValueError:  # the program's parser refuses it
            return UNKNOWN

    def _default_of(self, node: ast.Call, depth: int) -> object:
        """Give the default of a dataclass's field."""
        given = {item.arg: item.value for item in node.keywords}
        factory = given.get("default_factory")
        made = factory.body if isinstance(factory, ast.Lambda) else given.get("default")
        return self.value(made, depth)

    def _declared(self, depth: int) -> dict[str, object]:
        """Give the options of an argparse parser by name, with what the command line sets."""
        return self._read_options(self.names.calls.get("add_argument", ()), depth)

    def _options_above(self, function: FunctionNode, depth: int) -> dict[str, object]:
        """Give the options click declares in decorators of a function."""
        if isinstance(function, ast.Lambda):
            return {}
        calls = (item for item in function.decorator_list if isinstance(item, ast.Call))
        return self._read_options([call for call in calls if _last(call) in _DECORATORS], depth)

    def _read_options(self, calls: Iterable[ast.Call], depth: int) -> dict[str, object]:
        found: dict[str, object] = {}
        for call in calls:
            given = {item.arg: item.value for item in call.keywords if item.arg}
            flags = [self.value(arg, depth) for arg in call.args]
            texts = [flag for flag in flags if isinstance(flag, str)]
            longest = max(texts, key=len, default="")
            bare = (flag for flag in texts if not flag.startswith("-") and len(texts) > 1)
            named = next(bare, None) or self.value(given.get("dest"), depth)
            name = named if isinstance(named, str) else longest.lstrip("-").replace("-", "_")
            action = self.value(given.get("action"), depth)
            if self.value(given.get("is_flag"), depth) is True:
                action = "store_true"
            default = given.get("default")
            if default is None and action in ("store_true", "store_false"):
                default = ast.Constant(action == "store_false")
            elif default is None and self.value(given.get("required"), depth) is not True:
                default = ast.Constant(None) if longest.startswith("-") else None
            kind = text_of(given["type"]) if "type" in given else ""
            found[name] = self._option(name, kind, default, depth)
            if action == "store_false" and self._options.get(name) is True:
                found[name] = False
        return found

    def _dataclasses(self, parser: ast.expr, depth: int) -> object:
        """Give the objects a parser of dataclasses makes."""
        made: ast.expr | None = parser
        if isinstance(parser, ast.Name):
            bound = self.names.bindings(parser)
            made = bound[0].value if bound else None
        known = isinstance(made, ast.Call) and _last(made) in DATACLASS_PARSERS
        if not known or not isinstance(made, ast.Call):
            return UNKNOWN
        return [ParsedObject(self.fields(name, depth)) for name in self.parsed_classes(made)]


def _last(call: ast.Call) -> str:
    return text_of(call.func).rpartition(".")[2]


def _looked_up(whole: object, args: Sequence[object]) -> object:
    """Give what `mapping.get(key, missing)` gives."""
    if not isinstance(whole, dict) or not args or not isinstance(args[0], str):
        return UNKNOWN
    return whole.get(args[0], args[1] if len(args) > 1 else None)


def _built_in(name: str, args: Sequence[object]) -> object:
    first = args[0]
    if name in ("vars", "asdict"):
        return first.fields if isinstance(first, ParsedObject) else UNKNOWN
    if name == "join":
        return "/".join(str(part) for part in args)[:LONGEST]
    if name in _CASTS:
        return bool(first) if name == "bool" else as_declared(str(first), name)
    return first if name in _COPIES else UNKNOWN
