"""Look whether a guard begins and ends with the releases that print its message.

    python -m verify reach --sources FOLDER [--sources FOLDER]... [ID ...]

Its needles are looked for in the first and last release of the range, and in those next to it;
with --all in every release. What
is said is a hint to read: a message may be worded anew while the check stays, or stand in pieces.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from trainrx.model.levers import Guard
from verify.claims import LEAST
from verify.look import REPOSITORIES
from verify.sources import Sources


class Edge(NamedTuple):
    """A release at an end of a range, and whether it is expected to print the message."""

    release: Version
    within: bool


def main(guards: Iterable[Guard], arguments: Sequence[str]) -> int:
    """Say for which guards the range and the message disagree."""
    parser = argparse.ArgumentParser(prog="verify reach", description=__doc__)
    parser.add_argument("idents", nargs="*", metavar="ID", help="default: all guards")
    parser.add_argument("--sources", action="append", type=Path, default=[], metavar="FOLDER")
    parser.add_argument("--all", action="store_true", help="look into all releases, not the ends")
    given = parser.parse_args(arguments)
    sources = Sources(given.sources)
    for guard in guards:
        if not given.idents or guard.id in given.idents:
            for said in _said(guard, sources, whole=given.all):
                print(f"{guard.id}: {said}")
    return 0


def _said(guard: Guard, sources: Sources, *, whole: bool) -> Iterator[str]:
    repo = REPOSITORIES.get(guard.package, "")
    tags = sources.tags(repo)
    needles = [needle for pattern in guard.patterns for needle in pattern.needles]
    needles = [needle for needle in needles if len(needle) >= LEAST]
    for spec in guard.versions if needles else ():
        ends = edges(spec, tags, whole=whole)
        found = {one.release: sources.holds(repo, tags[one.release], needles) for one in ends}
        if any(found[one.release] for one in ends if one.within):
            off = (one for one in ends if found[one.release] != one.within)
            for one in off:
                there = "does not print it" if one.within else "prints it too"
                yield f"{spec}: {tags[one.release]} {there}"


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
