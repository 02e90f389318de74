"""Collectives as NCCL logs them itself (NCCL_DEBUG=INFO with NCCL_DEBUG_SUBSYS=COLL).

Format: `ncclEnqueueCheck` in src/enqueue.cc and src/info.cc, NCCL 2.4 to 2.26. A process names its
communicators by addresses of its own: those of several processes belong together by their number
of ranks, where each has one of that size. From 2.27 on `opCount` does not count inside a machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec

from trainrx.evidence.readers import Source
from trainrx.evidence.readers._operations import operation
from trainrx.evidence.readers._printed import marked_lines
from trainrx.model.facts import MAX_QUOTE, Origin, fact
from trainrx.model.ranks import CollectiveCall, Reading

MARKS = (b": opCount ", b" - Init COMPLETE")
LONGEST = 1024
"""Bytes of a line that are looked at."""
MOST_KEPT = 256
"""Calls of a communicator that are compared, the last ones."""
_LINE = re.compile(
    r"(?P<host>[\w.-]{1,200}):(?P<pid>\d{1,10}):\d{1,10} \[(?P<device>\d{1,4})\] NCCL INFO "
    r"(?P<op>[A-Z]\w{2,30}): opCount (?P<count>[0-9a-f]{1,16}) .{0,120}?"
    r"count (?P<numel>\d{1,18}) datatype (?P<dtype>\d{1,3}) op \d{1,3} root -?\d{1,7} "
    r"comm (?P<comm>0x[0-9a-f]{1,16}) \[nranks=(?P<ranks>\d{1,7})\]"
)
_COMPLETE = " - Init COMPLETE"
_NAMED = (b": opCount ", b" nranks ")
"""Texts of which one stands on each line that is read."""
_RANK = re.compile(r"comm (?P<comm>0x[0-9a-f]{1,16}) rank (?P<rank>\d{1,7}) nranks ")


class _Communicator(NamedTuple):
    """One communicator of a process, and the calls on it by number."""

    device: int
    size: int
    calls: dict[int, CollectiveCall]


class _Process(NamedTuple):
    host: str
    pid: str


def read(data: bytes, source: Source) -> Reading:
    """Read the last call that all ranks of the log have made, of each group."""
    found: dict[tuple[_Process, str], _Communicator] = {}
    uncounted: set[tuple[_Process, str]] = set()
    ranks: dict[str, int] = {}
    complete: list[Origin] = []
    for place in marked_lines(data, source.line, _NAMED):
        raw = data[place.start : place.end]
        if b"NCCL INFO " not in raw:
            continue
        text = raw[:LONGEST].decode("utf-8", "replace").strip()
        origin = Origin(source=source.name, line=place.number, text=text[:MAX_QUOTE])
        if (named := _RANK.search(text)) is not None:
            ranks[named["comm"]] = int(named["rank"])
            complete += [origin] if _COMPLETE in text else []
        if (line := _LINE.search(text)) is None:
            continue
        own = (_Process(line["host"], line["pid"]), line["comm"])
        fresh = _Communicator(int(line["device"]), int(line["ranks"]), {})
        group = found.setdefault(own, fresh)
        call = _call(line, origin)
        if group.calls.setdefault(call.seq or 0, call) is not call:
            uncounted.add(own)
        if len(group.calls) > MOST_KEPT:
            del group.calls[next(iter(group.calls))]
    counted = {own: group for own, group in found.items() if own not in uncounted}
    # a communicator is made in the first call on it, by all ranks at once
    made = [fact("collective.communicator_made", True, *complete[:1])] if complete else []
    return Reading(calls=tuple(_last_common(counted, ranks)), facts=tuple(made))


def _call(line: re.Match[str], origin: Origin) -> CollectiveCall:
    return CollectiveCall(
        op=operation(line["op"]),
        origin=origin,
        host=line["host"],
        group=f"{line['ranks']} ranks",
        seq=int(line["count"], 16),
        numel=int(line["numel"]),
        dtypes=(f"nccl type {line['dtype']}",),
        state="scheduled",
    )


def _last_common(
    found: Mapping[tuple[_Process, str], _Communicator], ranks: Mapping[str, int]
) -> Iterator[CollectiveCall]:
    """Give the calls of all ranks at the last number that each of them has reached."""
    one_host = len({process.host for process, _ in found}) == 1
    for size in {group.size for group in found.values()}:
        of_size = {own: group for own, group in found.items() if group.size == size}
        if len({process for process, _ in of_size}) != len(of_size):
            continue
        common = set.intersection(*(set(group.calls) for group in of_size.values()))
        if len(of_size) < 2 or not common:
            continue
        for (_, comm), group in of_size.items():
            rank = ranks.get(comm, group.device if one_host else None)
            if rank is not None:
                yield msgspec.structs.replace(group.calls[max(common)], rank=rank)
