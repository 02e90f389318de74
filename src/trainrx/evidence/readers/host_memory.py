"""Memory of a machine and of a control group: `free`, /proc/meminfo, cgroup `memory.events`.

Formats: man 1 free (procps), docs.kernel.org/filesystems/proc.html and admin-guide/cgroup-v2.html.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainrx.evidence.readers import Source
from trainrx.evidence.readers._printed import PrintedLine, passages
from trainrx.evidence.values import gib
from trainrx.model.facts import Fact
from trainrx.model.ranks import Reading

FREE, MEMINFO, EVENTS = b"buff/cache", b"MemTotal:", b"oom_kill "
MARKS = (FREE, MEMINFO, EVENTS)
_FREE = re.compile(r"^\s*(?:Mem|内存)[:：]\s+(\S{1,20})(?:\s+\S{1,20}){4}\s+(\S{1,20})$")
_MEMINFO = re.compile(r"^\s*(MemTotal|MemAvailable):\s+(\d{1,15} kB)$")
_KILLS = re.compile(r"^\s*oom_kill (\d{1,12})$")
TOTAL, AVAILABLE = "hardware.host_ram_gib", "host.available_gib"
PLAIN = ((8e9, 2.0**-30), (8e6, 2.0**-20), (4096.0, 2.0**-10))
"""From which total on a plain number of `free` counts bytes, KiB (its default) or MiB, in GiB.

No machine that trains has as little memory as the next unit would say.
"""


def read(data: bytes, source: Source) -> Reading:
    """Read what is said of memory, of what is printed several times the last."""
    return Reading(facts=tuple(_facts(data, source)))


def _facts(data: bytes, source: Source) -> Iterator[Fact]:
    for lines in passages(data, source, FREE, most=3):
        yield from (item for line in lines for item in _free(line))
    for lines in passages(data, source, MEMINFO, most=3):
        yield from (item for line in lines for item in _meminfo(line))
    for lines in passages(data, source, EVENTS, most=1):
        yield from (
            lines[0].says("cgroup.oom_kills", int(found[1]))
            for found in [_KILLS.match(lines[0].text)]
            if found is not None
        )


def _free(line: PrintedLine) -> Iterator[Fact]:
    found = _FREE.match(line.text)
    if found is None:
        return
    total, available = (gib(text) for text in found.groups())
    if total is None or available is None:
        return
    factor = 1.0
    if found[1].isdecimal():
        factor = next((unit for least, unit in PLAIN if total >= least), 1.0)
    yield line.says(TOTAL, round(total * factor, 2))
    yield line.says(AVAILABLE, round(available * factor, 2))


def _meminfo(line: PrintedLine) -> Iterator[Fact]:
    found = _MEMINFO.match(line.text)
    amount = None if found is None else gib(found[2])
    if found is not None and amount is not None:
        yield line.says(TOTAL if found[1] == "MemTotal" else AVAILABLE, round(amount, 2))
