"""The parser of its own command line that a Python program declares, read without running it.

argparse: https://docs.python.org/3/library/argparse.html. What transformers makes of dataclasses:
https://github.com/huggingface/transformers/blob/v4.57.0/src/transformers/hf_argparser.py
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainrx.launch.parsers.fields import Fields
from trainrx.launch.python_literals import is_known
from trainrx.launch.python_modules import ReadModule, take_in
from trainrx.launch.python_names import (
    FunctionNode,
    NameBinding,
    Names,
    parameters,
    text_of,
)
from trainrx.launch.python_source import parsed
from trainrx.launch.python_values import DATACLASS_PARSERS, Values
from trainrx.model.catalog import Value
from trainrx.model.job import ProgramOption, ProgramParser

MOST_OPTIONS = 1000
MOST_CALLS = 4
_ARGPARSE = ("argparse.ArgumentParser", "ArgumentParser")
_KINDS = frozenset({"int", "float", "str", "bool"})
_BARE = {"store_true": False, "store_false": True}
_ACTIONS = frozenset({"store", "append", "count", "extend", "store_const", "append_const", "help"})
_REMAINDER = "..."
_FILES = frozenset({"parse_json_file", "parse_yaml_file", "parse_dict"})
_OWN_WORDS = frozenset({"args", "args_filename"})
_LENIENT = frozenset({"return_remaining_strings", "fail_with_unknown_args"})
_UNREAD = frozenset({"prefix_chars", "fromfile_prefix_chars", "argument_default", "parents"})
"""What makes of a parser one that is not understood here."""


def declared_parser(
    text: str, source: str, modules: ReadModule | None = None
) -> ProgramParser | None:
    """Give the parser a program makes of its command line; None where it has none of those known.

    Args:
        text: the program.
        source: what it is called.
        modules: reads modules of its own repository.
    """
    if "ArgumentParser" not in text and "TrlParser" not in text:
        return None
    tree = parsed(text)
    if tree is None:
        return None
    if modules is not None:
        take_in(tree, modules, parsed)
    names = Names(tree)
    plain = [c for c in names.calls.get("ArgumentParser", ()) if text_of(c.func) in _ARGPARSE]
    typed = [call for name in DATACLASS_PARSERS for call in names.calls.get(name, ())]
    if _changes_argv(names) or len(plain) + len(typed) != 1:
        return None
    read = _ParserReader(names, source)
    return read.dataclasses(typed[0]) if typed else read.argparse(plain[0])


def _changes_argv(names: Names) -> bool:
    calls = (call for found in names.calls.values() for call in found)
    changed = any(text_of(call.func).startswith("sys.argv.") for call in calls)
    return changed or "sys.argv" in names.attributes


class _NotToldError(Exception):
    """Something of the parser that its text does not tell."""


class _ParserReader:
    """Reads the one parser of a program."""

    def __init__(self, names: Names, source: str) -> None:
        self._names, self._source = names, source
        self._values = Values(names)

    def argparse(self, made: ast.Call) -> ProgramParser | None:
        """Read a parser of argparse."""
        ends = self._methods("parse_args")
        loose = self._methods("parse_known_args")
        given = {item.arg: item.value for item in made.keywords}
        if not ends + loose or self._methods("add_subparsers") or given.keys() & _UNREAD:
            return None
        if not all(self._reads_argv(call) for call in ends + loose):
            return None
        options: list[ProgramOption] = []
        is_open = bool(loose) or None in given or self._is_handed_on(made)
        try:
            for call in self._methods("add_argument")[:MOST_OPTIONS]:
                option = self._option(call)
                is_open = is_open or option is None
                options += [] if option is None else [option]
        except _NotToldError:
            return None
        return ProgramParser(
            kind="argparse",
            source=self._source,
            options=tuple(options),
            is_open=is_open,
            abbreviates=self._values.value(given.get("allow_abbrev")) is not False,
        )

    def dataclasses(self, made: ast.Call) -> ProgramParser | None:
        """Read a parser of dataclasses."""
        ends = self._methods("parse_args_into_dataclasses")
        ends += self._methods("parse_args_and_config")
        told = {item.arg for call in ends for item in call.keywords}
        if not ends or told & _OWN_WORDS:
            return None
        fields = Fields(self._names, self._values)
        for name in self._values.parsed_classes(made):
            fields.read(name)
        more = [call for call in self._methods("add_argument") if self._option(call) is not None]
        config = made_of(made) != "HfArgumentParser" or self._methods("parse_args_and_config")
        named = (ProgramOption(flags=("--config",), dest="config", kind="?"),) if config else ()
        return ProgramParser(
            kind="dataclasses",
            source=self._source,
            options=(*named, *fields.options),
            is_open=bool(told & _LENIENT) or fields.is_open or bool(more) or bool(made.keywords),
            library=tuple(fields.library),
            takes_file=any(name in self._names.calls for name in _FILES),
        )

    def _methods(self, name: str) -> list[ast.Call]:
        found = self._names.calls.get(name, ())
        return [call for call in found if isinstance(call.func, ast.Attribute)]

    def _reads_argv(self, call: ast.Call) -> bool:
        """Tell whether a parser is given the command line, not words of the program."""
        given = [*call.args, *(item.value for item in call.keywords if item.arg == "args")]
        return not given or self._is_argv(given[0], 0)

    def _is_argv(self, node: ast.expr, depth: int) -> bool:
        """Tell whether an expression is the command line, or None, which stands for it."""
        if ast.unparse(node) in ("sys.argv", "sys.argv[1:]") or depth > MOST_CALLS:
            return depth <= MOST_CALLS
        if not isinstance(node, ast.Name):
            return self._values.value(node) is None
        bound = self._names.bindings(node)
        if len(bound) != 1 or (bound[0].value is None and bound[0].parameter is None):
            return False
        function = bound[0].parameter
        if isinstance(function, ast.Lambda):
            return False
        handed = [] if function is None else [*self._handed(node.id, function)]
        values = handed or [item for item in (bound[0].value,) if item is not None]
        return bool(values) and all(self._is_argv(value, depth + 1) for value in values)

    def _handed(self, name: str, function: FunctionNode) -> Iterator[ast.expr]:
        """Give what a function is called with under a name."""
        order = [key for key, _ in parameters(function.args)]
        own = "" if isinstance(function, ast.Lambda) else function.name
        for call in self._names.calls.get(own, ()):
            if isinstance(call.func, ast.Name):
                yield from call.args[order.index(name) : order.index(name) + 1]
                yield from (item.value for item in call.keywords if item.arg == name)

    def _is_handed_on(self, made: ast.Call) -> bool:
        """Tell whether something else may add options: a function of another module, a loop."""
        receivers = (_owner(call) for call in self._methods("add_argument"))
        taken = {id(b.parameter) for node in receivers for b in self._bound(node) if b.parameter}
        own = {node.name for node in self._names.nodes if isinstance(node, ast.FunctionDef)}
        calls = (call for found in self._names.calls.values() for call in found)
        return any(
            text_of(call.func) not in own
            for call in calls
            for arg in (*call.args, *(item.value for item in call.keywords))
            for bound in self._bound(arg)
            if bound.value is made or id(bound.parameter) in taken
        )

    def _bound(self, node: ast.expr | None) -> list[NameBinding]:
        return self._names.bindings(node) if isinstance(node, ast.Name) else []

    def _option(self, call: ast.Call) -> ProgramOption | None:
        """Read `add_argument`; None where its names are not told."""
        flags = [self._values.value(arg) for arg in call.args]
        given = {item.arg: item.value for item in call.keywords}
        if None in given or not flags or not all(isinstance(flag, str) for flag in flags):
            return None
        texts = tuple(flag for flag in flags if isinstance(flag, str))
        action = self._action(given.get("action"))
        nargs = self._nargs(given.get("nargs"))
        kind, choices = self._kind(given.get("type")), self._choices(given.get("choices"))
        required = self._values.value(given["required"]) if "required" in given else False
        default = self._values.value(given["default"]) if "default" in given else None
        dest = self._values.value(given["dest"]) if "dest" in given else ""
        perhaps = self._names.conditions.get(id(call), ())
        return ProgramOption(
            flags=texts,
            dest=dest if isinstance(dest, str) else "",
            action=action,
            kind=kind,
            nargs=nargs,
            # what a function makes of a word, the choices are compared with
            choices=None if kind == "?" else choices,
            required=None if perhaps or not isinstance(required, bool) else required,
            default=_BARE.get(action) if "default" not in given else _plain(default),
            line=call.lineno,
            apart=self._apart(call),
        )

    def _apart(self, call: ast.Call) -> int:
        """Give the line of the group an option stands in, of whose options only one is taken."""
        made = [item.value for item in self._bound(_owner(call))]
        groups = (
            item.lineno
            for item in made
            if isinstance(item, ast.Call) and made_of(item) == "add_mutually_exclusive_group"
        )
        return next(groups, 0)

    def _action(self, node: ast.expr | None) -> str:
        if node is None:
            return "store"
        found = self._values.value(node)
        if isinstance(found, str) and (found in _ACTIONS or found in _BARE):
            return found
        if text_of(node).endswith("BooleanOptionalAction"):
            return "BooleanOptionalAction"
        raise _NotToldError

    def _nargs(self, node: ast.expr | None) -> str | int | None:
        if node is None:
            return None
        if text_of(node).endswith("REMAINDER"):
            return _REMAINDER
        found = self._values.value(node)
        if found is None or isinstance(found, (str, int)):
            return found
        raise _NotToldError

    def _kind(self, node: ast.expr | None) -> str:
        if node is None:
            return "str"
        name = text_of(node) if isinstance(node, ast.Name) else ""
        return name if name in _KINDS else "?"

    def _choices(self, node: ast.expr | None) -> tuple[Value, ...] | None:
        found = None if node is None else self._values.value(node)
        if not isinstance(found, list) or not is_known(found):
            return None
        return tuple(item for item in map(_plain, found) if item is not None)


def _owner(call: ast.Call) -> ast.expr | None:
    return call.func.value if isinstance(call.func, ast.Attribute) else None


def made_of(call: ast.Call) -> str:
    """Name the class a call makes an object of."""
    return text_of(call.func).rpartition(".")[2]


def _plain(value: object) -> Value:
    return value if isinstance(value, (str, int, float, bool)) else None
