"""Which names mean what for one framework at the versions it may have, and their likes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Literal

import msgspec

from trainrx.catalog.catalog import catalog, plain
from trainrx.catalog.signature import Signature
from trainrx.frameworks import framework_of
from trainrx.knowledge.catalogs import read_renames
from trainrx.knowledge.identity import ByIdentity
from trainrx.model.job import RawLaunch
from trainrx.model.parts import Param, Spelling
from trainrx.versions.ranges import Timeline

Via = Literal["arg", "env", "config", "launcher"]

OUTER = ("launcher", "accelerate", "any")
"""Names every framework shares: launcher options, accelerate's config keys, environment."""


class SpellbookEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One spelling of one parameter; `bits` are the stretches of its package's history."""

    param: Param
    spelling: Spelling
    owner: str
    bits: int
    place: int


Served = tuple[tuple[str, tuple[SpellbookEntry, ...]], ...]
"""Owners in order, each with entries."""


class _Shelf:
    """What holds at all versions: each parameter's spellings, and where they belong in time."""

    def __init__(self, params: Mapping[str, Param], framework: str) -> None:
        own = framework_of(framework).lineage or (framework,)
        self.owners: tuple[str, ...] = (*own, *(name for name in OUTER if name not in own))
        self.timelines = {owner: Timeline(_specs(params, owner)) for owner in self.owners}
        self.by_param: dict[str, tuple[SpellbookEntry, ...]] = {}
        self.by_name: dict[tuple[bool, str], list[SpellbookEntry]] = {}
        for param in params.values():
            self.by_param[param.id] = tuple(self._entries(param))
            for entry in self.by_param[param.id]:
                spelling = entry.spelling
                for name in (spelling.arg or spelling.env, *spelling.also):
                    self.by_name.setdefault((bool(spelling.env), plain(name)), []).append(entry)

    def _entries(self, param: Param) -> Iterable[SpellbookEntry]:
        place = 0
        for owner in self.owners:
            for spelling in param.spelled.get(owner, ()):
                bits = self.timelines[owner].within(spelling.versions)
                yield SpellbookEntry(
                    param=param, spelling=spelling, owner=owner, bits=bits, place=place
                )
                place += 1


@lru_cache(maxsize=32)
def _shelf(params: ByIdentity[Mapping[str, Param]], framework: str) -> _Shelf:
    return _Shelf(params.part, framework)


@lru_cache(maxsize=4096)
def _served(shelf: _Shelf, param: str, command: str) -> Served:
    found: dict[str, list[SpellbookEntry]] = {}
    for entry in shelf.by_param.get(param, ()):  # those of one owner stand together
        if serves(entry.spelling, command):
            found.setdefault(entry.owner, []).append(entry)
    return tuple((owner, tuple(entries)) for owner, entries in found.items())


@lru_cache(maxsize=64)
def _meanings(shelf: _Shelf, command: str, bits: tuple[int, ...]) -> Mapping[str, str]:
    live = dict(zip(shelf.timelines, bits, strict=True))
    found: dict[str, str] = {}
    for (is_env, name), entries in shelf.by_name.items():
        for entry in () if is_env else entries:
            own = entry.owner not in OUTER and serves(entry.spelling, command)
            if own and entry.bits & live[entry.owner]:
                found.setdefault(name, entry.param.id)
    return found


class Spellbook:
    """Every spelling a launch of one framework may use, by name."""

    def __init__(
        self, params: Mapping[str, Param], framework: str, versions: Mapping[str, str]
    ) -> None:
        # one parameter is put together for a single question
        shelf = (
            _Shelf(params, framework) if len(params) < 2 else _shelf(ByIdentity(params), framework)
        )
        self._shelf = shelf
        self.owners = shelf.owners
        self.timelines = shelf.timelines
        self.by_param = shelf.by_param
        self._by_name = shelf.by_name
        self.bits = {o: line.of(versions.get(o)) for o, line in self.timelines.items()}

    def find(self, name: str, via: Via, command: str = "") -> tuple[SpellbookEntry, ...]:
        """Give the entries a name may stand for at any version, those of this command only."""
        found = self._by_name.get((via == "env", plain(name)))
        if not found:
            return ()
        return tuple(e for e in found if self._fits(e, via) and serves(e.spelling, command))

    def served(self, param: str, command: str) -> Served:
        """Give the owners that have names for a parameter at a command, with these names."""
        return _served(self._shelf, param, command)

    def live(self, entry: SpellbookEntry) -> bool:
        """Tell whether a spelling exists at some version the job may run."""
        return bool(entry.bits & self.bits[entry.owner])

    def meanings(self, command: str) -> Mapping[str, str]:
        """Give the canonical parameter of every argument of the framework, by its plain name."""
        return _meanings(self._shelf, command, tuple(self.bits.values()))

    @staticmethod
    def _fits(entry: SpellbookEntry, via: Via) -> bool:
        """Launcher options are no framework arguments, and the other way round."""
        if via == "launcher":
            return entry.owner == "launcher"
        if entry.owner == "launcher":
            return False
        return entry.owner != "accelerate" or via == "config"


def serves(spelling: Spelling, command: str) -> bool:
    """Tell whether a sub-command takes a spelling; an unknown command may take any."""
    return not spelling.commands or not command or command in spelling.commands


def _specs(params: Mapping[str, Param], owner: str) -> Iterable[str]:
    for param in params.values():
        for spelling in param.spelled.get(owner, ()):
            yield spelling.versions


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


def nearest(name: str, taken: Signature, *, whole: bool = False) -> str | None:
    """Give the argument a misspelt name stands next to: one letter off, or two swapped.

    `whole`: names have to be written in full, as in a call of Python.
    """
    wanted = plain(name)
    if len(wanted) < SHORTEST or catalog(taken.catalog.package).find(name):
        return None
    names = sorted(plain(known.name) for known in taken)
    return next((known for known in names if _is_near(wanted, known, whole=whole)), None)


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
            is_own = arg and serves(other.spelling, launch.command)
            if is_own and taken.get(arg) is not None and plain(arg) != plain(name):
                return arg
    return None


def _is_near(name: str, known: str, *, whole: bool) -> bool:
    """Tell whether one letter is missing, added, wrong, or two stand in the wrong order.

    A name cut at its end is no mistake: argparse takes an unambiguous beginning.
    """
    if not whole and known.startswith(name):
        return False
    if name[0] != known[0] or abs(len(name) - len(known)) > 1:
        return False
    at = next((i for i, (a, b) in enumerate(zip(name, known, strict=False)) if a != b), len(known))
    rest, wanted = name[at:], known[at:]
    swapped = rest[:2] == wanted[:2][::-1] and rest[2:] == wanted[2:]
    return swapped or rest[1:] == wanted or rest == wanted[1:] or rest[1:] == wanted[1:]
