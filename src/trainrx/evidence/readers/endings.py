"""How ranks ended: exceptions that nobody caught, and exits as torchrun lists them.

Formats: a traceback of Python, with the label of its rank or in a log of its own; the failures of
torch/distributed/elastic/multiprocessing/errors, 1.9 to 2.13.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from trainrx.evidence.lines import bare, last_seconds, path_rank, rank_of, seconds, speaker
from trainrx.evidence.readers import Source
from trainrx.evidence.readers._frames import DumpLine, origin, python_frame
from trainrx.model.ranks import RankEnd, Reading, StackFrame

TRACEBACK = b"Traceback (most recent call last)"
EXIT = b"exitcode  : "
MARKS = (TRACEBACK, EXIT)
MOST = 512
"""Tracebacks, and exits, that are looked at in a log."""
MOST_LINES = 400
"""Lines, of all ranks, in which a traceback ends."""
ABOVE = 1 << 12
"""Bytes above a traceback in which a time stamp is looked for."""
OUTERMOST = frozenset({"<module>", "_run_module_as_main", "_bootstrap"})
"""What a traceback begins in that ends its process: one that was caught begins further in."""
_EXCEPTION = re.compile(r"^[A-Za-z_][\w.]{0,200}(?:: |:?$)")
_EXIT = re.compile(rb"exitcode  : (-?\d{1,5}) \(pid: \d{1,10}\)[^\n]{0,40}")
_FIELD = re.compile(
    r"^\s*(?:time +: (?P<time>20\d\d-\d\d-\d\d_\d\d:\d\d:\d\d)|rank +: (?P<rank>\d{1,7}) )"
)
FIELDS = 6
"""Lines above an exit code that belong to it."""


def read(data: bytes, source: Source) -> Reading:
    """Read all endings; the first exception of a rank that nobody caught counts."""
    raised: dict[int, RankEnd] = {}
    for end in _exceptions(data, source):
        raised.setdefault(end.rank, end)
    return Reading(ends=(*raised.values(), *_exits(data, source)))


def _exceptions(data: bytes, source: Source) -> Iterator[RankEnd]:
    number, at = source.line, 0
    for found in islice(re.finditer(re.escape(TRACEBACK), data), MOST):
        start = data.rfind(b"\n", 0, found.start()) + 1
        number, at = number + data.count(b"\n", at, start), start
        end = _exception(data, start, Source(source.name, number))
        if end is not None:
            yield end


def _exception(data: bytes, start: int, source: Source) -> RankEnd | None:
    """Read one traceback from the line of its heading on."""
    lines = _lines(data, start, source)
    heading = next(lines)
    rank = rank_of(heading.text)
    rank = path_rank(source.name) if rank is None else rank
    who = speaker(heading.text)
    frames: list[StackFrame] = []
    for line in lines if rank is not None else ():
        if speaker(line.text) != who:
            continue
        text = bare(line.text)
        frame = python_frame(DumpLine(who, text, line.origin))
        if frame is not None:
            frames.append(frame)
        elif frames and _EXCEPTION.match(text):
            return _raised(rank, text, line, frames, data[max(0, start - ABOVE) : start])
    return None


def _raised(
    rank: int | None, text: str, line: DumpLine, frames: list[StackFrame], before: bytes
) -> RankEnd | None:
    if rank is None or frames[0].function not in OUTERMOST:
        return None
    return RankEnd(
        rank=rank,
        text=text,
        origin=line.origin,
        frames=tuple(reversed(frames)),
        at=last_seconds(before.decode("utf-8", "replace").split("\n")),
    )


def _lines(data: bytes, start: int, source: Source) -> Iterator[DumpLine]:
    for number in range(source.line, source.line + MOST_LINES):
        end = data.find(b"\n", start)
        text = data[start : end if end >= 0 else len(data)].decode("utf-8", "replace").rstrip("\r")
        yield DumpLine("", text, origin(source.name, number, text.strip()))
        if end < 0:
            return
        start = end + 1


def _exits(data: bytes, source: Source) -> Iterator[RankEnd]:
    number, at = source.line, 0
    for found in islice(_EXIT.finditer(data), MOST):
        number, at = number + data.count(b"\n", at, found.start()), found.start()
        above = data[max(0, at - ABOVE) : at].decode("utf-8", "replace").split("\n")[-FIELDS:-1]
        said = [field for line in above if (field := _FIELD.match(bare(line))) is not None]
        rank = next((one["rank"] for one in reversed(said) if one["rank"]), None)
        when = next((one["time"] for one in reversed(said) if one["time"]), None)
        text = found[0].decode("utf-8", "replace").strip()
        if rank is not None:
            yield RankEnd(
                rank=int(rank),
                text=text,
                origin=origin(source.name, number, text),
                code=int(found[1]),
                at=seconds(when.replace("_", " ")) if when else None,
            )
