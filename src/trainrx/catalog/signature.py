"""Which arguments a command takes at the releases a job may run, its own and inherited ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

import msgspec

from trainrx.catalog.catalog import Catalog, KnownArgument, catalog, holds, plain
from trainrx.frameworks import framework_of
from trainrx.model.catalog import Inherited
from trainrx.model.job import RawArg
from trainrx.model.pattern import late

_MAX_DEPTH = 4
_OPEN = late(r"\b(?:dict|Dict|Mapping|Any|DictDefault)\b")
"""Types of fields that take any key inside."""


class Signature:
    """The arguments one command of a framework takes, own and inherited, at some releases.

    Args:
        framework: package name of the framework.
        command: its sub-command; "" takes the arguments of all.
        bits: releases of the framework the job may run; None is all.
        versions: versions of other packages at hand (transformers decides what is inherited).
        beside: further tables of the framework that count (plugins).
    """

    def __init__(
        self,
        framework: str,
        command: str,
        bits: int | None = None,
        versions: Mapping[str, str] | None = None,
        beside: Sequence[str] = (),
    ) -> None:
        self.catalog = catalog(framework)
        self.command = command
        self.bits = self.catalog.all if bits is None else bits
        self._versions = dict(versions or {})
        self._known: dict[str, KnownArgument] = {}
        for table in (command, *beside):
            self._collect(self.catalog, table, self.bits, self.bits, 0)
        self._names = {plain(name): known for name, known in self._known.items()}
        for known in self._known.values():
            for alias in known.aliases:
                self._names.setdefault(plain(alias), known)

    def __len__(self) -> int:
        return len(self._known)

    def __iter__(self) -> Iterator[KnownArgument]:
        return iter(self._known.values())

    def get(self, name: str) -> KnownArgument | None:
        """Give the argument of this name or alias (dashes and underscores are the same)."""
        return self._names.get(plain(name))

    def below(self, name: str) -> bool:
        """Tell whether there are arguments inside one of this name (`a.b` is inside `a`)."""
        start = f"{plain(name)}."
        return any(kept.startswith(start) for kept in self._names)

    def nested(self, name: str) -> KnownArgument | None:
        """Give the argument of a dotted key: itself, an element of a list, or what holds it.

        The key of an open mapping (`special.any`) gives the mapping under the key's own name,
        without a type; one that a closed model lacks gives None.
        """
        parts = plain(name).split(".")
        for count in range(len(parts), 0, -1):
            known = self._element(parts[:count])
            if known is None:
                continue
            if count == len(parts):
                return msgspec.structs.replace(known, name=name)
            inside = msgspec.structs.replace(
                known, name=name, type="", default=None, settled=False, choices=None
            )
            return inside if _OPEN.search(known.type) else None
        return None

    def _element(self, parts: Sequence[str]) -> KnownArgument | None:
        """Find a key; a number in it may be the `*` of a list."""
        known = self._names.get(".".join(parts))
        if known is None and any(part.isdecimal() for part in parts):
            general = ("*" if part.isdecimal() else part for part in parts)
            known = self._names.get(".".join(general))
        return known

    def completing(self, prefix: str) -> tuple[KnownArgument, ...]:
        """Give the arguments whose name begins so: argparse takes an unambiguous beginning."""
        start = plain(prefix)
        found = {id(k): k for name, k in self._names.items() if name.startswith(start)}
        return tuple(found.values())

    def runs_with(self, package: str, release: str) -> bool:
        """Tell whether another package is surely of a release or a later one."""
        above = catalog(package)
        met = self._releases_of(package, self.catalog, self.bits, above)
        return met & ~above.since(release) == 0

    def _collect(self, source: Catalog, command: str, bits: int, mine: int, depth: int) -> None:
        """Take the options of a catalog; `mine` are the framework's releases they count for."""
        for option in source.options(command, bits):
            self._add(source.known(option, bits, None if source is self.catalog else mine))
        if depth >= _MAX_DEPTH:
            return
        for parent in _parents(source, command):
            span = source.mask((parent.span,)) & bits
            above = catalog(parent.package)
            if span and above.releases:
                inherited = self._releases_of(parent.package, source, span, above)
                counts = span if source is self.catalog else mine
                self._collect(above, parent.command, inherited, counts, depth + 1)

    def _add(self, known: KnownArgument) -> None:
        """Take an argument; one that a command declares hides the one it inherits."""
        kept = self._known.get(known.name)
        if kept is None:
            self._known[known.name] = known
        elif known.releases & ~kept.releases:
            # declared at some of the releases, inherited at others
            same = kept.settled and known.settled and holds([kept.default], known.default)
            self._known[known.name] = msgspec.structs.replace(
                kept,
                releases=kept.releases | known.releases,
                settled=same,
                default=kept.default if same else None,
            )

    def _releases_of(self, package: str, source: Catalog, span: int, above: Catalog) -> int:
        given = self._versions.get(package)
        if given:
            return above.of(given)
        named = source.values(source.contents.references.get(package, ()), span)
        bits = 0
        for version in named:
            bits |= above.of(version)
        return bits or 1 << (len(above.releases) - 1)


@lru_cache(maxsize=64)
def _signature(
    framework: str,
    command: str,
    bits: int,
    versions: tuple[tuple[str, str], ...],
    beside: tuple[str, ...],
) -> Signature:
    return Signature(framework, command, bits, dict(versions), beside)


def signature(
    framework: str,
    command: str,
    bits: int,
    versions: Mapping[str, str] | None = None,
    beside: tuple[str, ...] = (),
) -> Signature:
    """Give the arguments a command takes; worked out once for the same question."""
    return _signature(framework, command, bits, tuple(sorted((versions or {}).items())), beside)


def catalog_command(framework: str, command: str) -> str:
    """Give the name a command has in the catalog of its framework; "" when it is none of them."""
    commands = catalog(framework).contents.commands
    if command in commands:
        return command
    for pattern in framework_of(framework).catalog_commands:
        for word in (command.replace("-", "_"), command.replace("_", "-")):
            if pattern.format(word) in commands:
                return pattern.format(word)
    return ""


def releases_taking(args: Iterable[RawArg], framework: str, command: str) -> int:
    """Give the releases of a framework that take most of the arguments of a launch.

    An argument that any release inherits from another package tells nothing. All releases when no
    argument tells one from another.
    """
    known = catalog(framework)
    life = known.has_command(command) or known.all
    takers: dict[int, int] = {}
    for name in {plain(arg.name) for arg in args if arg.via in ("arg", "config")}:
        bits = 0
        for option in known.find(name, command):
            bits |= known.bits(option)
        if bits & life and bits & life != life and not _is_inherited(name, known, command):
            takers[bits & life] = takers.get(bits & life, 0) + 1
    if not takers:
        return life
    counts = [
        sum(count for bits, count in takers.items() if bits >> i & 1)
        for i in range(len(known.releases))
    ]
    most = max(counts)
    return sum(1 << i for i, count in enumerate(counts) if count == most)


def _parents(source: Catalog, command: str) -> Iterable[Inherited]:
    """Give what a command inherits; what any command does when none is named."""
    inherits = source.contents.inherits
    if command:
        return inherits.get(command, ())
    return dict.fromkeys(parent for parents in inherits.values() for parent in parents)


def _is_inherited(name: str, source: Catalog, command: str, depth: int = 0) -> bool:
    if depth > _MAX_DEPTH:
        return False
    for parent in _parents(source, command):
        above = catalog(parent.package)
        if above.find(name, parent.command) or _is_inherited(
            name, above, parent.command, depth + 1
        ):
            return True
    return False
