"""What the ranks say of the collective they hung in: do they agree, and who is silent?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from trainrx.evidence.lines import rank_of
from trainrx.model.facts import Fact, Origin, fact

WORK = re.compile(
    r"WorkNCCL\(SeqNum=(?P<seq>\d{1,12}), OpType=(?P<op>\w{1,40})(?:, NumelIn=(?P<numel>\d{1,18}))?"
)
GROUP = re.compile(r"\bPG GUID (\w{1,40})")
STARTUP_SEQ = 3
"""Collectives up to this number, of a single element, are the barriers before the first step."""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """One rank's watchdog line."""

    rank: int | None
    group: str
    seq: int
    op: str
    numel: int | None
    origin: Origin


def report_of(text: str, rank: int | None, origin: Origin) -> Report | None:
    """Read a watchdog line; the rank it names itself goes before `rank`."""
    found = WORK.search(text)
    if found is None:
        return None
    group = GROUP.search(text)
    said = rank_of(text)
    return Report(
        rank=rank if said is None else said,
        group=group[1] if group else "",
        seq=int(found["seq"]),
        op=found["op"],
        numel=int(found["numel"]) if found["numel"] else None,
        origin=origin,
    )


def collective_facts(reports: Sequence[Report], world: int | None) -> Iterator[Fact]:
    """Derive `collective.*` from the first report of each rank in the group most ranks name."""
    if not reports:
        return
    group = _largest([item.group for item in reports])
    first: dict[int | None, Report] = {}
    for item in reports:
        if item.group == group:
            first.setdefault(item.rank, item)
    said = list(first.values())
    lead = said[0]
    origins = [item.origin for item in said[:4]]
    yield fact("collective.seqnum", lead.seq, lead.origin)
    yield fact("collective.optype", lead.op, lead.origin)
    if lead.numel is not None:
        yield fact("collective.numelin", lead.numel, lead.origin)
    barrier = lead.seq <= STARTUP_SEQ and lead.numel is not None and lead.numel <= 1
    yield fact("collective.first_barrier", barrier, lead.origin)
    if len([rank for rank in first if rank is not None]) > 1:
        yield fact("collective.seqnum_differs", _differ(r.seq for r in said), *origins)
        numels = [item.numel for item in said if item.numel is not None]
        if len(numels) > 1:
            yield fact("collective.numel_differs", _differ(numels), *origins)
    silent = _silent({item.rank for item in reports if item.rank is not None}, world)
    if silent is not None:
        yield fact("collective.silent_rank", silent, *origins, how="derived")


def _largest(groups: Sequence[str]) -> str:
    return max(dict.fromkeys(groups), key=groups.count)


def _differ(values: Iterable[int]) -> bool:
    return len(set(values)) > 1


def _silent(reported: set[int], world: int | None) -> int | None:
    """Give the one rank of the world that did not report; None when none or several are silent."""
    if world is None or world < 2:
        return None
    missing = set(range(world)) - reported if len(reported) >= world - 1 else set()
    return missing.pop() if len(missing) == 1 else None
