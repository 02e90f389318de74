"""A pod as `kubectl describe pod` shows it: how its container ended, its limits, its /dev/shm.

Format: kubernetes.io/docs, kubectl describe (pkg/describe). Reasons such as OOMKilled and events
are symptoms.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trainrx.evidence.readers import Source
from trainrx.evidence.readers._printed import PrintedLine, passages
from trainrx.evidence.values import gib
from trainrx.model.facts import Fact
from trainrx.model.ranks import Reading

MARK = b"Containers:"
MARKS = (MARK,)
_LINE = re.compile(r"^(?P<margin> {0,12})(?P<key>[\w./ -]{1,80}):\s*(?P<value>.{0,200})$")
SHM = re.compile(r"^/dev/shm$")
_SIZE = re.compile(r"^(\d{1,15})([KMGT])i?$")


def read(data: bytes, source: Source) -> Reading:
    """Read how the containers of pods ended, and what they may use."""
    facts: list[Fact] = []
    for lines in passages(data, source, MARK, most=200):
        facts += _pod(lines)
    return Reading(facts=tuple(facts))


def _pod(lines: Sequence[PrintedLine]) -> Iterator[Fact]:
    ended = limits = False
    volume: dict[str, str] = {}
    mounted = _shm_volume(lines)
    named = ""
    for line in lines:
        found = _LINE.match(line.text)
        if found is None:
            continue
        key, value, margin = found["key"].strip(), found["value"].strip(), len(found["margin"])
        if margin <= 4 and key in ("Last State", "State"):
            ended = value == "Terminated"
        limits = key == "Limits" or (limits and key != "Requests")
        if key == "Exit Code" and ended and value.isdecimal() and int(value):
            yield line.says("exit.code", int(value))
        elif key == "memory" and limits and (size := _gib(value)) is not None:
            yield line.says("cgroup.limit_gib", size)
        elif margin == 2 and not value:
            named, volume = key, {}
        elif named and named == mounted:
            volume[key] = value
            size = _gib(volume.get("SizeLimit", ""))
            if volume.get("Medium") == "Memory" and key == "SizeLimit" and size is not None:
                yield line.says("hardware.shm_gib", size)


def _shm_volume(lines: Sequence[PrintedLine]) -> str:
    """Give the name of the volume that is mounted at /dev/shm."""
    for line in lines:
        path, _, rest = line.text.strip().partition(" from ")
        if SHM.match(path):
            return rest.partition(" ")[0]
    return ""


def _gib(text: str) -> float | None:
    found = _SIZE.match(text)
    return None if found is None else gib(f"{found[1]}{found[2]}")
