"""What torch prints where its own checks find that ranks do not call the same.

Format: torch/csrc/distributed/c10d/ProcessGroupWrapper.cpp (TORCH_DISTRIBUTED_DEBUG=DETAIL) and
`monitoredBarrier` in ProcessGroupGloo.cpp, 1.8 to 2.10. The wrapper compares the ranks in their
order and names the first that differs: those below it are in the same call as who complains. What
it prints of that one is whole only where it has a shape.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod

import msgspec

from trainrx.evidence.readers import Source
from trainrx.evidence.readers._operations import operation
from trainrx.evidence.readers._printed import marked_lines
from trainrx.model.facts import MAX_QUOTE, Origin
from trainrx.model.ranks import CollectiveCall, GroupProgress, Reading

MARKS = (b"CollectiveFingerPrint(", b"monitoredBarrier in ")
LONGEST = 4096
"""Bytes of a line that are looked at."""
MOST_RANKS = 1 << 16
_FINGERPRINT = re.compile(
    r"Rank (?P<rank>\d{1,5}) is running (?:inconsistent )?collective: CollectiveFingerPrint\("
    r"(?:SequenceNumber=(?P<seq>\d{1,12})(?:, )?)?OpType=(?P<op>\w{1,40})"
    r"(?:, TensorShape=\[(?P<shape>[\d, ]{0,200})\], TensorDtypes=(?P<dtype>\w{1,40}))?"
)
_BARRIER = re.compile(
    r"(?:\[Rank (?P<by>\d{1,5})\]: )?Ranks? (?P<late>\d{1,5}(?:, \d{1,5}){0,4096}) "
    r"failed to pass monitoredBarrier in "
)


def read(data: bytes, source: Source) -> Reading:
    """Read the complaints; the first of a rank counts."""
    calls: dict[int, CollectiveCall] = {}
    missing: dict[int, GroupProgress] = {}
    for line in marked_lines(data, source.line, MARKS):
        raw = data[line.start : min(line.end, line.start + LONGEST)]
        text = raw.decode("utf-8", "replace").strip()
        origin = Origin(source=source.name, line=line.number, text=text[:MAX_QUOTE])
        for call in (*_compared(text, origin), *_barrier(text, origin)):
            calls.setdefault(call.rank or 0, call)
        for late in _late(text, origin):
            missing.setdefault(late.rank, late)
    waiting = (call for rank, call in calls.items() if rank not in missing)
    return Reading(calls=tuple(waiting), progress=tuple(missing.values()))


def _compared(text: str, origin: Origin) -> Iterator[CollectiveCall]:
    """Give the call of who complains, of those that agree with it, and of the one that differs."""
    said = list(_FINGERPRINT.finditer(text))
    if not said:
        return
    own = _call(said[0], origin, int(said[0]["seq"] or 0))
    yield own
    if len(said) < 2:
        return
    other = _call(said[1], origin, own.seq or 0)
    if other.rank is not None and own.rank is not None and other.rank < MOST_RANKS:
        agreeing = (rank for rank in range(other.rank) if rank != own.rank)
        yield from (msgspec.structs.replace(own, rank=rank) for rank in agreeing)
    yield other


def _call(found: re.Match[str], origin: Origin, seq: int) -> CollectiveCall:
    shape, is_whole = found["shape"], found["shape"] is not None
    sizes = (tuple(int(size) for size in re.findall(r"\d+", shape)),) if shape else ()
    return CollectiveCall(
        op=operation(found["op"]) if is_whole or not found["seq"] else "",
        origin=origin,
        rank=int(found["rank"]),
        seq=seq,
        sizes=sizes,
        numel=sum(map(prod, sizes)) if sizes else None,
        dtypes=(found["dtype"],) if is_whole else (),
        state="scheduled",
    )


def _barrier(text: str, origin: Origin) -> Iterator[CollectiveCall]:
    """Give the barrier of the rank that waits for the others: rank 0, where none is named."""
    found = _BARRIER.search(text)
    if found is not None:
        rank = int(found["by"] or 0)
        yield CollectiveCall(op="barrier", origin=origin, rank=rank, seq=0, state="timed-out")


def _late(text: str, origin: Origin) -> Iterator[GroupProgress]:
    found = _BARRIER.search(text)
    for rank in re.findall(r"\d+", found["late"]) if found is not None else ():
        yield GroupProgress(rank=int(rank), origin=origin, missing=True)
