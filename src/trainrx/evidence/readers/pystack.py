"""`pystack remote` and `pystack core`: the stacks of one process, with `--native` those of C too.

Format: https://bloomberg.github.io/pystack (1.2 to 1.7). Frames stand the outermost first, each
with its line of code below; pystack prints the first thread of a process last.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainrx.evidence.readers import Source
from trainrx.evidence.readers._frames import (
    DumpLine,
    heading_rank,
    is_first_thread,
    lines,
    of_processes,
    python_frame,
)
from trainrx.model.ranks import Reading, StackFrame, ThreadStack

MARKS = (b"Traceback for thread ",)
_THREAD = re.compile(
    r"^\s{0,4}Traceback for thread (?P<id>\d{1,10}) \((?P<name>[^)\n]{0,100})\)"
    r" \[(?P<state>[^\]]{0,100})\]"
)
_COLOUR = re.compile(r"\x1b\[[\d;]{0,12}m")


def knows(head: bytes) -> bool:
    """Tell whether a content is a dump."""
    start = _COLOUR.sub("", head[:400].decode("utf-8", "replace")).lstrip()
    return start.startswith("Traceback for thread ")


def read(data: bytes, source: Source) -> Reading:
    """Read a dump, or several."""
    plain = _COLOUR.sub("", data.decode("utf-8", "replace")).encode()
    return Reading(stacks=tuple(of_processes(_stacks(lines(plain, source)))))


def _stacks(printed: Iterator[DumpLine]) -> Iterator[ThreadStack]:
    head: tuple[re.Match[str], DumpLine] | None = None
    rank: int | None = None
    frames: list[StackFrame] = []
    for line in printed:
        found = _THREAD.match(line.text)
        told = None if found is not None else heading_rank(line.text)
        if found is not None or told is not None:
            yield from _stack(head, frames, rank)
            head, frames = (None if found is None else (found, line)), []
        rank = rank if told is None else told
        frame = python_frame(line) if head is not None else None
        if frame is not None:
            frames.append(frame)
    yield from _stack(head, frames, rank)


def _stack(
    head: tuple[re.Match[str], DumpLine] | None, frames: list[StackFrame], rank: int | None
) -> Iterator[ThreadStack]:
    if head is None or not frames:
        return
    found, line = head
    inner = tuple(reversed(frames))
    is_main = is_first_thread(inner)
    yield ThreadStack(
        frames=inner,
        origin=line.origin,
        pid=int(found["id"]) if is_main else None,
        thread=found["name"],
        is_main=is_main,
        has_gil="Has the GIL" in found["state"],
        rank=rank,
    )
