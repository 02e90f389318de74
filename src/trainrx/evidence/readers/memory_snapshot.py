"""Memory snapshots of PyTorch: what its allocator holds of a card, as pickle or JSON.

Format: torch/cuda/_memory_viz.py and torch/csrc/cuda/memory_snapshot.cpp (`_dump_snapshot`,
`_snapshot`, `memory_snapshot`), 2.0 to 2.10: segments with their blocks, and what was recorded for
each card (`device_traces`, with `oom` where a request failed). Up to 2.0 the stack of a block
stands in its `history`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import msgspec

from trainrx.evidence.lines import path_rank
from trainrx.evidence.pickles import PICKLED, UnplainError, plain_values
from trainrx.evidence.readers import Source
from trainrx.evidence.readers._values import frames_of, mapping, sequence, whole
from trainrx.model.facts import Origin
from trainrx.model.findings import Unread
from trainrx.model.ranks import (
    FailedAllocation,
    HeldMemory,
    MemorySnapshot,
    Reading,
    StackFrame,
)

MARKS = ()
KEYS = (b"segment_type", b"total_size", b"allocated_size", b"active_size", b"device_traces")
MOST_BLOCKS = 1 << 22
MOST_HOLDERS = 16
NAMED = 3
GIB = 2.0**30
IN_USE, FREE = ("active_allocated", "active_pending_free", "active_awaiting_free"), "inactive"


def knows(head: bytes) -> bool:
    """Tell whether a content is a snapshot."""
    start = head.lstrip()[:1]
    return start in (PICKLED, b"{", b"[") and sum(key in head for key in KEYS) >= 2


def read(data: bytes, source: Source) -> Reading:
    """Read a snapshot, card by card."""
    try:
        value = plain_values(data) if data.startswith(PICKLED) else msgspec.json.decode(data)
    except UnplainError as error:
        return _unread(source, f"holds {error}, which a snapshot never has: it was not loaded")
    except (ValueError, msgspec.MsgspecError, RecursionError) as error:
        return _unread(source, f"is no whole memory snapshot: {error}")
    whole_of = {"segments": value} if isinstance(value, list) else mapping(value)
    cards: dict[int, _Card] = {}
    left = MOST_BLOCKS
    for segment in sequence(whole_of.get("segments")):
        device = whole(mapping(segment).get("device")) or 0
        card = cards.setdefault(device, _Card(device, source.name))
        left -= card.take(mapping(segment), left)
        if left <= 0:
            reason = f"has more than {MOST_BLOCKS} blocks: only the first ones were counted"
            snapshots = tuple(one.snapshot({}) for one in cards.values())
            return msgspec.structs.replace(_unread(source, reason), snapshots=snapshots)
    traces = dict(enumerate(sequence(whole_of.get("device_traces"))))
    return Reading(snapshots=tuple(one.snapshot(traces) for one in cards.values()))


def _unread(source: Source, reason: str) -> Reading:
    return Reading(unread=(Unread(source=source.name, reason=reason),))


class _Card:
    """What is counted of one card."""

    def __init__(self, device: int, source: str) -> None:
        self.device = device
        self.source = source
        self.reserved = self.allocated = self.unused = 0
        self._stacks: dict[int, tuple[StackFrame, ...]] = {}
        self._same: dict[tuple[tuple[str, str, int | None], ...], tuple[StackFrame, ...]] = {}
        self._held: dict[int, list[int]] = {}

    def take(self, segment: Mapping[Any, Any], most: int) -> int:
        """Count a segment; give how many things of it were looked at."""
        blocks = sequence(segment.get("blocks"))[:most]
        self.reserved += _size(segment, "total_size")
        for block in map(mapping, blocks):
            state, size = block.get("state"), _size(block, "size")
            if state in IN_USE:
                self.allocated += size
                self._hold(block, size)
            elif state == FREE:
                self.unused += size
        return len(blocks) + 1

    def _hold(self, block: Mapping[Any, Any], size: int) -> None:
        stack = block.get("frames")
        if stack is None:
            stack = mapping(next(iter(sequence(block.get("history"))), None)).get("frames")
        held = self._held.setdefault(id(self._frames(stack)), [0, 0])
        held[0] += size
        held[1] += 1

    def _frames(self, stack: object) -> tuple[StackFrame, ...]:
        """Give the Python frames of a stack, which many blocks share: equal ones once."""
        if id(stack) not in self._stacks:
            every = frames_of(stack, self.source)
            frames = tuple(one for one in every if one.file.endswith(".py"))
            key = tuple((one.function, one.file, one.line) for one in frames)
            self._stacks[id(stack)] = self._same.setdefault(key, frames)
        return self._stacks[id(stack)]

    def _holders(self) -> Iterator[HeldMemory]:
        named = {id(frames): frames for frames in self._same.values() if frames}
        largest = sorted(self._held.items(), key=lambda item: -item[1][0])
        for stack, (size, blocks) in largest:
            if stack in named:
                yield HeldMemory(gib=round(size / GIB, 4), blocks=blocks, frames=named[stack])

    def snapshot(self, traces: Mapping[int, object]) -> MemorySnapshot:
        """Give what was counted, and the request that failed last."""
        entries = sequence(traces.get(self.device))
        last = mapping(entries[-1]) if entries else {}
        time = whole(last.get("time_us"))
        return MemorySnapshot(
            origin=Origin(source=self.source, text=f"segments of device {self.device}"),
            rank=path_rank(self.source),
            device=self.device,
            reserved_gib=round(self.reserved / GIB, 4),
            allocated_gib=round(self.allocated / GIB, 4),
            unused_gib=round(self.unused / GIB, 4),
            holders=tuple(islice(self._holders(), MOST_HOLDERS)),
            failed=next(self._failed(entries), None),
            at=None if time is None else time / 1e6,
        )

    def _failed(self, entries: tuple[Any, ...]) -> Iterator[FailedAllocation]:
        for entry in map(mapping, reversed(entries)):
            if entry.get("action") == "oom":
                free = whole(entry.get("device_free"))
                frames = self._frames(entry.get("frames"))
                asked = _size(entry, "size") / GIB
                where = " < ".join(one.origin.text for one in frames[:NAMED])
                text = f"oom: {asked:.2f} GiB asked for: {where}".removesuffix(": ")
                yield FailedAllocation(
                    asked_gib=round(asked, 4),
                    free_gib=None if free is None else round(free / GIB, 4),
                    frames=frames,
                    origin=Origin(source=self.source, text=text[:200]),
                )


def _size(record: Mapping[Any, Any], key: str) -> int:
    return max(0, whole(record.get(key)) or 0)
