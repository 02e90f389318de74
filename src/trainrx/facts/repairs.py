"""Which release changed the code that what was seen speaks of."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from trainrx.knowledge.repairs import RepairTable, rarity
from trainrx.model.facts import Fact, Origin, fact
from trainrx.model.repairs import Repair
from trainrx.versions.ranges import in_range, is_exact

ENOUGH = 40.0
"""Rarity, in nats, that what was seen must hold at least: a few words fit anything."""
LEAST = 0.35
"""Share from which on a change is told of; a smaller one says how likely a change is at all."""
TOLD = 4
"""Terms that are named: the rarest that both hold."""
LOOKED_AT = 40


def repair_facts(
    asked: Mapping[str, float], table: RepairTable, versions: Mapping[str, str]
) -> Iterator[Fact]:
    """Derive `repair.share` of the change nearest to what was seen, and `repair.releases`.

    The share, 0 to 1 and rarely above, is the BM25 score of the change by the rarity of all that
    was seen; below `LEAST` no change is told. Changes that the installed release has
    are passed over.

    Args:
        asked: terms of what was seen, with the weight of each.
        table: the changes of the package in question.
        versions: what is installed.
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
