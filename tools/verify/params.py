"""Hold spellings of parameters against the catalogs: each release, each command, both ways round.

    python -m verify params [ID ...]

A spelling is wrong where a release of its range does not take the name or has another default, and
incomplete where a release or command takes a name of the parameter that no spelling speaks of.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

from trainrx.catalog.catalog import Catalog, catalog, plain
from trainrx.catalog.spellbook import serves
from trainrx.catalog.values import read_value
from trainrx.frameworks import framework_of
from trainrx.knowledge.load import load
from trainrx.model.facts import Scalar
from trainrx.model.parts import Param, Spelling
from trainrx.versions.ranges import in_range
from verify.spellings import (
    COMMANDS,
    EFFECTIVE,
    EVERYWHERE,
    IDLE,
    NESTED,
    OTHER_TASKS,
    OTHERWISE,
    PARENTS,
    TRAINING_ONLY,
    UNLISTED,
)

Named = tuple[Param, Spelling]
Taken = tuple[str, str, str]
Excused = tuple[tuple[str, ...], str]


class Looked(NamedTuple):
    """How much was looked up: a spelling, a default or a foreign name, each at each release."""

    spellings: int
    defaults: int
    releases: int


class Book:
    """All spellings of all parameters, by package and name; and what else a name may be."""

    def __init__(
        self, params: Mapping[str, Param], otherwise: Mapping[Taken, Excused] = OTHERWISE
    ) -> None:
        self.params = params
        self._otherwise = otherwise

    @cached_property
    def _by_name(self) -> Mapping[str, Mapping[str, Sequence[Named]]]:
        found: dict[str, dict[str, list[Named]]] = {}
        for param in self.params.values():
            for package, spelled in param.spelled.items():
                mine = found.setdefault(package, defaultdict(list))
                for spelling in spelled:
                    for name in names_of(spelling):
                        mine[name].append((param, spelling))
        return found

    def spoken(self, package: str, name: str, command: str, place: str) -> int:
        """Give the releases for which a spelling says what a name of a command means."""
        bits = 0
        known = catalog(package)
        for owner in framework_of(package).lineage or (package,):
            for _, spelling in self._by_name.get(owner, {}).get(name, ()):
                if serves(spelling, command) or place in spelling.commands:
                    # which release of another package is beside it, nobody knows
                    bits |= within(known, spelling.versions) if owner == package else known.all
        return bits

    def problems(self, param: Param, package: str) -> Iterator[str]:
        """Say what is wrong or missing of a parameter in a package with a catalog."""
        for spelling in param.spelled.get(package, ()):
            if spelling.arg and (package, plain(spelling.arg)) not in UNLISTED:
                for line in missing(package, spelling, spelling.arg):
                    yield f"{label(package, spelling)} is not taken: {line}"
            for name in spelling.also if spelling.arg else ():
                if (package, plain(name)) not in UNLISTED and not (
                    covered(package, name, "") & catalog(package).of(spelling.versions)
                ):
                    yield f"{label(package, spelling)}: {name} is taken by no release of the range"
        if param.spelled.get(package):
            yield from wrong_defaults(param, package)
        yield from self.left_out(param, package)

    def left_out(self, param: Param, package: str) -> Iterator[str]:
        """Say which releases take a name of a parameter of which no spelling tells the meaning."""
        spelled = (one for all_of in param.spelled.values() for one in all_of)
        for name in sorted({name for one in spelled for name in names_of(one)}):
            excused, _ = self._otherwise.get((param.id, package, name), (None, ""))
            for command, places in COMMANDS[package].items():
                if (
                    excused == ()
                    or command in (excused or ())
                    or not plays(param, package, command)
                ):
                    continue
                open_ = 0
                for place in places:
                    taken = taken_by(package, name, place)
                    open_ |= taken & ~self.spoken(package, name, command, place)
                if open_:
                    known = catalog(package)
                    yield f"{package} {command} takes {name}, unspelled: {told(known, open_)}"

    def looked(self, param: Param, package: str) -> Looked:
        """Count what `problems` looks up."""
        spelled = [one for one in param.spelled.get(package, ()) if one.arg]
        return Looked(
            len(spelled),
            sum(one.default is not None for one in spelled),
            sum(len(releases(catalog(package), one)) for one in spelled),
        )


def main(params: Mapping[str, Param], arguments: Sequence[str]) -> int:
    """Say what is wrong with the spellings of parameters; 1 where something is."""
    parser = argparse.ArgumentParser(prog="verify params", description=__doc__)
    parser.add_argument("idents", nargs="*", metavar="ID", help="default: all parameters")
    wanted = parser.parse_args(arguments).idents
    book, counted, wrong = Book(params), Counter[str](), 0
    for param in params.values():
        for package in COMMANDS if not wanted or param.id in wanted else ():
            counted.update(book.looked(param, package)._asdict())
            for line in book.problems(param, package):
                wrong += 1
                print(f"{param.id}: {line}")
    print(
        ", ".join(f"{count} {what}" for what, count in counted.items()), f"looked up, {wrong} wrong"
    )
    return int(wrong > 0)


@lru_cache(maxsize=1)
def _shipped() -> Book:
    return Book(load().params)


def unlike(package: str, param: str, _: str) -> str | None:
    """Say how the spellings of a parameter differ from the catalog of a package.

    "" where they do not, None where it has none.
    """
    book = _shipped()
    if package not in COMMANDS:
        return None
    return "; ".join(book.problems(book.params[param], package))


def names_of(spelling: Spelling) -> tuple[str, ...]:
    """Give the names of an argument, as they are compared; none of a variable."""
    return tuple(map(plain, (spelling.arg, *spelling.also))) if spelling.arg else ()


def label(package: str, spelling: Spelling) -> str:
    """Name a spelling."""
    where = " ".join(filter(None, (package, spelling.versions, "+".join(spelling.commands))))
    return f"{spelling.arg} ({where})"


def releases(known: Catalog, spelling: Spelling) -> tuple[str, ...]:
    """Give the releases of a catalog that are in the range of a spelling."""
    if not spelling.versions:
        return known.releases
    return tuple(r for r in known.releases if in_range(r, spelling.versions))


def within(known: Catalog, versions: str) -> int:
    """Give the releases in a range as bits."""
    if not versions:
        return known.all
    return sum(1 << i for i, r in enumerate(known.releases) if in_range(r, versions))


def told(known: Catalog, bits: int) -> str:
    """Write releases, stretch by stretch."""
    runs: list[list[str]] = []
    for at, release in enumerate(known.releases):
        if bits >> at & 1:
            runs = runs if at and bits >> (at - 1) & 1 else [*runs, []]
            runs[-1].append(release)
    return ", ".join(f"{run[0]}..{run[-1]} ({len(run)} releases)" for run in runs)


def tables(package: str, name: str, command: str) -> tuple[str, tuple[str, ...]]:
    """Give the name a catalog lists a spelling under, and where."""
    for (owner, prefix), table in NESTED.items():
        if owner == package and name.startswith(prefix):
            return name.removeprefix(prefix), (table,)
    mine = COMMANDS[package]
    if command:
        return name, mine.get(command, (command,))
    return name, tuple(table for tables in mine.values() for table in tables)


def taken_by(package: str, name: str, place: str) -> int:
    """Give the releases in which a table itself declares a name."""
    known = catalog(package)
    bits = 0
    for option in known.find(name, place):
        bits |= known.bits(option)
    return bits & known.has_command(place)


def covered(package: str, name: str, command: str) -> int:
    """Give the releases in which a command takes a name; any command when none is named."""
    known = catalog(package)
    listed, places = tables(package, name, command)
    bits = 0
    for place in places:
        for option in known.find(listed, place):
            bits |= known.bits(option)
    parent = PARENTS.get(package)
    heirs = known.contents.inherits
    inherits = not command or any(place in heirs for place in places)
    if parent and inherits and catalog(parent).find(listed):
        bits |= known.all
    return bits


def life(package: str, name: str, command: str) -> int:
    """Give the releases that have a command."""
    known = catalog(package)
    bits = 0
    for place in tables(package, name, command)[1]:
        bits |= known.has_command(place)
    return bits


def missing(package: str, spelling: Spelling, name: str) -> Iterator[str]:
    """Say at which releases a command does not take a name."""
    known = catalog(package)
    wanted = releases(known, spelling)
    if known.precedes(spelling.versions):
        return  # of releases no catalog lists: its source is the code of a tag
    if not wanted:
        yield "the catalog has no release of the range"
    for command in spelling.commands or ("", *EVERYWHERE.get(package, ())):
        has = covered(package, name, command)
        alive = life(package, name, command)
        gone = sum(bit for r in wanted if (bit := known.of(r)) & alive and not has & bit)
        if gone:
            yield f"{command or 'no command'}: {told(known, gone)}"


def shown_default(param: Param, package: str, command: str, release: str) -> Spelling | None:
    """Give the spelling whose default is taken where nothing else is known."""
    for spelling in param.spelled[package]:
        if spelling.versions and not in_range(release, spelling.versions):
            continue
        if not serves(spelling, command) or spelling.default is None:
            continue
        if not command.startswith("megatron") or command in spelling.commands:
            return spelling
    return None


def declared(package: str, spelling: Spelling, command: str, release: str) -> set[Scalar | None]:
    """Give the defaults a command declares; none when it does not take the name itself."""
    known = catalog(package)
    bit = known.of(release)
    listed, places = tables(package, spelling.arg, command)
    found: set[Scalar | None] = set()
    for place in places:
        for option in known.find(listed, place):
            if known.bits(option) & bit:
                value = known.known(option, bit)
                default = value.default if value.settled else None
                found.add(default if isinstance(default, (bool, int, float, str)) else None)
        if found:
            # the first table is the one the command reads when nothing else is said
            break
    return found


def canonical(param: Param, spelling: Spelling, value: Scalar | None) -> Scalar | None:
    """Give the value of a parameter that a declared default stands for."""
    if value is None or (spelling.values == {"true": ""} and isinstance(value, bool)):
        return value
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return read_value(param, spelling, (text,)).value


def same(param: Param, wanted: Scalar | None, found: Scalar | None) -> bool:
    """Tell whether two values of a parameter are one."""
    if param.type == "float" and wanted is not None and found is not None:
        return float(wanted) == float(found)
    return wanted == found


def plays(param: Param, package: str, command: str) -> bool:
    """Tell whether a parameter plays a part in a command, not only in its list of arguments."""
    if param.id.startswith(TRAINING_ONLY) and command in OTHER_TASKS:
        return False
    return not param.id.startswith(IDLE.get((package, command), ("\0",)))


def wrong_defaults(param: Param, package: str) -> Iterator[str]:
    """Say which declared defaults differ from those of the spellings."""
    known = catalog(package)
    for command in COMMANDS[package]:
        if not plays(param, package, command):
            continue
        for release in known.releases:
            spelling = shown_default(param, package, command, release)
            if spelling is None or (param.id, package, spelling.versions) in EFFECTIVE:
                continue
            for value in declared(package, spelling, command, release):
                if not same(param, spelling.default, canonical(param, spelling, value)):
                    yield (
                        f"{command} {release} {spelling.arg}: the default is {value}, "
                        f"not {spelling.default}"
                    )
