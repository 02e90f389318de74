"""Which releases of a package take a name, its own or one inherited from another package."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from trainrx.catalog.catalog import Catalog, catalog
from trainrx.model.catalog import Inherited

_DEPTH = 4


def takers(package: str, command: str, name: str, versions: Mapping[str, str] | None = None) -> int:
    """Give the releases of a package in which a command ("" any) takes a name, as bits.

    Other than a signature, which joins the releases a job may run, this tells them apart: what
    transformers dropped is gone since the release of the framework that came with it.

    Args:
        package: canonical package name.
        command: its sub-command as the catalog calls it.
        name: the argument.
        versions: versions of other packages at hand.
    """
    return _takers(catalog(package), command, name, versions or {}, 0)


def other_commands(package: str, command: str, name: str, bits: int) -> tuple[str, ...]:
    """Give the other commands that take a name at some of the releases, the likely ones first.

    Those that take it in most of the releases they have there go first; of equals, in order.
    """
    known = catalog(package)
    if not _is_anywhere(known, name, 0):  # most slips: to ask command by command takes far longer
        return ()
    shares: dict[str, float] = {}
    for other, spans in known.contents.commands.items():
        life = known.mask(spans) & bits
        taking = takers(package, other, name) & life
        if other != command and taking:
            shares[other] = taking.bit_count() / bits.bit_count()
    kind = command.rpartition(" ")[0]
    own = {other for other in shares if other.rpartition(" ")[0] == kind}
    return tuple(sorted(own or shares, key=lambda other: (-shares[other], other)))


def _is_anywhere(known: Catalog, name: str, depth: int) -> bool:
    """Tell whether any command of any release takes a name, its own or inherited."""
    if known.find(name):
        return True
    above = {parent.package for parent in _parents(known, "")} if depth < _DEPTH else set()
    return any(_is_anywhere(catalog(package), name, depth + 1) for package in sorted(above))


def _takers(
    known: Catalog, command: str, name: str, versions: Mapping[str, str], depth: int
) -> int:
    bits = 0
    for option in known.find(name, command):
        bits |= known.bits(option)
    if depth < _DEPTH:
        for parent in _parents(known, command):
            bits |= _inherited(known, parent, name, versions, depth)
    return bits & known.life(command)


def _inherited(
    known: Catalog, parent: Inherited, name: str, versions: Mapping[str, str], depth: int
) -> int:
    above = catalog(parent.package)
    taking = _takers(above, parent.command, name, versions, depth + 1)
    span = known.mask((parent.span,))
    if not taking:
        return 0
    given = versions.get(parent.package)
    if given:
        return span if taking & above.of(given) else 0
    history = known.contents.references.get(parent.package, ())
    if not history:
        return span
    bits = 0
    for index, (since, release) in enumerate(history):
        until = history[index + 1][0] if index + 1 < len(history) else None
        if taking & above.of(release):
            bits |= known.mask(((since, until),))
    return bits & span


def _parents(known: Catalog, command: str) -> Iterable[Inherited]:
    inherits = known.contents.inherits
    if command:
        return inherits.get(command, ())
    return dict.fromkeys(parent for parents in inherits.values() for parent in parents)
