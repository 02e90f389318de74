"""What gdb prints of a process: `thread apply all bt` (C) and `py-bt` (Python).

Format: https://sourceware.org/gdb/current/onlinedocs/gdb.html/Backtrace.html and `libpython.py` of
CPython; the innermost frame first. Where a thread has frames of Python these are its stack.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainrx.evidence.readers import Source
from trainrx.evidence.readers._frames import (
    DumpLine,
    heading_rank,
    lines,
    of_processes,
    python_frame,
)
from trainrx.model.ranks import Reading, StackFrame, ThreadStack

MARKS = (b"(LWP ",)
_THREAD = re.compile(
    r"^Thread (?P<number>\d{1,6}) \((?:Thread 0x[0-9a-f]{1,16} )?\(?LWP (?P<id>\d{1,10})\)?"
    r"(?: \"(?P<name>[^\"\n]{0,100})\")?\)?:"
)
_FRAME = re.compile(
    r"^#\d{1,5}\s{1,3}(?:0x[0-9a-f]{1,16} in )?(?P<function>[^\s(][^(\n]{0,300}?) ?\("
)
_PLACE = re.compile(r" (?:from (?P<library>\S{1,300})|at (?P<file>[^\s:]{1,300}):\d{1,7})\s*$")


def knows(head: bytes) -> bool:
    """Tell whether a content is the output of gdb."""
    return b"(LWP " in head and re.search(rb"(?m)^Thread \d+ \(.{0,60}LWP", head) is not None


def read(data: bytes, source: Source) -> Reading:
    """Read the threads of a process."""
    return Reading(stacks=tuple(of_processes(_stacks(lines(data, source)))))


class _Open:
    def __init__(self, found: re.Match[str], line: DumpLine) -> None:
        self.is_main = found["number"] == "1"
        self.name = found["name"] or ""
        self.thread = int(found["id"])
        self.line = line
        self.native: list[StackFrame] = []
        self.python: list[StackFrame] = []


def _stacks(printed: Iterator[DumpLine]) -> Iterator[ThreadStack]:
    thread: _Open | None = None
    rank: int | None = None
    for line in printed:
        found = _THREAD.match(line.text)
        told = None if found is not None else heading_rank(line.text)
        if found is not None or told is not None:
            yield from _stack(thread, rank)
            thread = None if found is None else _Open(found, line)
        rank = rank if told is None else told
        if thread is not None and (frame := python_frame(line)) is not None:
            thread.python.append(frame)
        elif thread is not None and (native := _native(line)) is not None:
            thread.native.append(native)
    yield from _stack(thread, rank)


def _native(line: DumpLine) -> StackFrame | None:
    found = _FRAME.match(line.text) if line.text.startswith("#") else None
    if found is None:
        return None
    place = _PLACE.search(line.text)
    file = "" if place is None else place["library"] or place["file"] or ""
    return StackFrame(function=found["function"], file=file or "??", origin=line.origin)


def _stack(thread: _Open | None, rank: int | None) -> Iterator[ThreadStack]:
    if thread is None or not (thread.python or thread.native):
        return
    yield ThreadStack(
        frames=tuple(thread.python or thread.native),
        origin=thread.line.origin,
        pid=thread.thread if thread.is_main else None,
        thread=thread.name,
        is_main=thread.is_main,
        rank=rank,
    )
