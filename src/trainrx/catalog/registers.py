"""Names that a framework looks up in a register of its own when it runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from trainrx.catalog.catalog import Catalog, catalog
from trainrx.model.catalog import Register, Span


class RegisterContext(msgspec.Struct, frozen=True):
    """A framework at the releases a launch may run, and the versions of packages at hand."""

    framework: str
    version: str | None
    versions: Mapping[str, str]


def releases_met(package: str, place: RegisterContext) -> int:
    """Give the releases of a package a launch may run with.

    Where nothing is known of another package, these are all up to the newest one the framework
    allowed when it appeared.
    """
    known = catalog(package)
    own = catalog(place.framework)
    if package == place.framework:
        return known.of(place.version)
    if package in place.versions:
        return known.of(place.versions[package])
    history = own.contents.references.get(package, ())
    met = own.values(history, own.of(place.version))
    newest = max((known.of(version) for version in met), default=0)
    return (newest << 1) - 1 if newest else known.all


def is_read(register: Register, place: RegisterContext) -> bool | None:
    """Tell whether names are looked up in a register; None where nobody can tell.

    False when none of the releases the launch may run looks them up there. Of another package the
    newest decides: how old it may be is seldom known, and its register is as old as its argument.
    A release that is not listed (newer, or in development) may have names nobody has read.
    """
    known = catalog(register.package)
    own = register.package == place.framework
    if not known.covers(place.version if own else place.versions.get(register.package)):
        return None
    bits = releases_met(register.package, place)
    if not own:
        bits = 1 << max(bits.bit_length() - 1, 0)
    looked_up = known.mask(register.known) & bits
    return looked_up == bits if looked_up in (0, bits) else None


def refuses(registers: Sequence[Register], value: str, place: RegisterContext) -> bool:
    """Tell whether none of the registers knows a value at any release the launch may run."""
    split = next((register.split for register in registers if register.split), "")
    words = value.split(split) if split else [value]
    return any(
        word and not any(_knows(register, word, place) for register in registers) for word in words
    )


def names_at(register: Register, place: RegisterContext) -> tuple[str, ...]:
    """Give the names a register has at some release the launch may run."""
    known = catalog(register.package)
    bits = releases_met(register.package, place)
    return tuple(
        name
        for spans, names in register.names()
        if known.mask(spans) & bits
        for name in names
        if not name.endswith("*")
    )


def lives(register: Register, value: str) -> str:
    """Say at which releases a register has a name: `>=1.7.3,<3.0.0`; "" where it never does."""
    known = catalog(register.package)
    return next(
        (known.describe(known.mask(spans)) for spans, names in register.names() if value in names),
        "",
    )


def _knows(register: Register, word: str, place: RegisterContext) -> bool:
    known = catalog(register.package)
    bits = releases_met(register.package, place)
    names = _names(register.names(), known, bits)
    if register.any_case:
        return any(_fits(word.lower(), name.lower()) for name in names)
    return any(_fits(word, name) for name in names)


def _names(
    held: Sequence[tuple[tuple[Span, ...], tuple[str, ...]]], known: Catalog, bits: int
) -> Iterator[str]:
    for spans, names in held:
        if known.mask(spans) & bits:
            yield from names


def _fits(word: str, name: str) -> bool:
    return word.startswith(name[:-1]) if name.endswith("*") else word == name
