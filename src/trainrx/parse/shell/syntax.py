"""The parts of a shell script, as far as launch scripts need them."""

from __future__ import annotations

from typing import Union

import msgspec


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


class Count(msgspec.Struct, frozen=True):
    """`for ((first; condition; step))`."""

    first: str
    condition: str
    step: str
    body: Block


class Case(msgspec.Struct, frozen=True):
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
    Count,
    Redirected,
    Case,
    Function,
    Test,
    Arithmetic,
]
