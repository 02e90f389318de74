"""Readers of what a stuck or dead job leaves besides its log, one module for each format.

A module here is found by its place, and has

    MARKS: texts of which one stands in every log that this format is printed into; () where it is
        never part of another text
    knows(head) -> bool: whether a content is of this format from its first bytes on; left out
        where it is only lines, which are read wherever they stand
    read(data, source) -> Reading: what it says, with the lines it says it on

`read` never raises, whatever the bytes: what cannot be read of them is told in `Reading.unread`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from typing import NamedTuple, Protocol, TypeVar, cast

import msgspec

from trainrx.evidence.engine import first_places
from trainrx.evidence.shares import shared_out
from trainrx.inputs.stream import PRINTED, chunks
from trainrx.model.bundle import BundleItem
from trainrx.model.facts import Origin
from trainrx.model.findings import Unread
from trainrx.model.job import Input
from trainrx.model.progress import advance, begin
from trainrx.model.ranks import Reading, ThreadStack

T = TypeVar("T", bound=msgspec.Struct)
TICKS = 100
"""Of the clock that `/proc` counts by, in a second (USER_HZ)."""
HEAD = 1 << 16
"""Bytes by which a format is known."""
LARGEST = 1 << 28
"""Bytes of a dump that are read; a recorder's of 20,000 calls has 40 MiB."""
LARGEST_PASSAGE = 1 << 25
"""Bytes of a log that are read from the first mark of a reader on."""
LONGEST_LINE = 1 << 16
"""Bytes in front of a mark that may belong to its line."""
LOOKED_THROUGH = ("log", "output", "versions")
MAY_BE = ("log", "config", "args", "metrics", "script", "versions", "other")
"""Kinds that a format of evidence may be taken for by what it looks like."""


class Source(NamedTuple):
    """What bytes are cited by, and the line of it they begin on."""

    name: str
    line: int = 1


class Reader(Protocol):
    """A module that reads one format."""

    MARKS: tuple[bytes, ...]

    def read(self, data: bytes, source: Source) -> Reading:
        """Say what is in it."""


@lru_cache(maxsize=1)
def readers() -> dict[str, Reader]:
    """Give the readers by the names of their modules."""
    with os.scandir(__path__[0]) as entries:
        names = sorted(entry.name.partition(".")[0] for entry in entries)
    found = (name for name in names if not name.startswith("_"))
    return {name: cast("Reader", import_module(f"{__name__}.{name}")) for name in found}


@lru_cache(maxsize=1)
def _whole_formats() -> dict[str, Callable[[bytes], bool]]:
    """Give what tells the formats that are a content of their own, by reader."""
    found = ((name, getattr(reader, "knows", None)) for name, reader in readers().items())
    return {name: knows for name, knows in found if knows is not None}


def format_of(head: bytes) -> str:
    """Name the reader that knows a content from its first bytes on, "" where none does."""
    return next((name for name, knows in _whole_formats().items() if knows(head)), "")


def as_evidence(item: Input) -> Input:
    """Give an input as evidence, where it is of one of the formats; else as it is."""
    if item.kind not in MAY_BE:
        return item
    head = next(_bytes(item, [], HEAD), b"")[:HEAD]
    name = format_of(head)
    return msgspec.structs.replace(item, kind="evidence", format=name) if name else item


def read_evidence(inputs: Iterable[Input], printed: Reading | None = None) -> Reading:
    """Read all evidence in some inputs: those of a format, and what is printed into logs.

    Args:
        inputs: what was given.
        printed: what is printed into the logs, where they were read already.
    """
    begin("searching")
    each = tuple(inputs)
    left = each if printed is None else [item for item in each if item.kind not in PRINTED]
    reading = joined(shared_out(left, lambda item: joined(_read(item))))
    reading = reading if printed is None else joined((reading, printed))
    usage = dict(_usage(each))
    if not usage:
        return reading
    stacks = tuple(_with_usage(one, usage) for one in reading.stacks)
    seen = {(one.host, one.pid) for one in stacks}
    stopped = (times for who, times in usage.items() if who not in seen)
    return msgspec.structs.replace(
        reading, stacks=(*stacks, *(one for times in stopped for one in _bare_stacks(times)))
    )


def joined(parts: Iterable[Reading]) -> Reading:
    """Put several readings together."""
    each = tuple(parts)
    return Reading(
        stacks=tuple(item for part in each for item in part.stacks),
        calls=tuple(item for part in each for item in part.calls),
        progress=tuple(item for part in each for item in part.progress),
        curves=tuple(item for part in each for item in part.curves),
        snapshots=tuple(item for part in each for item in part.snapshots),
        ends=tuple(item for part in each for item in part.ends),
        facts=tuple(item for part in each for item in part.facts),
        unread=tuple(item for part in each for item in part.unread),
    )


def _read(item: Input) -> Iterator[Reading]:
    stopped: list[Unread] = []
    if item.kind == "evidence":
        data = b"".join(_bytes(item, stopped, LARGEST))
        yield _placed(readers()[item.format].read(data, Source(item.name)), item.taken)
    elif item.kind in LOOKED_THROUGH:
        dumps = PrintedDumps(item.name)
        for chunk in chunks(item, stopped.append):
            advance(len(chunk))
            dumps.feed(chunk)
        yield dumps.reading()
    yield Reading(unread=tuple(stopped))


def _placed(reading: Reading, taken: BundleItem | None) -> Reading:
    """Add what the manifest of a bundle says of a dump: whose it is and when it was taken."""
    if taken is None:
        return reading
    place = {"rank": taken.rank, "host": taken.host, "at": taken.at}
    own = {"pid": taken.pid, "parent": taken.parent}
    stacks = (_filled(one, {**place, **own}) for one in reading.stacks)
    process = {"rank": taken.rank, "host": taken.host}
    calls = (_filled(one, process) for one in reading.calls)
    snapshots = (_filled(one, process) for one in reading.snapshots)
    return msgspec.structs.replace(
        reading, stacks=tuple(stacks), calls=tuple(calls), snapshots=tuple(snapshots)
    )


class _Usage(NamedTuple):
    """What the kernel says of the first thread of a process: seconds computed, and its state."""

    computed: float
    stopped: bool
    taken: BundleItem
    origin: Origin


Usages = Mapping[float, _Usage]
"""By the time they were read at."""
STOPPED = (b"T", b"t")
"""States of `/proc/PID/stat`: stopped by a signal, stopped by a tracer."""


def _usage(inputs: Iterable[Input]) -> Iterator[tuple[tuple[str, int], Usages]]:
    """Give by machine and process what its first thread did, and when that was read.

    The first line is that of the first thread; its fields 14 and 15 count ticks (man 5 proc).
    """
    found: dict[tuple[str, int], dict[float, _Usage]] = {}
    for item in inputs:
        taken = item.taken
        if taken is None or taken.kind != "usage" or taken.pid is None or taken.at is None:
            continue
        line = b"".join(_bytes(item, [], HEAD)).partition(b"\n")[0]
        fields = line.rpartition(b")")[2].split()
        if len(fields) > 12 and fields[11].isdigit() and fields[12].isdigit():
            seconds = (int(fields[11]) + int(fields[12])) / TICKS
            origin = Origin(source=item.name, line=1, text=line[:200].decode("utf-8", "replace"))
            one = _Usage(seconds, fields[0] in STOPPED, taken, origin)
            found.setdefault((taken.host, taken.pid), {})[taken.at] = one
    yield from found.items()


def _bare_stacks(times: Usages) -> Iterator[ThreadStack]:
    """Give a process of which there is no stack, where it was stopped when it was seen last."""
    if not times[max(times)].stopped:
        return
    for at, one in sorted(times.items()):
        place = {"pid": one.taken.pid, "parent": one.taken.parent, "rank": one.taken.rank}
        stack = ThreadStack(
            frames=(), origin=one.origin, host=one.taken.host, at=at, is_main=True, stopped=True
        )
        yield msgspec.structs.replace(stack, **place)


def _with_usage(stack: ThreadStack, usage: Mapping[tuple[str, int], Usages]) -> ThreadStack:
    """Add to the first thread of a process what it had computed when it was seen."""
    times = usage.get((stack.host, stack.pid or 0))
    if not times or stack.at is None or not stack.is_main:
        return stack
    at = stack.at
    nearest = times[min(times, key=lambda time: abs(time - at))]
    return msgspec.structs.replace(stack, computed=nearest.computed, stopped=nearest.stopped)


def _filled(record: T, known: Mapping[str, object]) -> T:
    """Fill in what a record leaves open."""
    lacking = {
        name: value
        for name, value in known.items()
        if value is not None and getattr(record, name) in (None, "")
    }
    return msgspec.structs.replace(record, **lacking) if lacking else record


def _bytes(item: Input, stopped: list[Unread], most: int) -> Iterator[bytes]:
    left = most
    for chunk in chunks(item, stopped.append):
        yield chunk[:left]
        left -= len(chunk)
        if left <= 0:
            reason = f"is larger than {most} bytes: only its beginning was read"
            stopped.append(Unread(source=item.name, reason=reason))
            return


class _Passage:
    """What a log holds from some line on."""

    def __init__(self, line: int, data: bytes) -> None:
        self.line = line
        self._pieces = [data]
        self._size = len(data)

    @property
    def data(self) -> bytes:
        """Give all of it."""
        return b"".join(self._pieces)

    def add(self, chunk: bytes) -> bool:
        """Take what follows; tells whether that is all that is read of a log."""
        self._pieces.append(chunk)
        self._size += len(chunk)
        return self._size > LARGEST_PASSAGE


class _Marks(NamedTuple):
    """A search for the marks of all readers, the numbers of each reader's, the longest's length."""

    search: Callable[[bytes], dict[int, int]]
    numbers: Mapping[str, Sequence[int]]
    longest: int


@lru_cache(maxsize=1)
def _marks() -> _Marks:
    printed = {name: reader.MARKS for name, reader in readers().items() if reader.MARKS}
    marks = tuple(dict.fromkeys(mark for marks in printed.values() for mark in marks))
    numbers = {name: [marks.index(mark) for mark in own] for name, own in printed.items()}
    return _Marks(first_places(marks), numbers, max(map(len, marks), default=1))


class PrintedDumps:
    """What is printed into one log; `feed` it the pieces of the log, then take the `reading`.

    Each reader is given what the log holds from the line of its own first mark on: what a job
    prints when it starts (its cards, its limits) leaves room for how it ends.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._marks = _marks()
        self._awaited = dict(self._marks.numbers)
        self._begun: dict[str, _Passage] = {}
        self._found: dict[str, Reading] = {}
        self._line, self._before = 1, b""

    def feed(self, chunk: bytes) -> None:
        """Take the next piece."""
        # a passage that is whole is read at once: of several a log may be held as often
        for name in [name for name, passage in self._begun.items() if passage.add(chunk)]:
            self._read(name)
        data = self._before + chunk
        places = self._marks.search(data)
        for name, own in list(self._awaited.items()) if places else ():
            at = min((places[number] for number in own if number in places), default=-1)
            if at >= 0:
                start = _start_of_line(data, at)
                line = self._line + data.count(b"\n", 0, start)
                self._begun[name] = _Passage(line, data[start:])
                del self._awaited[name]
        start = _start_of_line(data, max(0, len(data) - self._marks.longest))
        self._line += data.count(b"\n", 0, start)
        self._before = data[start:]

    def reading(self) -> Reading:
        """Give what all readers found, after the last piece."""
        for name in list(self._begun):
            self._read(name)
        return joined(self._found[name] for name in self._marks.numbers if name in self._found)

    def _read(self, name: str) -> None:
        passage = self._begun.pop(name)
        source = Source(self._name, passage.line)
        self._found[name] = readers()[name].read(passage.data, source)


def _start_of_line(data: bytes, at: int) -> int:
    return max(data.rfind(b"\n", 0, at) + 1, at - LONGEST_LINE)
