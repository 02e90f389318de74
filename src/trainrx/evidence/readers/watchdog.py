"""What the watchdogs of NCCL and HCCL print of a collective that was given up.

Format: torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp, 2.0 to 2.10. The line of `WorkNCCL(...)`
names the call, that of `last enqueued` how far its rank came in the group.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainrx.evidence.lines import path_rank, rank_of
from trainrx.evidence.readers import Source
from trainrx.evidence.readers._operations import operation
from trainrx.model.facts import MAX_QUOTE, Origin
from trainrx.model.ranks import CollectiveCall, GroupProgress, Reading

MARKS = (b"WorkNCCL(", b"WorkHCCL(", b"last enqueued ")
LONGEST = 4096
"""Bytes of a line that are looked at."""
MILLISECONDS = 1000.0
_WORK = re.compile(
    r"Work[NH]CCL\((?:SeqNum=(?P<seq>\d{1,12}), )?OpType=(?P<op>\w{1,40})"
    r"(?:, NumelIn=(?P<numel>\d{1,18})(?:, NumelOut=(?P<out>\d{1,18}))?)?"
    r"(?:.{0,200}?Timeout\(ms\)=(?P<timeout>\d{1,12})\)(?: ran for (?P<ran>\d{1,12}) )?)?"
)
_PROGRESS = re.compile(
    r"last enqueued (?:[NH]CCL )?work: (?P<enqueued>-?\d{1,12}), "
    r"last completed (?:[NH]CCL )?work: (?P<completed>-?\d{1,12})"
)
_GROUP = re.compile(
    r"PG (?:ID \S{1,40} PG GUID )?(?P<group>[^\s\]]{1,200}) Rank (?P<rank>\d{1,7})\]"
)
_RANK = re.compile(r"\[Rank (\d{1,7})\]")


def read(data: bytes, source: Source) -> Reading:
    """Read the lines of watchdogs; the first of a rank's lines on the same call counts."""
    calls: dict[tuple[object, ...], CollectiveCall] = {}
    progress: dict[tuple[object, ...], GroupProgress] = {}
    for text, origin in _lines(data, source):
        group = _GROUP.search(text)
        named = group["group"] if group is not None else ""
        rank = _rank(text, group, source.name)
        if (call := _call(text, origin, rank, named)) is not None:
            calls.setdefault((rank, named, call.seq, call.op), call)
        if rank is not None and (found := _PROGRESS.search(text)) is not None:
            at = GroupProgress(
                rank=rank,
                origin=origin,
                group=named,
                enqueued=_number(found["enqueued"]),
                completed=_number(found["completed"]),
            )
            progress.setdefault((rank, named), at)
    return Reading(calls=tuple(calls.values()), progress=tuple(progress.values()))


def _lines(data: bytes, source: Source) -> Iterator[tuple[str, Origin]]:
    for number, raw in enumerate(data.split(b"\n"), source.line):
        if any(mark in raw for mark in MARKS):
            text = raw[:LONGEST].decode("utf-8", "replace").strip()
            yield text, Origin(source=source.name, line=number, text=text[:MAX_QUOTE])


def _rank(text: str, group: re.Match[str] | None, source: str) -> int | None:
    own = _RANK.search(text)
    if own is not None:
        return int(own[1])
    said = rank_of(text)
    if said is not None:
        return said
    # in a group of its own a rank has another number
    of_world = group is not None and group["group"].endswith("(default_pg)")
    return int(group["rank"]) if group is not None and of_world else path_rank(source)


def _call(text: str, origin: Origin, rank: int | None, group: str) -> CollectiveCall | None:
    found = _WORK.search(text)
    if found is None:
        return None
    numel = int(found["numel"]) if found["numel"] else None
    op = operation(found["op"])
    return CollectiveCall(
        op=op,
        origin=origin,
        rank=rank,
        group=group,
        seq=int(found["seq"]) if found["seq"] else None,
        numel=numel,
        outputs=((int(found["out"]),),) if found["out"] else (),
        state="timed-out",
        timeout=int(found["timeout"]) / MILLISECONDS if found["timeout"] else None,
        waited=int(found["ran"]) / MILLISECONDS if found["ran"] else None,
    )


def _number(text: str) -> int | None:
    return int(text) if int(text) >= 0 else None
