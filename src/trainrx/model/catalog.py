"""What one package's command line took at each of its releases: every name, type and default."""

from __future__ import annotations

from typing import Any

import msgspec

Value = bool | int | float | str | list[Any] | dict[str, Any] | None
"""A default as the source declares it; None is the declared None."""

Span = tuple[str, str | None]
"""First release of a stretch and the first one after it (None: still there)."""


class Option(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One name over the releases in which it behaves as one.

    The histories `types`, `defaults` and `choices` hold (since, value) pairs, oldest first. A
    default that is computed when the program starts is {"expr": source}, one that must be given is
    {"required": true}.
    """

    name: str
    commands: tuple[str, ...]
    spans: tuple[Span, ...]
    types: tuple[tuple[str, str], ...] = ()
    defaults: tuple[tuple[str, Value], ...] = ()
    choices: tuple[tuple[str, tuple[Value, ...] | None], ...] = ()
    aliases: tuple[str, ...] = ()


class Inherited(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments a command takes over from a class of another package, while the span lasts."""

    package: str
    command: str
    span: Span


class Contents(msgspec.Struct, frozen=True, kw_only=True):
    """First line of a catalog: the releases read, the life of each command, what it inherits.

    `references`: for each release of this package, the release of another one that was the newest
    allowed by its pins when it appeared (package to since-value pairs).
    """

    package: str
    releases: tuple[str, ...]
    commands: dict[str, tuple[Span, ...]]
    inherits: dict[str, tuple[Inherited, ...]] = {}
    references: dict[str, tuple[tuple[str, str], ...]] = {}


class Rename(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A name that was replaced: `old` until release `until`, `new` since then.

    `new` is empty when nothing replaces it. `inverted`: true became false. `values` maps old values
    to new ones. `commands` is empty when it concerns all.
    """

    package: str
    old: str
    new: str
    until: str = ""
    commands: tuple[str, ...] = ()
    inverted: bool = False
    values: dict[str, str] = {}
    source: str = ""
