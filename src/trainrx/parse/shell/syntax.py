"""The parts of a shell script, as far as launch scripts need them."""

from __future__ import annotations

from typing import NamedTuple, Union


class Raw(NamedTuple):
    """A word as written, quotes and all, and its position."""

    text: str
    at: int


class Assign(NamedTuple):
    """`name=value`, `name+=value`, `name=(a b)`, `name[i]=value`."""

    name: str
    value: str
    items: tuple[Raw, ...] | None
    append: bool
    indexed: bool
    at: int


class Simple(NamedTuple):
    """A simple command; `here` is a here-string or here-document."""

    assigns: tuple[Assign, ...]
    words: tuple[Raw, ...]
    here: Raw | None
    at: int


class Pipeline(NamedTuple):
    """Commands joined by `|`, each in a subshell of its own."""

    parts: tuple[Node, ...]
    negated: bool


class AndOr(NamedTuple):
    """Pipelines joined by `&&` and `||`: the first, then operator and pipeline."""

    first: Node
    rest: tuple[tuple[str, Node], ...]


class Block(NamedTuple):
    """Commands one after the other."""

    body: tuple[Node, ...]


class Subshell(NamedTuple):
    """`( ... )`, or a command sent to the background."""

    body: Node


class If(NamedTuple):
    """Condition and body of `if` and every `elif`; the `else` body."""

    branches: tuple[tuple[Block, Block], ...]
    otherwise: Block | None


class For(NamedTuple):
    """`for name in words`; words None: over the positional parameters."""

    name: str
    words: tuple[Raw, ...] | None
    body: Block
    at: int


class Loop(NamedTuple):
    """`while`, `until`, and the C-style `for`, which has a counter instead of a condition."""

    condition: Block | None
    body: Block
    until: bool = False
    counter: str = ""


class Case(NamedTuple):
    """`case word in pattern) body ;; ...`."""

    word: Raw
    items: tuple[tuple[tuple[Raw, ...], Block], ...]


class Function(NamedTuple):
    """A function definition."""

    name: str
    body: Node


class Test(NamedTuple):
    """`[[ ... ]]`: its words and operators."""

    words: tuple[Raw, ...]


class Arithmetic(NamedTuple):
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
    Case,
    Function,
    Test,
    Arithmetic,
]
