"""Look whether a guard begins and ends with the releases that print its message.

    python -m verify reach --sources FOLDER [--sources FOLDER]... [ID ...]

Its needles are looked for in the first and last release of the range, and in those next to it;
with --all in every release. What
is said is a hint to read: a message may be worded anew while the check stays, or stand in pieces.
A release within the range may print what a symptom reads instead: the one the guard names, or one
that its cause explains.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from trainrx.knowledge.store import Knowledge
from trainrx.model.knowledge import Symptom
from trainrx.model.levers import Guard
from verify.claims import LEAST
from verify.look import REPOSITORIES
from verify.sources import Sources


class Edge(NamedTuple):
    """A release at an end of a range, and whether it is expected to print the message."""

    release: Version
    within: bool


def main(knowledge: Knowledge, guards: Iterable[Guard], arguments: Sequence[str]) -> int:
    """Say for which guards the range and the message disagree."""
    parser = argparse.ArgumentParser(prog="verify reach", description=__doc__)
    parser.add_argument("idents", nargs="*", metavar="ID", help="default: all guards")
    parser.add_argument("--sources", action="append", type=Path, default=[], metavar="FOLDER")
    parser.add_argument("--all", action="store_true", help="look into all releases, not the ends")
    given = parser.parse_args(arguments)
    sources = Sources(given.sources)
    for guard in guards:
        if not given.idents or guard.id in given.idents:
            excuses = tuple(_elsewhere(guard, knowledge))
            for said in _said(guard, excuses, sources, whole=given.all):
                print(f"{guard.id}: {said}")
    return 0


def needles_of(entry: Guard | Symptom) -> tuple[str, ...]:
    """Give what tells the message of an entry, as far as it is long enough to tell anything."""
    told = (needle for pattern in entry.patterns for needle in pattern.needles)
    return tuple(needle for needle in told if len(needle) >= LEAST)


def _elsewhere(guard: Guard, knowledge: Knowledge) -> Iterator[str]:
    cause = knowledge.causes.get(guard.cause)
    for ident in {guard.symptom, *(cause.explains if cause is not None else ())} - {""}:
        yield from needles_of(knowledge.symptoms[ident])


def _said(
    guard: Guard, elsewhere: Sequence[str], sources: Sources, *, whole: bool
) -> Iterator[str]:
    repo = REPOSITORIES.get(guard.package, "")
    tags = sources.tags(repo)
    own = needles_of(guard)
    sought = {True: (*own, *elsewhere), False: own}
    for spec in guard.versions if sought[True] else ():
        ends = edges(spec, tags, whole=whole)
        found = {
            one: sources.holds(repo, tags[one.release], sought[one.within])
            for one in ends
            if sought[one.within]
        }
        if any(there for one, there in found.items() if one.within):
            for one in (one for one, there in found.items() if there != one.within):
                if not one.within and _covered(guard, one.release):
                    continue
                there = "does not print it" if one.within else "prints it too"
                yield f"{spec}: {tags[one.release]} {there}"


def _covered(guard: Guard, release: Version) -> bool:
    return any(release in SpecifierSet(spec) for spec in guard.versions)


def edges(spec: str, releases: Iterable[Version], *, whole: bool = False) -> tuple[Edge, ...]:
    """Give the first and last release of a range, and the ones before and after it; or all."""
    ordered = sorted(one for one in releases if not one.is_prerelease)
    inside = [at for at, one in enumerate(ordered) if one in SpecifierSet(spec)]
    if not inside:
        return ()
    first, last = inside[0], inside[-1]
    if whole:
        return tuple(Edge(one, at in inside) for at, one in enumerate(ordered))
    places = dict.fromkeys((first - 1, first, last, last + 1))
    return tuple(Edge(ordered[at], first <= at <= last) for at in places if 0 <= at < len(ordered))
