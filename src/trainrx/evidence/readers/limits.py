"""Limits of a process: `ulimit -a` of bash, /proc/PID/limits.

Formats: man 1 bash (ulimit), docs.kernel.org/filesystems/proc.html.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainrx.evidence.readers import Source
from trainrx.evidence.readers._printed import PrintedLine, passages
from trainrx.model.facts import Fact
from trainrx.model.ranks import Reading

MARKS = (b"core file size ", b"Max cpu time ")
UNLIMITED = 2**40
"""KiB, files or processes: more than any machine has."""
_NAMES = {
    "max locked memory": "limit.locked_memory_gib",
    "virtual memory": "limit.address_space_gib",
    "max address space": "limit.address_space_gib",
    "open files": "limit.open_files",
    "max open files": "limit.open_files",
    "max user processes": "limit.processes",
    "max processes": "limit.processes",
}
_ROW = re.compile(
    r"^\s*(?P<name>[A-Za-z][a-z ]{3,30}?)\s{1,30}(?:\((?P<unit>\w{1,12}, )?-\w\)\s+)?"
    r"(?P<value>\d{1,19}|unlimited)(?:\s+(?:\d{1,19}|unlimited)\s+(?P<last>\w{1,12}))?$"
)
GIB = {"kbytes": 2.0**-20, "bytes": 2.0**-30}


def read(data: bytes, source: Source) -> Reading:
    """Read the limits that jobs run into."""
    tables = (table for mark in MARKS for table in passages(data, source, mark, most=20))
    return Reading(facts=tuple(item for table in tables for line in table for item in _limit(line)))


def _limit(line: PrintedLine) -> Iterator[Fact]:
    found = _ROW.match(line.text)
    kind = None if found is None else _NAMES.get(found["name"].strip().lower())
    if found is None or kind is None:
        return
    unlimited = found["value"] == "unlimited"
    number = UNLIMITED if unlimited else int(found["value"])
    if not kind.endswith("_gib"):
        yield line.says(kind, number)
        return
    unit = (found["unit"] or found["last"] or "").rstrip(", ")
    factor = GIB["kbytes"] if unlimited else GIB.get(unit)
    if factor is not None:
        yield line.says(kind, round(number * factor, 6))
