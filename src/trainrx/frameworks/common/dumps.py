"""The forms in which programs print the arguments they run with, read into named values.

Sources: deepspeed/runtime/config.py, accelerate/commands/launch.py; those of frameworks stand with
each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Literal, NamedTuple

from trainrx.frameworks.common.recognise import by_precedence
from trainrx.frameworks.common.script import SCRIPT
from trainrx.inputs.config import read_config
from trainrx.inputs.reprs import Node, flatten, read_fields, read_repr, read_scalar, whole
from trainrx.model.pattern import late

Kind = Literal[
    "arguments",
    "trainer",
    "engine",
    "adjusted",
    "environment",
    "model-kwargs",
    "deepspeed",
    "banner",
]
"""arguments: all arguments of a command; trainer: what it handed to its trainer; engine: what an
inference engine made of them; adjusted: single ones set later; environment: variables in effect;
model-kwargs: what the model is loaded with; deepspeed: its whole configuration; banner: the
figures a trainer prints before its first step."""

Value = tuple[str, tuple[str, ...] | None, int]
"""Name, texts (None: printed, but not to be told), lines below the first line of the dump."""

_FIELD = late(r"([A-Za-z_]\w{0,127})=(.*)", re.DOTALL)
_OTHER_LINE = late(r"\[\w{2,10}[:|\]]|\[(?:rank)?\d|\d{4}-\d\d-\d\d|[A-Z]\d{4} \d\d:|/\S+\.py:\d")
_DOTTED = late(r"\[config\.py:\d+:print\]\s{1,4}(\w{1,60}) (?:\.{2,40} | ?)(.*)")
_WAS_SET = late(r"\t`--(\w{1,60})` was set to a value of `([^`]{0,200})`")


class DumpForm(NamedTuple):
    """What a dump begins with, and what reads it: its text, and what stands in front on its line.

    `back`: letters in front of the needle that belong to it.
    """

    needle: bytes
    read: Callable[[str, str], Read | None]
    back: re.Pattern[bytes] | None = None


class Read(NamedTuple):
    """One dump as read."""

    framework: str
    command: str
    kind: Kind
    values: list[Value]


def read_object(text: str, before: str) -> Read | None:
    """Read `Name(...)` at the start of a text; `before` is what stands in front on its line."""
    name = text.partition("(")[0]
    owners = (
        (one.name, *found)
        for one in (*by_precedence(), SCRIPT)
        if (found := one.printed_object(name, before)) is not None
    )
    owner = next(owners, None)
    if owner is None:
        return None
    values = [(leaf, told, 0) for leaf, told in whole(_fields(text[len(name) :]))]
    if len(text) > len(name) + 1 and text[len(name) + 1] == "\n":
        values = list(_field_lines(text))
    return Read(*owner, values) if values else None


def _fields(text: str) -> Mapping[str, Node]:
    node = read_repr(f"X{text}")
    return node if isinstance(node, dict) else {}


def leaves(fields: Mapping[str, Node]) -> list[Value]:
    """Give the innermost values, under dotted names."""
    return [(name, values, 0) for name, values in flatten(fields)]


def _field_lines(text: str) -> Iterator[Value]:
    """Read one `name=value,` per line; a text over several lines keeps its lines.

    Lines of other processes in between are passed over.
    """
    held: tuple[str, list[str], int] | None = None
    for number, line in enumerate(text.split("\n")[1:], start=1):
        field = _FIELD.fullmatch(line)
        if field is not None:
            if held is not None:
                yield from _field(*held)
            held = (field[1], [field[2]], number)
        elif line.rstrip() == ")":
            break
        elif held is not None and not _OTHER_LINE.match(line):
            held[1].append(line)
    else:
        return  # broken off: the last value may not be whole
    if held is not None:
        yield from _field(*held)


def _field(name: str, lines: list[str], number: int) -> Iterator[Value]:
    text = "\n".join(lines).rstrip().removesuffix(",")
    if not text or text[0] not in "[{(<'\"":
        yield name, (read_scalar(text),), number
        return
    for leaf, values in whole({name: read_repr(text)}):
        yield leaf, values, number


def read_dict(text: str, framework: str, command: str, kind: Kind) -> Read | None:
    """Read a printed dict."""
    node = read_repr(text)
    values = leaves(node) if isinstance(node, dict) else []
    return Read(framework, command, kind, values) if values else None


def read_engine(text: str, framework: str) -> Read | None:
    """Read the line vLLM prints of its engine's configuration."""
    values = leaves(read_fields(text.partition("\n")[0]))
    return Read(framework, "", "engine", values) if values else None


def read_json(text: str, framework: str, command: str = "") -> Read | None:
    """Read indented JSON that ends with a brace at the start of a line."""
    lines = text.split("\n")
    ends = (number for number, line in enumerate(lines) if line.rstrip() == "}")
    end = next(ends, None)
    if end is None:
        return None
    args, _ = read_config("\n".join(lines[: end + 1]), framework)
    values = [(arg.name, arg.values, (arg.origin.line or 1) - 1) for arg in args]
    kind: Kind = "deepspeed" if framework == "deepspeed" else "arguments"
    return Read(framework, command, kind, values)


def read_deepspeed_lines(text: str) -> Read | None:
    """Read `name .... value` lines and the JSON DeepSpeed prints behind them."""
    values: list[Value] = []
    lines = text.split("\n")
    for number, line in enumerate(lines):
        opens = line.rstrip().endswith("  json = {")
        if opens:
            found = read_json("\n".join(["{", *lines[number + 1 :]]), "deepspeed")
            values += [(n, v, at + number) for n, v, at in found.values] if found else []
            break
        match = _DOTTED.search(line)
        if match is not None:
            value = match[2].strip()
            # an object that opens here goes on over the next lines: the JSON below has it
            known = value[:1] not in {"{", "<", ""} and "=" not in value
            values.append((match[1], (read_scalar(value),) if known else None, number))
    return Read("deepspeed", "", "deepspeed", values) if values else None


def read_accelerate(text: str) -> Read | None:
    """Read what accelerate says it chose for options that were not given."""
    values: list[Value] = [
        (match[1], (read_scalar(match[2].strip("'")),), number)
        for number, line in enumerate(text.split("\n")[:24])
        if (match := _WAS_SET.match(line)) is not None
    ]
    return Read("accelerate", "launch", "adjusted", values) if values else None
