"""Room on disks and in /dev/shm: `df`, with -h, -T or -i.

Format: man 1 df (GNU coreutils).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainrx.evidence.readers import Source
from trainrx.evidence.readers._printed import PrintedLine, passages
from trainrx.evidence.values import gib
from trainrx.model.facts import Fact
from trainrx.model.ranks import Reading

MARKS = (b"Mounted on", "挂载点".encode())
FULL = 100
"""Per cent: df rounds up, so that a disk with some room left shows less."""
SHM = re.compile(r"^/dev/shm$")
NOT_WRITTEN = re.compile(r"^/(?:snap|boot|sys|proc|run|usr/lib/modules|etc)(?:/|$)")
"""Where nothing of a job is written to, and images that are always full are mounted."""
_ROW = re.compile(
    r"^\S{1,200}\s+(?:[a-z][\w.]{1,20}\s+)?(?P<size>[\d.]{1,20}[KMGTP]?)\s+[\d.]{1,20}[KMGTP]?"
    r"\s+[\d.]{1,20}[KMGTP]?\s+(?P<used>\d{1,3})%\s+(?P<path>/\S{0,300})$"
)
_BLOCKS = re.compile(r"\b1([KMG])-(?:blocks|块)")


def read(data: bytes, source: Source) -> Reading:
    """Read which file systems are full, and how large /dev/shm is."""
    tables = (table for mark in MARKS for table in passages(data, source, mark, most=60))
    return Reading(facts=tuple(item for table in tables for item in _table(table)))


def _table(lines: tuple[PrintedLine, ...]) -> Iterator[Fact]:
    head = lines[0].text
    blocks = _BLOCKS.search(head)
    counts_files = "Inodes" in head or "Inode" in head
    for line in lines[1:]:
        found = _ROW.match(line.text)
        if found is None:
            return
        used, path = int(found["used"]), found["path"]
        if SHM.match(path) and not counts_files:
            unit = blocks[1] if blocks is not None else ""
            size = gib(found["size"] + unit)
            if size is not None:
                yield line.says("hardware.shm_gib", round(size, 3))
            yield line.says("shm.used_share", used / 100)
        elif not SHM.match(path) and used >= FULL and not NOT_WRITTEN.match(path):
            yield line.says("disk.full", path)
