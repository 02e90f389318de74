"""`ncclras -f json`: which ranks NCCL reaches, and how many collectives each one called.

Format: docs.nvidia.com, NCCL user guide, "RAS" (2.24; `-f` from 2.28 on). That of 2.28.9 lacks a
comma between two missing ranks.
"""

from __future__ import annotations

import re

import msgspec

from trainrx.evidence.readers import Source
from trainrx.evidence.readers._operations import operation
from trainrx.model.facts import Origin
from trainrx.model.findings import Unread
from trainrx.model.ranks import GroupProgress, Reading

MARKS = ()
_UNSEPARATED = re.compile(rb"\}(\s*)\{")


class _Missing(msgspec.Struct):
    rank: int
    host: str = ""


class _Rank(msgspec.Struct):
    rank: int
    host: str = ""
    collective_counts: dict[str, int] = {}


class _Communicator(msgspec.Struct):
    hash: str | int = ""
    size: int | None = None
    ranks: list[_Rank] = []
    missing_ranks: list[_Missing] = []


class _Report(msgspec.Struct):
    communicators: list[_Communicator]


def knows(head: bytes) -> bool:
    """Tell whether a content is a report."""
    return head.lstrip().startswith(b"{") and b'"communicators"' in head and b"nccl" in head.lower()


def read(data: bytes, source: Source) -> Reading:
    """Read a report."""
    try:
        report = msgspec.json.decode(_UNSEPARATED.sub(rb"},\1{", data), type=_Report)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        reason = f"is no whole report of ncclras: {error}"
        return Reading(unread=(Unread(source=source.name, reason=reason),))
    return Reading(
        progress=tuple(
            one for group in report.communicators for one in _progress(group, source.name)
        )
    )


def _progress(group: _Communicator, source: str) -> list[GroupProgress]:
    members = tuple(range(group.size)) if group.size is not None and group.size < 1 << 20 else ()
    came = [
        GroupProgress(
            rank=one.rank,
            origin=Origin(source=source, text=f"rank {one.rank} of {group.hash}"),
            host=one.host,
            group=str(group.hash),
            members=members,
            calls={operation(name): count for name, count in one.collective_counts.items()},
        )
        for one in group.ranks
    ]
    return came + [
        GroupProgress(
            rank=one.rank,
            origin=Origin(source=source, text=f"missing rank {one.rank} of {group.hash}"),
            host=one.host,
            group=str(group.hash),
            members=members,
            missing=True,
        )
        for one in group.missing_ranks
    ]
