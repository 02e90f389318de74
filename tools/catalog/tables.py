"""What is read out of one release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from catalog.evaluate import Expr, Read
from trainrx.model.catalog import Value


class Argument(NamedTuple):
    """One argument at one release; see `Option` for the forms of type and default."""

    type: str
    default: Value
    choices: tuple[Value, ...] | None = None
    aliases: tuple[str, ...] = ()


Table = dict[str, Argument]


class Command(NamedTuple):
    """The arguments a command declares itself, and the classes of other packages it adds.

    `yielding` names those that stand behind such a class in the order of ancestors: where the class
    has the name as well, it is the class that describes it.
    """

    arguments: Table
    inherits: tuple[tuple[str, str], ...] = ()
    yielding: frozenset[str] = frozenset()


Commands = Mapping[str, Command]

REQUIRED: Value = {"required": True}


def plain_value(value: Read) -> Value:
    """Turn a read value into what is written: source text becomes {"expr": text}."""
    if isinstance(value, Expr):
        return {"expr": " ".join(str(value).split())}
    if isinstance(value, float) and (value != value or abs(value) == float("inf")):  # noqa: PLR0124
        return {"expr": str(value)}
    if isinstance(value, list):
        return [plain_value(v) for v in value]
    if isinstance(value, dict):
        return {k: plain_value(v) for k, v in value.items()}
    return value


def joined(commands: Sequence[Command], inherits: Sequence[tuple[str, str]] = ()) -> Command:
    """Join what one parser is given; the first command that has a name describes it."""
    table: Table = {}
    yielding: set[str] = set()
    for command in commands:
        yielding |= command.yielding - table.keys()
        table = command.arguments | table
    parents = [parent for command in commands for parent in command.inherits]
    return Command(table, tuple(dict.fromkeys([*parents, *inherits])), frozenset(yielding))
