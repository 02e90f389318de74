"""What Slurm says of a job: `sacct` (columns or -P), `scontrol show job`.

Formats: slurm.schedmd.com/sacct.html, slurm.schedmd.com/scontrol.html. The state of the job is a
symptom; here its memory and its exit code are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from trainrx.evidence.readers import Source
from trainrx.evidence.readers._printed import PrintedLine, passages
from trainrx.evidence.values import gib
from trainrx.model.facts import Fact
from trainrx.model.ranks import Reading

HEADER, JOB = b"JobID", b"JobState="
MARKS = (HEADER, JOB)
SIGNALS = range(2, 65)
"""Numbers that are of the system: Slurm writes 0:125 where memory ran out, 0:1 at a time limit."""
_DASHES = re.compile(r"-{2,80}")
_PAIR = re.compile(r"([A-Za-z][\w/:]{1,30})=(\S{1,200})")
_CODE = re.compile(r"^(\d{1,3}):(\d{1,3})$")
_MEMORY = re.compile(r"^([\d.]{1,20}[KMGT])([cn]?)$")
Row = tuple[Mapping[str, str], PrintedLine]


def read(data: bytes, source: Source) -> Reading:
    """Read the memory asked for and used, and how the job ended."""
    facts: list[Fact] = []
    for table in passages(data, source, HEADER, most=200):
        facts += _job(_rows(table))
    for lines in passages(data, source, JOB, most=30):
        facts += _shown(lines)
    return Reading(facts=tuple(facts))


def _rows(table: Sequence[PrintedLine]) -> list[Row]:
    head = table[0].text
    if "|" in head:
        names, body = head.split("|"), table[1:]
        return [(dict(zip(names, line.text.split("|"), strict=False)), line) for line in body]
    if len(table) < 2 or not _DASHES.match(table[1].text.strip()):
        return []
    spans = [match.span() for match in _DASHES.finditer(table[1].text)]
    names = [head[a:b].strip() for a, b in spans]
    return [
        ({name: line.text[a:b].strip() for name, (a, b) in zip(names, spans, strict=True)}, line)
        for line in table[2:]
    ]


def _job(rows: Sequence[Row]) -> Iterator[Fact]:
    """Say what rows of one job say; of several jobs nothing tells which is meant."""
    own = [row for row in rows if row[0].get("JobID", "")[:1].isdecimal()]
    jobs = {cells["JobID"].partition(".")[0] for cells, _ in own}
    if len(jobs) != 1:
        return
    used = [(amount, line) for cells, line in own if (amount := gib_of(cells.get("MaxRSS", "")))]
    asked = next((amount for cells, _ in own if (amount := _asked(cells))), None)
    if used:
        most, line = max(used, key=lambda item: item[0])
        yield line.says("slurm.max_rss_gib", round(most, 2))
        if asked:
            yield line.says("slurm.memory_share", round(most / asked, 3))
    if asked:
        yield own[0][1].says("cgroup.limit_gib", round(asked, 2))
    whole = next((row for row in own if "." not in row[0]["JobID"]), own[0])
    yield from _exit(whole[0].get("ExitCode", ""), whole[1])


def gib_of(text: str) -> float | None:
    """Read an amount that has a unit."""
    found = _MEMORY.match(text)
    return None if found is None else gib(found[1])


def _asked(cells: Mapping[str, str]) -> float | None:
    """Read the memory asked for; `c` stands for each CPU, `n` or nothing for each node."""
    found = _MEMORY.match(cells.get("ReqMem", ""))
    amount = None if found is None else gib(found[1])
    if found is None or amount is None or found[2] != "c":
        return amount
    cpus = cells.get("AllocCPUS", "")
    return amount * int(cpus) if cpus.isdecimal() and len(cpus) < 7 else None


def _exit(text: str, line: PrintedLine) -> Iterator[Fact]:
    found = _CODE.match(text)
    if found is None:
        return
    code, signal = int(found[1]), int(found[2])
    if code:
        yield line.says("exit.code", code)
    elif signal in SIGNALS:
        yield line.says("exit.code", -signal)


def _shown(lines: Sequence[PrintedLine]) -> Iterator[Fact]:
    for line in lines:
        if not line.text.strip():
            return
        pairs = dict(_PAIR.findall(line.text))
        yield from _exit(pairs.get("ExitCode", ""), line)
        asked = gib_of(pairs.get("MinMemoryNode", ""))
        if asked:
            yield line.says("cgroup.limit_gib", round(asked, 2))
