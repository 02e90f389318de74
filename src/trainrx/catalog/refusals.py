"""Why a name is not taken: renamed, gone, not there yet, of another command, or misspelt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from trainrx.catalog.catalog import Catalog, catalog, plain
from trainrx.catalog.signature import Signature
from trainrx.catalog.spellbook import names_today, nearest
from trainrx.knowledge.catalogs import read_environment
from trainrx.model.catalog import Inherited
from trainrx.model.job import RawLaunch
from trainrx.model.parts import Param
from trainrx.model.refusal import Fate

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


_FEW_CHARACTERS = 4


def fate_of(
    name: str,
    launch: RawLaunch,
    taken: Signature,
    params: Mapping[str, Param],
    versions: Mapping[str, str] | None = None,
    *,
    whole: bool = False,
) -> Fate:
    """Say what became of a name that a command does not take at the releases it may run.

    Args:
        name: as given, with or without dashes.
        launch: the command, of which only framework and command are asked.
        taken: what the command takes at these releases.
        params: the parameters, for names of one meaning.
        versions: versions of other packages at hand.
        whole: names have to be written in full.
    """
    known, command, bits = taken.catalog, taken.command, taken.bits
    taking = takers(known.package, command, name, versions)
    # where the catalog says that all of them take it, another release ran than was said
    refusing = bits & ~taking or bits
    base = Fate(
        name=name,
        package=known.package,
        command=command,
        kind="unknown",
        lives=ranges(known, taking),
        asked=known.describe(refusing),
    )
    names = _by_release(names_today(name, launch, taken, params), known, command, refusing)
    install, upgrade = _install(known, taking, refusing)
    if names or taking:
        kind = "renamed" if names else "coming" if upgrade else "removed"
        return msgspec.structs.replace(base, kind=kind, now=names, install=install, upgrade=upgrade)
    others = other_commands(known.package, command, name, refusing) if command else ()
    if others:
        return msgspec.structs.replace(base, kind="elsewhere", commands=others)
    variable = _variable(name, known, refusing)
    if variable:
        return msgspec.structs.replace(base, kind="variable", variable=variable)
    near = nearest(name, taken, whole=whole)
    if near:
        return msgspec.structs.replace(base, kind="misspelt", near=near)
    return msgspec.structs.replace(base, maybe=_alike(name, taken, params))


def ranges(known: Catalog, bits: int) -> str:
    """Write a set of releases: `>=1.7.0,<2.6.0`, several stretches with a comma and a blank."""
    return ", ".join(known.describe(run) for run in _stretches(bits))


def _variable(name: str, known: Catalog, bits: int) -> str:
    """Name the variable of the environment a name stands for at some of the releases, or ""."""
    wanted = plain(name).upper()
    found = (item for item in read_environment(known.package) if item.name == wanted)
    return wanted if any(known.mask(item.spans) & bits for item in found) else ""


def _by_release(
    names: tuple[str, ...], known: Catalog, command: str, bits: int
) -> tuple[tuple[str, str], ...]:
    """Say of each name in which of the releases it holds; the one that most have first."""
    spans = {name: takers(known.package, command, name) & bits or bits for name in names}
    ordered = sorted(spans, key=lambda name: -spans[name].bit_count())
    found: list[tuple[str, str]] = []
    left = bits
    for name in ordered:
        if spans[name] & left:
            found.append((name, "" if spans[name] == bits else ranges(known, spans[name])))
            left &= ~spans[name]
    return tuple(found)


def _install(known: Catalog, taking: int, refusing: int) -> tuple[str, bool]:
    """Give the releases that take a name as a range, newer ones first; True: they are newer."""
    newer = taking & ~((1 << refusing.bit_length()) - 1)
    if newer:
        return known.describe(next(_stretches(newer))), True
    # of releases on both sides of those that take it, a job most likely runs one of the newer
    older = taking & ((1 << refusing.bit_length()) - 1)
    if not older:
        return "", False
    *_, last = _stretches(older)
    return known.describe(last), False


def _stretches(bits: int) -> Iterator[int]:
    """Give the sets of releases that follow one another without a gap."""
    while bits:
        lowest = bits & -bits
        run = bits & ~(bits + lowest)
        yield run
        bits &= ~run


_SIDES = frozenset({"eval", "evaluation", "val", "valid", "test", "predict"})
_OF_WHICH = frozenset({"per", "device", "train"})
"""Words a name may lack and mean the same: training is what is meant where nothing else is said."""


def _alike(name: str, taken: Signature, params: Mapping[str, Param]) -> str:
    """Name what may have been meant, by its words or by likeness; "" when nothing is alike.

    What trains is never taken for what evaluates, nor the other way round.
    """
    wanted = plain(name)
    if len(wanted) < _FEW_CHARACTERS or catalog(taken.catalog.package).find(name):
        return ""
    names = [plain(known.name) for known in taken]
    abroad = _of_others(wanted, taken.catalog.package, names, params)
    if abroad:
        return abroad
    # only an unknown name pays for this import
    from difflib import get_close_matches

    words = frozenset(wanted.split("_"))
    spelled = {
        plain(one.arg or "")
        for item in params.values()
        for one in item.spelled.get(taken.catalog.package, ())
    }
    fuller = [one for one in names if one in spelled and _says_more(words, one)]
    if len(words) > 1 and fuller:
        return min(fuller, key=len)
    found = get_close_matches(wanted, names, n=5, cutoff=0.8)
    return next((one for one in found if {*one.split("_")} & _SIDES == words & _SIDES), "")


def _of_others(wanted: str, package: str, names: Sequence[str], params: Mapping[str, Param]) -> str:
    """Name what a command calls the parameter that other frameworks know by a name, "" if none."""
    for item in params.values():
        spelled = (
            one.arg for mine, held in item.spelled.items() if mine != package for one in held
        )
        if wanted not in map(plain, filter(None, spelled)):
            continue
        own = (plain(one.arg or "") for one in item.spelled.get(package, ()))
        found = next((name for name in own if name in names), "")
        if found:
            return found
    return ""


def _says_more(words: frozenset[str], name: str) -> bool:
    """Tell whether a name has all the words and beside them only such as go without saying."""
    own = frozenset(name.split("_"))
    return words < own and own - words <= _OF_WHICH
