"""What a Ray cluster has and what is asked of it in vain: `ray status`.

Format: docs.ray.io, ray status (autoscaler's summary); 2.x prints "Usage", later "Total Usage".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trainrx.evidence.readers import Source
from trainrx.evidence.readers._printed import PrintedLine, passages
from trainrx.model.facts import Fact
from trainrx.model.ranks import Reading

MARKS = (b"Autoscaler status:", b"Cluster status:")
_USED = re.compile(r"^\s*(?P<used>[\d.]{1,12})/(?P<total>[\d.]{1,12}) GPU\b")
_DEMAND = re.compile(r"^\s*(?P<asked>\{.{1,300}\}.{0,40}): \d{1,9}\+? pending (?:tasks|placement)")
_OF_GPUS = re.compile(r"'GPU': (?P<each>[\d.]{1,12})[^{}]{0,200}\}(?: \* (?P<times>\d{1,6}))?")


def read(data: bytes, source: Source) -> Reading:
    """Read the GPUs a cluster has, and what waits for more."""
    facts: list[Fact] = []
    for mark in MARKS:
        for lines in passages(data, source, mark, most=120):
            facts += _summary(lines)
    return Reading(facts=tuple(facts))


def _summary(lines: Sequence[PrintedLine]) -> Iterator[Fact]:
    free: float | None = None
    for number, line in enumerate(lines):
        if number and any(mark.decode() in line.text for mark in MARKS):
            return
        if (used := _USED.match(line.text)) is not None:
            total, busy = _amount(used["total"]), _amount(used["used"])
            free = total - busy if total is not None and busy is not None else None
        elif free is not None and (demand := _DEMAND.match(line.text)) is not None:
            lacking = _asked(demand["asked"]) - free
            if lacking > 0:
                yield line.says("ray.gpus_lacking", round(lacking, 4))


def _asked(demand: str) -> float:
    """Count the GPUs of a demand; each part of it counts as often as it is asked for."""
    return sum(
        each * int(part["times"] or 1)
        for part in _OF_GPUS.finditer(demand)
        if (each := _amount(part["each"])) is not None
    )


def _amount(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\d{1,9}(?:\.\d{1,20})?", text) else None
