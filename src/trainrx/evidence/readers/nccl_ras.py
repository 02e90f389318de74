"""`ncclras`, as text or JSON: which ranks NCCL reaches, and how many collectives each one called.

Format: docs.nvidia.com, NCCL user guide, "RAS" (2.24; `-f` from 2.28), src/ras/client_support.cc.
The JSON of 2.28.9 lacks a comma between two missing ranks. The text names the ranks that are few
(all of them where it is verbose) and counts the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from trainrx.evidence.readers import Source
from trainrx.evidence.readers._operations import operation
from trainrx.evidence.readers._printed import PrintedLine, passages
from trainrx.model.facts import Origin
from trainrx.model.findings import Unread
from trainrx.model.ranks import GroupProgress, Reading

MARK = b"Ranks    Status  Errors"
MARKS = (MARK,)
LONGEST_REPORT = 4000
MOST_RANKS = 1 << 20
_GROUP = re.compile(r"^ {1,8}(\d{1,7})\s+\d+\s+\d+\s+[\d-]+\s+(\d{1,7})\s+\d+\s+[A-Z]\w+\s+\S+$")
_ABOUT = re.compile(r"^#(\d{1,7})-\d{1,7} \(([0-9a-f]{16})\) (MISMATCH|INCOMPLETE|ERROR)")
_DIFFER = re.compile(r"^\s+Communicator ranks have different (\w+) (operation counts|status)?")
_LAUNCHED = (
    r"(?:launched up to operation (?P<number>\d{1,18})|(?P<none>not launched any operations))"
)
_COUNTED = re.compile(rf"^\s+(?P<ranks>\d{{1,7}}) ranks have {_LAUNCHED}$")
_NAMED = re.compile(
    rf"^\s+Rank (?P<rank>\d{{1,7}})(?: has {_LAUNCHED})? -- "
    r"(?:GPU \S+ managed by process \d+ on node (?P<host>\S+)|\[process information not found\])$"
)
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
    if data.lstrip()[:1] != b"{":
        reports = passages(data, source, MARK, most=LONGEST_REPORT)
        # what was asked several times is told by the last answer
        last = next(reports, ())
        return Reading(progress=tuple(one for part in _told(last) for one in part.progress()))
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
    members = tuple(range(group.size)) if group.size is not None and group.size < MOST_RANKS else ()
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


class _Part:
    """What a report says of one communicator under one heading."""

    def __init__(self, heading: PrintedLine, *, group: str, size: int, incomplete: bool) -> None:
        self.heading = heading
        self.group = group
        self.members = tuple(range(size))
        self.incomplete = incomplete
        self.hosts: dict[int, str] = {}
        self.lines: dict[int, PrintedLine] = {}
        self.counts: dict[int, dict[str, int]] = {}
        self._op = ""
        self._number: int | None = None
        self._unnamed: list[tuple[int, int]] = []

    def take(self, line: PrintedLine) -> None:
        """Read one more line."""
        if (differ := _DIFFER.match(line.text)) is not None:
            self.close()
            self._op = operation(differ[1]) if differ[2] == "operation counts" else ""
        elif (counted := _COUNTED.match(line.text)) is not None:
            self._number = int(counted["number"] or 0)
            self._unnamed.append((self._number, int(counted["ranks"])))
        elif (named := _NAMED.match(line.text)) is not None:
            self._take_rank(int(named["rank"]), named, line)

    def _take_rank(self, rank: int, named: re.Match[str], line: PrintedLine) -> None:
        if rank not in self.members:
            return
        own = named["number"] or ("0" if named["none"] else "")
        number = int(own) if own else self._number
        if not (self.incomplete or (self._op and number is not None)):
            return
        self.hosts[rank], self.lines[rank] = named["host"] or "", line
        if number is not None and self._op:
            self.counts.setdefault(rank, {})[self._op] = number
            if not own:
                self._unnamed = [one for one in self._unnamed if one[0] != number]

    def close(self) -> None:
        """Give the number that all ranks have which were counted and not named."""
        others = [rank for rank in self.members if self._op not in self.counts.get(rank, {})]
        if self._op and [count for _, count in self._unnamed] == [len(others)]:
            for rank in others:
                self.counts.setdefault(rank, {})[self._op] = self._unnamed[0][0]
        self._op, self._number, self._unnamed = "", None, []

    def progress(self) -> Iterator[GroupProgress]:
        """Say how far each rank came, or that it does not answer."""
        self.close()
        for rank in self.lines if self.incomplete else self.counts:
            yield GroupProgress(
                rank=rank,
                origin=self.lines.get(rank, self.heading).origin,
                host=self.hosts.get(rank, ""),
                group=self.group,
                members=self.members,
                calls=self.counts.get(rank, {}),
                mismatch=not self.incomplete,
                missing=self.incomplete,
            )


def _told(lines: Sequence[PrintedLine]) -> Iterator[_Part]:
    sizes: dict[str, int] = {}
    part: _Part | None = None
    for line in lines:
        if (group := _GROUP.match(line.text)) is not None and part is None:
            sizes[group[1]] = int(group[2])
        elif (about := _ABOUT.match(line.text)) is not None:
            if part is not None:
                yield part
            size = sizes.get(about[1], 0)
            part = _Part(
                line,
                group=f"0x{about[2].lstrip('0')}",
                size=size if size < MOST_RANKS else 0,
                incomplete=about[3] == "INCOMPLETE",
            )
        elif part is not None:
            part.take(line)
    if part is not None:
        yield part
