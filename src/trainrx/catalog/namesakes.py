"""Names that stand for a refused one: renamed, of the same meaning, or one letter off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainrx.catalog.catalog import catalog, plain
from trainrx.catalog.signature import Signature
from trainrx.catalog.spellbook import Spellbook, serves
from trainrx.knowledge.catalogs import read_renames
from trainrx.model.job import RawLaunch
from trainrx.model.parts import Param

SHORTEST = 6
"""Shorter names have too many neighbours that are names of their own."""
_MAX_RENAMES = 6


def names_today(
    name: str, launch: RawLaunch, taken: Signature, params: Mapping[str, Param]
) -> tuple[str, ...]:
    """Give the names a refused argument has at the releases a job may run, the likely one first.

    Empty when nothing stands in its place.
    """
    renamed = tuple(dict.fromkeys(_renamed(name, taken)))
    if renamed:
        return renamed
    same = _same_meaning(name, launch, taken, params)
    return () if same is None else (same,)


def nearest(name: str, taken: Signature) -> str | None:
    """Give the argument a misspelt name stands next to: one letter off, or two swapped."""
    wanted = plain(name)
    if len(wanted) < SHORTEST or catalog(taken.catalog.package).find(name):
        return None
    names = sorted(plain(known.name) for known in taken)
    return next((known for known in names if _is_near(wanted, known)), None)


def _renamed(name: str, taken: Signature) -> Iterator[str]:
    """Follow renames, forwards and backwards, to names this version takes."""
    pairs: dict[str, list[str]] = {}
    owners = _owners(taken.catalog.package)
    for item in read_renames():
        if item.package in owners and item.new:
            pairs.setdefault(plain(item.old), []).append(item.new)
            pairs.setdefault(plain(item.new), []).append(item.old)
    seen, front = {plain(name)}, [name]
    for _ in range(_MAX_RENAMES):
        found = [
            new for old in front for new in pairs.get(plain(old), ()) if plain(new) not in seen
        ]
        seen.update(plain(new) for new in found)
        for new in found:
            known = taken.get(new)
            if known is not None:
                yield known.name
        front = found


def _owners(package: str) -> frozenset[str]:
    """Give a package and those it takes arguments over from."""
    inherits = catalog(package).contents.inherits
    above = (parent.package for parents in inherits.values() for parent in parents)
    return frozenset((package, *above))


def _same_meaning(
    name: str, launch: RawLaunch, taken: Signature, params: Mapping[str, Param]
) -> str | None:
    book = Spellbook(params, launch.framework, {})
    for entry in book.find(name, "arg", launch.command):
        for other in book.by_param[entry.param.id]:
            arg = other.spelling.arg
            held = arg and serves(other.spelling, launch.command) and taken.get(arg) is not None
            if held and plain(arg) != plain(name):
                return arg
    return None


def _is_near(name: str, known: str) -> bool:
    """Tell whether one letter is missing, added, wrong, or two stand in the wrong order.

    A name cut at its end is no mistake: argparse takes an unambiguous beginning.
    """
    if known.startswith(name) or name[0] != known[0] or abs(len(name) - len(known)) > 1:
        return False
    at = next((i for i, (a, b) in enumerate(zip(name, known, strict=False)) if a != b), len(known))
    rest, wanted = name[at:], known[at:]
    swapped = rest[:2] == wanted[:2][::-1] and rest[2:] == wanted[2:]
    return swapped or rest[1:] == wanted or rest == wanted[1:] or rest[1:] == wanted[1:]
