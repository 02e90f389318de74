"""Memory of processes over time: `ps`, `top -b` and /proc/PID/status, printed again and again.

Formats: man 1 ps, man 1 top (procps), docs.kernel.org/filesystems/proc.html.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from trainrx.evidence.readers import Source
from trainrx.evidence.values import gib
from trainrx.model.curves import Curve
from trainrx.model.ranks import Reading

MARKS = (b"VmRSS:", b"%MEM", b"  RSS ")
LONGEST = 512
RESIDENT = ("RSS", "RES")
LEAST_GIB = 0.5
"""A process that holds less is no part of a training that fills the memory."""
MOST_PROCESSES = 256
MOST_READINGS = 4096
DAY = 86_400.0
_CLOCK = re.compile(r"^top - (\d\d):(\d\d):(\d\d)\s")
_PID = re.compile(r"^Pid:\s{1,8}(\d{1,10})$")
_RSS = re.compile(r"^VmRSS:\s{1,20}(\d{1,15}) kB$")
_SIZE = re.compile(r"^\d{1,15}(?:\.\d{1,6})?[kmgt]?$", re.IGNORECASE)


class _Seen(NamedTuple):
    """What one process held, on which line, and when, where a clock says it."""

    pid: int
    gib: float
    line: int
    at: float | None


def read(data: bytes, source: Source) -> Reading:
    """Read how much of the memory of the machine each process holds over time."""
    processes: dict[int, list[_Seen]] = {}
    for seen in _seen(data, source.line):
        if seen.pid in processes or len(processes) < MOST_PROCESSES or seen.gib >= LEAST_GIB:
            processes.setdefault(seen.pid, []).append(seen)
    return Reading(
        curves=tuple(
            _curve(source.name, pid, found[:: len(found) // MOST_READINGS + 1])
            for pid, found in processes.items()
            if found[1:] and max(seen.gib for seen in found) >= LEAST_GIB
        )
    )


def _curve(source: str, pid: int, found: list[_Seen]) -> Curve:
    timed = all(seen.at is not None for seen in found)
    return Curve(
        quantity="host-memory",
        source=source,
        at=tuple(
            (seen.at or 0.0) - (found[0].at or 0.0) if timed else float(i)
            for i, seen in enumerate(found)
        ),
        values=tuple(round(seen.gib, 4) for seen in found),
        lines=tuple(seen.line for seen in found),
        by="second" if timed else "reading",
        unit="process",
        number=pid,
    )


def _seen(data: bytes, first: int) -> Iterator[_Seen]:
    columns: dict[str, int] = {}
    at: float | None = None
    pid: int | None = None
    for number, raw in enumerate(data.split(b"\n"), first):
        text = raw[:LONGEST].decode("utf-8", "replace").strip()
        if (clock := _CLOCK.match(text)) is not None:
            at = _later(clock, at)
        elif (named := _PID.match(text)) is not None:
            pid = int(named[1])
        elif (held := _RSS.match(text)) is not None and pid is not None:
            yield _Seen(pid, int(held[1]) / 2**20, number, None)
        else:
            words = text.split()
            columns = _columns(words) or columns
            found = _row(words, columns)
            if found is not None:
                yield _Seen(*found, number, at)


def _later(clock: re.Match[str], before: float | None) -> float:
    """Give the seconds of a clock, which begins anew at midnight."""
    hours, minutes, seconds = (int(part) for part in clock.groups())
    at = hours * 3600.0 + minutes * 60 + seconds
    while before is not None and at < before - DAY / 2:
        at += DAY
    return at


def _columns(words: list[str]) -> dict[str, int]:
    resident = next((words.index(name) for name in RESIDENT if name in words), None)
    if resident is None or "PID" not in words:
        return {}
    return {"pid": words.index("PID"), "resident": resident}


def _row(words: list[str], columns: dict[str, int]) -> tuple[int, float] | None:
    if not columns or len(words) <= max(columns.values()):
        return None
    pid, size = words[columns["pid"]], words[columns["resident"]]
    if not pid.isdecimal() or not _SIZE.match(size):
        return None
    amount = gib(f"{size}KiB" if size[-1].isdigit() else f"{size}iB")
    return None if amount is None else (int(pid[:10]), amount)
