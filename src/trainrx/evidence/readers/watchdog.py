"""What the watchdogs of NCCL and HCCL print of a collective that was given up.

Format: torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp, 2.0 to 2.10. The line of `WorkNCCL(...)`
names the call, that of `last enqueued` how far its rank came in the group.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from trainrx.evidence.lines import path_rank, rank_of
from trainrx.evidence.readers import Source
from trainrx.evidence.readers._operations import operation
from trainrx.evidence.readers._printed import marked_lines
from trainrx.model.facts import MAX_QUOTE, Origin
from trainrx.model.ranks import CollectiveCall, GroupProgress, Reading

MARKS = (b"WorkNCCL(", b"WorkHCCL(", b"last enqueue")
LONGEST = 4096
"""Bytes of a line that are looked at."""
BROKEN_INTO = 3
"""Lines a terminal breaks one of these into, beside the first."""
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
    r"PG (?:ID \S{1,40} PG GUID )?(?P<group>[^\s\]]{1,200}(?: \([^\s\]]{1,200}\))?) "
    r"Rank (?P<rank>\d{1,7})\]"
)
_AT = re.compile(r"(?:work(?: sequence id)?|work): (?P<seq>\d{1,12})\b")
_LABEL = re.compile(r"\[rank(\d{1,7})\]:")
_RANK = re.compile(r"\[Rank (\d{1,7})\]")
_UNFINISHED = re.compile(
    r"Work[NH]CCL\([^)]{0,200}(?:\(ms?[^)]{0,20})?$|\)(?: r| ra| ran| ran f| ran fo| ran for)?$|"
    r"last enqueue.{0,80}$"
)


def read(data: bytes, source: Source) -> Reading:
    """Read the lines of watchdogs; the first of a rank's lines on the same call counts."""
    calls: dict[tuple[object, ...], CollectiveCall] = {}
    progress: dict[tuple[object, ...], GroupProgress] = {}
    groups: dict[tuple[int | None, int], str] = {}
    for text, origin in _lines(data, source):
        group = _GROUP.search(text)
        named = group["group"] if group is not None else ""
        rank = _rank(text, group, source.name)
        if named and (at := _AT.search(text)) is not None:
            groups.setdefault((rank, int(at["seq"])), named)
        if (call := _call(text, origin, rank, named)) is not None:
            calls.setdefault((rank, named, call.seq, call.op), call)
        if rank is not None and (found := _PROGRESS.search(text)) is not None:
            reached = GroupProgress(
                rank=rank,
                origin=origin,
                group=named,
                enqueued=_number(found["enqueued"]),
                completed=_number(found["completed"]),
            )
            progress.setdefault((rank, named), reached)
    return Reading(calls=tuple(_grouped(calls.values(), groups)), progress=tuple(progress.values()))


def _grouped(
    calls: Iterable[CollectiveCall], groups: Mapping[tuple[int | None, int], str]
) -> Iterator[CollectiveCall]:
    """Name the group of calls: the line that gives one up names none, the one behind it does."""
    only = next(iter(groups.values())) if len(set(groups.values())) == 1 else ""
    for call in calls:
        named = call.group or groups.get((call.rank, call.seq or 0)) or only
        yield msgspec.structs.replace(call, group=named)


def _lines(data: bytes, source: Source) -> Iterator[tuple[str, Origin]]:
    """Give the lines with a mark, put together where a terminal broke them."""
    for number, start, end in marked_lines(data, source.line, MARKS):
        text = _text(data[start:end])
        below = data[end + 1 : end + 1 + BROKEN_INTO * LONGEST].split(b"\n")
        for more in below[:BROKEN_INTO]:
            if _UNFINISHED.search(text) is None or more.startswith(b"["):
                break
            text += _text(more)
        if start and not text.startswith("[") and _RANK.search(text) is None:
            above = data.rfind(b"\n", 0, start - 1) + 1
            text = _text(data[above : start - 1]) + " " + text
        quote = text[:MAX_QUOTE]
        yield text, Origin(source=source.name, line=number, text=quote)


def _text(raw: bytes) -> str:
    return raw[:LONGEST].decode("utf-8", "replace").strip()


def _rank(text: str, group: re.Match[str] | None, source: str) -> int | None:
    # what is in front of a line is the rank of the job, what stands in it that of the group
    own = _LABEL.search(text) or _RANK.search(text)
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
