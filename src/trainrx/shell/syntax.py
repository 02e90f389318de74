"""The parts of a shell script, as far as launch scripts need them."""

from __future__ import annotations

import re
from typing import Union

import msgspec

from trainrx.model.pattern import late

_ASSIGN = late(r"([A-Za-z_]\w*)(\[(?:[^\[\]\n]|\[[^\]\n]*\])*\])?(\+?)=", re.ASCII)


class Raw(msgspec.Struct, frozen=True):
    """A word as written, quotes and all, and its position."""

    text: str
    at: int


class Assign(msgspec.Struct, frozen=True):
    """`name=value`, `name+=value`, `name=(a b)`, `name[key]=value`."""

    name: str
    value: str
    items: tuple[Raw, ...] | None
    append: bool
    key: str | None
    at: int


class Redirect(msgspec.Struct, frozen=True):
    """`2> target`; the sign without the number in front of it."""

    number: str
    sign: str
    target: Raw


class Simple(msgspec.Struct, frozen=True):
    """A simple command; `here` is a here-string or here-document."""

    assigns: tuple[Assign, ...]
    words: tuple[Raw, ...]
    here: Raw | None
    at: int
    redirects: tuple[Redirect, ...] = ()


class Redirected(msgspec.Struct, frozen=True):
    """A compound command with redirections behind it."""

    body: Node
    here: Raw | None
    redirects: tuple[Redirect, ...]


class Pipeline(msgspec.Struct, frozen=True):
    """Commands joined by `|`, each in a subshell of its own."""

    parts: tuple[Node, ...]
    negated: bool


class AndOr(msgspec.Struct, frozen=True):
    """Pipelines joined by `&&` and `||`: the first, then operator and pipeline."""

    first: Node
    rest: tuple[tuple[str, Node], ...]


class Block(msgspec.Struct, frozen=True):
    """Commands one after the other."""

    body: tuple[Node, ...]


class Subshell(msgspec.Struct, frozen=True):
    """`( ... )`, or a command sent to the background."""

    body: Node


class If(msgspec.Struct, frozen=True):
    """Condition and body of `if` and every `elif`; the `else` body."""

    branches: tuple[tuple[Block, Block], ...]
    otherwise: Block | None


class For(msgspec.Struct, frozen=True):
    """`for name in words`; words None: over the positional parameters."""

    name: str
    words: tuple[Raw, ...] | None
    body: Block
    at: int


class Loop(msgspec.Struct, frozen=True):
    """`while` and `until`."""

    condition: Block
    body: Block
    until: bool = False


class CountedLoop(msgspec.Struct, frozen=True):
    """`for ((first; condition; step))`."""

    first: str
    condition: str
    step: str
    body: Block


class CaseCommand(msgspec.Struct, frozen=True):
    """`case word in pattern) body ;; ...`."""

    word: Raw
    items: tuple[tuple[tuple[Raw, ...], Block], ...]


class Function(msgspec.Struct, frozen=True):
    """A function definition."""

    name: str
    body: Node


class Test(msgspec.Struct, frozen=True):
    """`[[ ... ]]`: its words and operators."""

    words: tuple[Raw, ...]


class Arithmetic(msgspec.Struct, frozen=True):
    """`(( ... ))`."""

    text: str


Node = Union[  # noqa: UP007  # evaluated at run time on Python 3.10, where it names itself
    Simple,
    Pipeline,
    AndOr,
    Block,
    Subshell,
    If,
    For,
    Loop,
    CountedLoop,
    Redirected,
    CaseCommand,
    Function,
    Test,
    Arithmetic,
]


def assignment(word: Raw, items: tuple[Raw, ...] | None = None) -> Assign | None:
    """Read a word as an assignment, of these items when it is an array; None when it is none."""
    name, sign, rest = word.text.partition("=")
    if not sign:
        return None
    if name.isascii() and name.isidentifier():  # most are this plain, and need no pattern
        return Assign(name, rest, items, False, None, word.at + len(name) + 1)
    match = _ASSIGN.match(word.text)
    if match is None:
        return None
    value, at = word.text[match.end() :], word.at + match.end()
    index = None if match[2] is None else match[2][1:-1]
    return Assign(match[1], value, items, match[3] == "+", index, at)
