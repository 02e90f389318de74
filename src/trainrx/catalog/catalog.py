"""What one package takes at each of its releases."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import TypeVar

import msgspec
from packaging.version import Version

from trainrx.knowledge.catalogs import PackageOptions, open_catalog
from trainrx.model.catalog import Contents, Option, Span, Value
from trainrx.model.pattern import late
from trainrx.versions.ranges import in_range

T = TypeVar("T")
_PREFIX = late(r"(\d{1,4}(?:\.\d{1,4})?)(?:\.[xX*])?")
"""`3`, `3.x`, `3.2`: every release of that series."""


class KnownArgument(msgspec.Struct, frozen=True):
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

    def __init__(self, contents: Contents, options: PackageOptions) -> None:
        self.contents = contents
        self.package = contents.package
        self.releases = contents.releases
        self.all = (1 << len(contents.releases)) - 1
        self._index = {release: i for i, release in enumerate(contents.releases)}
        self._options = options
        self._stretches: dict[tuple[Span, ...], int] = {}
        self._meant: dict[str, int] = {}
        self._names: dict[str, dict[str, list[Option]]] = {}

    @cached_property
    def versions(self) -> tuple[Version, ...]:
        """Give the releases as versions, ascending."""
        return tuple(Version(release) for release in self.releases)

    def of(self, text: str | None) -> int:
        """Give the releases a version text may mean.

        All of them when it is unknown or unreadable; one that is not listed (a development
        version, a release newer than the catalog) is read as the newest listed one before it, one
        older than all as the oldest.
        """
        if not text or not self.releases:
            return self.all
        if text not in self._meant:
            self._meant[text] = self._of(text)
        return self._meant[text]

    def _of(self, text: str) -> int:
        spec = _plain_version(text)
        found = self._listed(spec) or self._before(_series(spec) or spec)
        return found or (1 if self.precedes(spec) else self.all)

    def precedes(self, text: str | None) -> bool:
        """Tell whether a version text means releases older than all that are listed only.

        What those took is not known: no name and no value of theirs can be called wrong.
        """
        if not text or not self.releases:
            return False
        return in_range(_plain_version(text), f"<{self.releases[0]}") is True

    def covers(self, text: str | None) -> bool:
        """Tell whether a version text means listed releases, not one between or after them."""
        return not text or bool(self._listed(_plain_version(text)))

    def _listed(self, spec: str) -> int:
        if spec in self._index:
            return 1 << self._index[spec]
        series = _series(spec)
        return self._within(f"=={series}.*" if series else spec)

    def since(self, release: str) -> int:
        """Give the releases from a listed one on."""
        return self.all & ~((1 << self._index[release]) - 1)

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
        if command not in self._names:
            names: dict[str, list[Option]] = {}
            for option in self._options.of(command):
                for called in (option.name, *option.aliases):
                    names.setdefault(plain(called), []).append(option)
            self._names[command] = names
        return tuple(self._names[command].get(plain(name), ()))

    def options(self, command: str, bits: int) -> Iterator[Option]:
        """Give the options a command takes at some of the releases."""
        return (option for option in self._options.of(command) if self.bits(option) & bits)

    def bits(self, option: Option) -> int:
        """Give the releases in which an option exists."""
        # most options exist over one of a few stretches
        bits = self._stretches.get(option.spans)
        if bits is None:
            bits = self._stretches[option.spans] = self.mask(option.spans)
        return bits

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
        if len(history) == 1:
            return (history[0][1],) if bits else ()
        index, end = self._index, len(self.releases)
        starts = [index.get(since, 0) for since, _ in history]
        starts[:1] = [0]
        found: list[T] = []
        for start, until, (_, value) in zip(starts, (*starts[1:], end), history, strict=False):
            within = ((1 << max(until - start, 0)) - 1) << start
            if within & bits and not holds(found, value):
                found.append(value)
        return tuple(found)

    def known(self, option: Option, bits: int, releases: int | None = None) -> KnownArgument:
        """Say what is known of an option over some releases.

        `releases` are those of the framework that takes it over from this package.
        """
        mine = self.bits(option) & bits
        defaults = self.values(option.defaults, mine)
        types = self.values(option.types, mine)
        choices = self.values(option.choices, mine) if option.choices else ()
        settled = len(defaults) == 1 and not _is_open(defaults[0])
        return KnownArgument(
            name=option.name,
            package=self.package,
            releases=mine if releases is None else releases,
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


@lru_cache(maxsize=32)
def catalog(package: str) -> Catalog:
    """Give the shipped catalog of a package; an empty one when nothing is known of it."""
    return Catalog(*open_catalog(package))


def plain(name: str) -> str:
    """Give the form names are compared in: no dashes in front, underscores inside."""
    return name.lstrip("-").replace("-", "_")


def holds(values: Sequence[object], wanted: object) -> bool:
    """Tell whether a value is among others; 1, 1.0 and True are three."""
    return any(type(v) is type(wanted) and v == wanted for v in values)


def _plain_version(text: str) -> str:
    return text.strip().removeprefix("==").partition("+")[0]


def _series(spec: str) -> str:
    """Give the numbers of `3`, `3.x` or `3.2`; "" for a range or a whole version."""
    match = _PREFIX.fullmatch(spec) if spec[:1].isdecimal() else None
    return match[1] if match is not None else ""


def _is_open(value: Value) -> bool:
    """Tell whether a default is none that can be read: computed at start, or required."""
    return isinstance(value, dict) and ("expr" in value or "required" in value)
