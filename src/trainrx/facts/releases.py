"""How old the installed framework is, and which later release changed what was seen."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping

from packaging.version import Version

from trainrx.catalog.catalog import catalog
from trainrx.frameworks import framework_of
from trainrx.knowledge.catalogs import read_registers
from trainrx.knowledge.packages import read_requirements
from trainrx.knowledge.repairs import RepairTable, rarity
from trainrx.model.facts import Fact, Facts, Origin, fact
from trainrx.model.packages import Repair
from trainrx.versions.ranges import in_range, is_exact

ASKED = ("launch.framework", "launch.package", "failure.package")
"""Facts that name the package whose release is in question, the surest first."""


def package_in_question(facts: Facts) -> str:
    """Name the package to look for a newer release of, "" when nothing tells.

    That is the framework that was launched; where it is not known, the package a user names, then
    the one the exception was raised in.
    """
    return next((name for kind in ASKED if (name := facts.text(kind))), "")


def releases_of(package: str) -> tuple[str, ...]:
    """Give the releases of a package that are known here, ascending."""
    return catalog(package).releases or read_requirements().releases.get(package, ())


def release_facts(facts: Facts, versions: Mapping[str, str]) -> Iterator[Fact]:
    """Derive `framework.releases_behind` and `framework.development`.

    Nothing is said of a framework whose releases are not listed, nor of a version text that may
    mean several releases.
    """
    name = package_in_question(facts)
    told = (
        facts.text("launch.framework_version") if name == facts.text("launch.framework") else None
    )
    present = versions.get(name) or told
    if not name or present is None or not is_exact(present):
        return
    releases = [Version(release) for release in releases_of(name)]
    if not releases:
        return
    version = Version(present.strip().removeprefix("==").strip())
    at = (Origin(source=f"{name} {present}"),)
    behind = sum(release > version for release in releases)
    yield fact("framework.releases_behind", behind, *at, how="derived")
    yield fact("framework.development", version.is_devrelease, *at, how="derived")


def template_facts(facts: Facts) -> Iterator[Fact]:
    """Derive `template.in_a_release`: a refused template that no release has was never right."""
    name = facts.text("template.refused")
    if name is None:
        return
    registers = [
        item
        for item in read_registers()
        if "template" in item.arguments and framework_of(item.package).names_refused_template
    ]
    known = any(name in names for item in registers for _, names in item.names())
    yield fact("template.in_a_release", known, *facts.origins("template.refused"), how="derived")


ENOUGH = 40.0
"""Rarity, in nats, that what was seen must hold at least: a few words fit anything."""
LEAST = 0.35
"""Share from which on a change is told of; a smaller one says how likely a change is at all."""
TOLD = 4
"""Terms that are named: the rarest that both hold."""
LOOKED_AT = 40


def repair_facts(
    asked: Mapping[str, float],
    table: RepairTable,
    versions: Mapping[str, str],
    passed: Collection[str] = (),
) -> Iterator[Fact]:
    """Derive `repair.share` of the change nearest to what was seen, and `repair.releases`.

    `repair.traced`: a function of the change stands in the traceback, and the installed release is
    known to lack it.

    The share, 0 to 1 and rarely above, is the BM25 score of the change by the rarity of all that
    was seen; below `LEAST` no change is told. Changes that the installed release has
    are passed over.

    Args:
        asked: terms of what was seen, with the weight of each.
        table: the changes of the package in question.
        versions: what is installed.
        passed: terms of the functions in the traceback.
    """
    package = table.head.package
    present = versions.get(package, "")
    held = {term: table.find(term) for term in asked}
    rare = {term: rarity(len(at), table.head.count) for term, at in held.items()}
    whole = max(ENOUGH, math.fsum(asked[term] * rare[term] for term in asked))
    sums: dict[int, float] = {}
    for term, at in held.items():
        for place, weight in at:
            sums[place] = sums.get(place, 0.0) + asked[term] * weight
    best = sorted(sums, key=lambda place: (-sums[place], -place))[:LOOKED_AT]
    for place in best:
        change = table.repair(place)
        if _has(change, present):
            continue
        share = round(sums[place] / whole, 2)
        if share < LEAST:
            looked_at = Origin(source=table.head.url, text=f"until {table.head.until}")
            yield fact("repair.share", share, looked_at, how="derived")
            return
        common = [term for term in held if any(at == place for at, _ in held[term])]
        common.sort(key=lambda term: (-asked[term] * rare[term], term))
        origin = _origin(table, change, common)
        yield fact("repair.share", share, origin, how="derived")
        yield fact("repair.package", package, origin, how="derived")
        if change.release and is_exact(present) and not set(passed).isdisjoint(common):
            yield fact("repair.traced", True, origin, how="derived")
        if change.release:
            yield fact("repair.releases", f">={change.release}", origin, how="derived")
        if table.head.releases:
            yield fact("repair.released", bool(change.release), origin, how="derived")
        return
    yield fact("repair.share", 0.0, Origin(source=table.head.url), how="derived")


def _has(change: Repair, present: str) -> bool:
    """Tell whether an installed release has a change for sure."""
    if not change.release or not is_exact(present):
        return False
    return in_range(present, f">={change.release}") is True


def _origin(table: RepairTable, change: Repair, terms: list[str]) -> Origin:
    at = f"pull/{change.pull}" if change.pull is not None else f"commit/{change.commit}"
    where = ", ".join((*change.files[:1], *change.names[:2]))
    shared = ", ".join(dict.fromkeys(term.lstrip("#=") for term in terms[:TOLD]))
    since = f"{table.head.package} {change.release}" if change.release else change.date
    return Origin(source=f"{table.head.url}/{at}", text=f"{since}: {where} ({shared})")
