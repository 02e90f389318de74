"""Which arguments a command takes at the releases a job may run, and with which defaults."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple, TypeVar

from packaging.version import Version

from trainrx.kb.catalogs import read_catalog
from trainrx.model.catalog import Contents, Inherited, Option, Span, Value
from trainrx.model.job import RawArg
from trainrx.parse.version_range import in_range

T = TypeVar("T")
_MAX_DEPTH = 4
_COMMANDS: Mapping[str, tuple[str, ...]] = {
    "transformers": ("Seq2SeqTrainingArguments",),
    "verl": ("{}_trainer",),
    "openrlhf": ("train_{}", "{}"),
    "trl": ("{}",),
}
"""How a catalog names the commands of a framework, by what the launch calls them."""

_OPEN = re.compile(r"\b(?:dict|Dict|Mapping|Any|DictDefault)\b")
"""Types of fields that take any key inside."""

_PREFIX = re.compile(r"(\d{1,4}(?:\.\d{1,4})?)(?:\.[xX*])?")
"""`3`, `3.x`, `3.2`: every release of that series."""


class Known(NamedTuple):
    """What is known of one argument over the releases a job may run.

    `releases` are bits of the framework's own releases that take it. `type` and `choices` are those
    of the newest of them; `default` is None with `settled` false when it differs between them.
    """

    name: str
    package: str
    releases: int
    type: str
    default: Value
    settled: bool
    choices: tuple[Value, ...] | None
    aliases: tuple[str, ...]


class Catalog:
    """The catalog of one package; sets of releases are bits of a number, bit 0 the oldest."""

    def __init__(self, contents: Contents, options: Sequence[Option]) -> None:
        self.contents = contents
        self.package = contents.package
        self.releases = contents.releases
        self.all = (1 << len(contents.releases)) - 1
        self._index = {release: i for i, release in enumerate(contents.releases)}
        self._masks: dict[int, int] = {}
        self._by_name: dict[str, list[Option]] = {}
        for option in options:
            for name in (option.name, *option.aliases):
                self._by_name.setdefault(plain(name), []).append(option)

    @cached_property
    def versions(self) -> tuple[Version, ...]:
        """Give the releases as versions, ascending."""
        return tuple(Version(release) for release in self.releases)

    def of(self, text: str | None) -> int:
        """Give the releases a version text may mean.

        All of them when it is unknown or unreadable; one that is not listed (a development
        version, a release newer than the catalog) is read as the newest listed one before it.
        """
        if not text or not self.releases:
            return self.all
        spec = text.strip().removeprefix("==").partition("+")[0]
        if spec in self._index:
            return 1 << self._index[spec]
        prefix = _PREFIX.fullmatch(spec)
        if prefix is not None:
            return self._within(f"=={prefix[1]}.*") or self._before(prefix[1]) or self.all
        return self._within(spec) or self._before(spec) or self.all

    def describe(self, bits: int) -> str:
        """Write a set of releases as a range: `>=3.5.0,<3.6.0`, `==3.5.0`, "" for all."""
        if bits in (0, self.all):
            return ""
        first, last = (bits & -bits).bit_length() - 1, bits.bit_length() - 1
        if first == last:
            return f"=={self.releases[first]}"
        parts = [f">={self.releases[first]}"] if first else []
        if last + 1 < len(self.releases):
            parts.append(f"<{self.releases[last + 1]}")
        return ",".join(parts)

    def has_command(self, command: str) -> int:
        """Give the releases that have a command; 0 when none has."""
        return self.mask(self.contents.commands.get(command, ()))

    def life(self, command: str) -> int:
        """Give the releases of which something is known about a command; "" stands for any."""
        return self.has_command(command) if command in self.contents.commands else self.all

    def find(self, name: str, command: str = "") -> tuple[Option, ...]:
        """Give what a name stands for at any release; of this command only, when one is named."""
        found = self._by_name.get(plain(name), ())
        return tuple(o for o in found if not command or command in o.commands)

    def options(self, command: str, bits: int) -> Iterator[Option]:
        """Give the options a command takes at some of the releases."""
        seen: set[int] = set()
        for found in self._by_name.values():
            for option in found:
                if id(option) in seen or (command and command not in option.commands):
                    continue
                seen.add(id(option))
                if self.bits(option) & bits:
                    yield option

    def bits(self, option: Option) -> int:
        """Give the releases in which an option exists."""
        found = self._masks.get(id(option))
        if found is None:
            found = self._masks[id(option)] = self.mask(option.spans)
        return found

    def mask(self, spans: Iterable[Span]) -> int:
        """Give the releases some spans cover."""
        bits = 0
        for since, until in spans:
            start = self._index.get(since, 0)
            end = self._index.get(until, len(self.releases)) if until else len(self.releases)
            bits |= ((1 << max(end - start, 0)) - 1) << start
        return bits

    def values(self, history: Sequence[tuple[str, T]], bits: int) -> tuple[T, ...]:
        """Give the different values a history has over some releases, oldest first."""
        found: list[T] = []
        for i, (since, value) in enumerate(history):
            until = history[i + 1][0] if i + 1 < len(history) else None
            start = since if i else self.releases[0]
            if self.mask(((start, until),)) & bits and not _holds(found, value):
                found.append(value)
        return tuple(found)

    def known(self, option: Option, bits: int, package: str = "") -> Known:
        """Say what is known of an option over some releases."""
        mine = self.bits(option) & bits
        defaults = self.values(option.defaults, mine)
        types = self.values(option.types, mine)
        choices = self.values(option.choices, mine)
        settled = len(defaults) == 1 and not _is_open(defaults[0])
        return Known(
            name=option.name,
            package=package or self.package,
            releases=mine,
            type=types[-1] if types else "",
            default=defaults[0] if settled else None,
            settled=settled,
            choices=choices[-1] if choices else None,
            aliases=option.aliases,
        )

    def _within(self, spec: str) -> int:
        return sum(1 << i for i, r in enumerate(self.releases) if in_range(r, spec))

    def _before(self, spec: str) -> int:
        try:
            at = bisect_right(self.versions, Version(spec)) - 1
        except ValueError:
            return 0
        return 1 << at if at >= 0 else 0


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
        self._known: dict[str, Known] = {}
        for table in (command, *beside):
            self._collect(self.catalog, table, self.bits, self.bits, 0)
        self._names = {plain(name): known for name, known in self._known.items()}
        for known in self._known.values():
            for alias in known.aliases:
                self._names.setdefault(plain(alias), known)

    def __len__(self) -> int:
        return len(self._known)

    def __iter__(self) -> Iterator[Known]:
        return iter(self._known.values())

    def get(self, name: str) -> Known | None:
        """Give the argument of this name or alias (dashes and underscores are the same)."""
        return self._names.get(plain(name))

    def below(self, name: str) -> bool:
        """Tell whether there are arguments inside one of this name (`a.b` is inside `a`)."""
        start = f"{plain(name)}."
        return any(held.startswith(start) for held in self._names)

    def nested(self, name: str) -> Known | None:
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
                return known._replace(name=name)
            inside = known._replace(name=name, type="", default=None, settled=False, choices=None)
            return inside if _OPEN.search(known.type) else None
        return None

    def _element(self, parts: Sequence[str]) -> Known | None:
        """Find a key; a number in it may be the `*` of a list."""
        known = self._names.get(".".join(parts))
        if known is None and any(part.isdecimal() for part in parts):
            general = ("*" if part.isdecimal() else part for part in parts)
            known = self._names.get(".".join(general))
        return known

    def completing(self, prefix: str) -> tuple[Known, ...]:
        """Give the arguments whose name begins so: argparse takes an unambiguous beginning."""
        start = plain(prefix)
        found = {id(k): k for name, k in self._names.items() if name.startswith(start)}
        return tuple(found.values())

    def _collect(self, source: Catalog, command: str, bits: int, mine: int, depth: int) -> None:
        """Take the options of a catalog; `mine` are the framework's releases they count for."""
        for option in source.options(command, bits):
            known = source.known(option, bits)
            releases = known.releases if source is self.catalog else mine
            self._add(known._replace(releases=releases))
        if depth >= _MAX_DEPTH:
            return
        for parent in _parents(source, command):
            span = source.mask((parent.span,)) & bits
            above = catalog(parent.package)
            if span and above.releases:
                inherited = self._releases_of(parent.package, source, span, above)
                counts = span if source is self.catalog else mine
                self._collect(above, parent.command, inherited, counts, depth + 1)

    def _add(self, known: Known) -> None:
        """Take an argument; one that a command declares hides the one it inherits."""
        held = self._known.get(known.name)
        if held is None:
            self._known[known.name] = known
        elif known.releases & ~held.releases:
            # declared at some of the releases, inherited at others
            same = held.settled and known.settled and _holds([held.default], known.default)
            self._known[known.name] = held._replace(
                releases=held.releases | known.releases,
                settled=same,
                default=held.default if same else None,
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
    for pattern in _COMMANDS.get(framework, ()):
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
    takers: list[int] = []
    for name in {plain(arg.name) for arg in args if arg.via in ("arg", "config")}:
        bits = 0
        for option in known.find(name, command):
            bits |= known.bits(option)
        if bits & life and bits & life != life and not _is_inherited(name, known, command):
            takers.append(bits & life)
    if not takers:
        return life
    counts = [sum(bits >> i & 1 for bits in takers) for i in range(len(known.releases))]
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


@lru_cache(maxsize=32)
def catalog(package: str) -> Catalog:
    """Give the shipped catalog of a package; an empty one when nothing is known of it."""
    return Catalog(*read_catalog(package))


def plain(name: str) -> str:
    """Give the form names are compared in: no dashes in front, underscores inside."""
    return name.lstrip("-").replace("-", "_")


def _holds(values: Sequence[object], wanted: object) -> bool:
    """Tell whether a value is among others; 1, 1.0 and True are three."""
    return any(type(v) is type(wanted) and v == wanted for v in values)


def _is_open(value: Value) -> bool:
    """Tell whether a default is none that can be read: computed at start, or required."""
    return isinstance(value, dict) and ("expr" in value or "required" in value)
