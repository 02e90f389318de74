"""What `faulthandler` of Python prints: the threads of a process on a timeout, signal or crash.

Format: https://docs.python.org/3/library/faulthandler.html, the innermost frame first. Where a
process crashed its stacks say nothing of a job that stands still; where a watchdog had it aborted
they do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BytesIO

from trainrx.evidence.lines import rank_of
from trainrx.evidence.readers import Source
from trainrx.evidence.readers._frames import (
    DumpLine,
    dump_line,
    heading_rank,
    is_first_thread,
    python_frame,
)
from trainrx.model.ranks import Reading, StackFrame, ThreadStack

MARKS = (b"Fatal Python error: ", b"(most recent call first):")
_THREAD = re.compile(
    r"^(?:Current t|T)hread 0x[0-9A-Fa-f]{1,16}(?: \[(?P<name>[^\]]{1,100})\])?"
    r" \(most recent call first\):\s*$"
)
_CRASH = re.compile(r"^Fatal Python error: (?!Aborted)")
_DUMP = re.compile(r"^(?:Fatal Python error: |Timeout \()")

_MAY_NAME = re.compile(
    rb"[=#*>-] ?\[?[Rr]ank[ :=_-]?\d|(?:[Rr]ank[ :=_-]?|RANK=)\d{1,5}\]?:?\s{0,6}$"
)
"""Stands on each line that a heading of a rank may be."""


def knows(_head: bytes) -> bool:
    """Leave it a log: what stands around it tells more."""
    return False


def read(data: bytes, source: Source) -> Reading:
    """Read all dumps in a log, those of several ranks apart."""
    return Reading(stacks=tuple(_stacks(data, source)))


class _Open:
    """A thread of one speaker whose frames are being read."""

    def __init__(self, line: DumpLine, name: str, rank: int | None) -> None:
        self.line, self.name, self.rank = line, name, rank
        self.frames: list[StackFrame] = []

    def stack(self) -> ThreadStack:
        """Give the thread as it was read."""
        return ThreadStack(
            frames=tuple(self.frames),
            origin=self.line.origin,
            thread=self.name,
            is_main=is_first_thread(self.frames),
            rank=self.rank,
        )


def _may_begin(line: bytes) -> bool:
    """Tell lines that may name a rank or begin a dump: most of a log is neither."""
    if b"(most recent call first)" in line or b"Fatal Python error" in line or b"Timeout (" in line:
        return True
    return (b"ank" in line or b"RANK" in line) and _MAY_NAME.search(line) is not None


def _stacks(data: bytes, source: Source) -> Iterator[ThreadStack]:
    threads: dict[str, _Open] = {}
    crashed: set[str] = set()
    rank: int | None = None
    for number, raw in enumerate(BytesIO(data), source.line):
        if not threads and not _may_begin(raw):
            continue
        text = raw.decode("utf-8", "replace").rstrip("\n")
        line = dump_line(text, source.name, number)
        told = heading_rank(line.text)
        rank = rank if told is None else told
        head = _THREAD.match(line.text)
        frame = None if head else python_frame(line)
        thread = threads.get(line.who)
        if frame is not None and thread is not None:
            thread.frames.append(frame)
            continue
        if _DUMP.match(line.text):
            (crashed.add if _CRASH.match(line.text) else crashed.discard)(line.who)
        if thread is not None and thread.frames:
            yield threads.pop(line.who).stack()
        if head is not None and line.who not in crashed:
            said = rank_of(f"[rank{line.who}]") if line.who.isdigit() else rank
            threads[line.who] = _Open(line, head["name"] or "", said)
    yield from (thread.stack() for thread in threads.values() if thread.frames)
