"""Where, when and by whom a job was run, read from what it left; what nothing states stays unknown.

Read are variables (Slurm's), `scontrol show job`, pods, the metadata of W&B and SwanLab, the hosts
that NCCL, srun and torchrun name, and the first and last stamps of logs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timezone
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

import msgspec

from trainrx.evidence.lines import HEAD, NO_YEAR, STAMP
from trainrx.fleet.record import FleetJob
from trainrx.fleet.sources.sacct import expanded
from trainrx.inputs.stream import chunks, tail
from trainrx.launch.given import Given
from trainrx.model.job import Input
from trainrx.model.pattern import late

MOST_FILES = 256
PEEKED = 1 << 16
"""Bytes at the beginning and the end of each file that are looked at."""
LONGEST = 60 * 86400.0
"""Seconds; stamps further apart are not of one run."""
ZONES = 26 * 3600.0
"""Seconds by which clocks of different zones differ at most."""
NODES, HOSTS, USER, IMAGE, PARTITION = "nodes", "hosts", "user", "image", "partition"
GPUS, CARDS, STARTED, ENDED, RUN_TIME = "gpus", "cards of a host", "started", "ended", "run time"
_NAME = r"[\w.-]{1,253}"
STATED: Mapping[str, str] = {
    # variables; they also stand in logs, where a script prints them
    r"\bSLURM_(?:JOB_)?NODELIST=\"?([\w.,\[\]-]{1,4000})": NODES,
    r"\bSLURM_JOB_USER=\"?([\w.@-]{1,64})": USER,
    r"\bSLURM_JOB_PARTITION=\"?([\w.-]{1,64})": PARTITION,
    r"\bSLURM_JOB_START_TIME=\"?(\d{9,11})": STARTED,
    # scontrol show job
    r"(?:^|\s)NodeList=([\w.,\[\]-]{1,4000})": NODES,
    r"(?:^|\s)UserId=([\w.@-]{1,64})\(": USER,
    r"(?:^|\s)Partition=([\w.-]{1,64})": PARTITION,
    r"(?:^|\s)RunTime=((?:\d{1,4}-)?\d\d:\d\d:\d\d)": RUN_TIME,
    r"(?:^|\s)StartTime=(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)": STARTED,
    r"(?:^|\s)(?:Alloc)?TRES=[^\s]{0,400}gres/gpu=(\d{1,6})": GPUS,
    r"(?:^|\s)Container=(\S{1,400})": IMAGE,
    # pods, as JSON and as YAML
    rf"\"?\bnodeName\"?:\s{{0,4}}\"?({_NAME})": NODES,
    r"\"image\":\s{0,4}\"([^\"\s]{1,400})\"": IMAGE,
    r"\"startTime\":\s{0,4}\"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)\"": STARTED,
    r"\"finishedAt\":\s{0,4}\"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)\"": ENDED,
    # trackers
    rf"\"host(?:name)?\":\s{{0,4}}\"({_NAME})\"": HOSTS,
    r"\"username\":\s{0,4}\"([\w.@-]{1,64})\"": USER,
    r"\"gpu_count\":\s{0,4}(\d{1,4})\b": CARDS,
    r"\"startedAt\":\s{0,4}\"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)": STARTED,
    # what logs name
    rf"(?:^|\s)({_NAME}):\d{{1,10}}:\d{{1,10}} \[\d{{1,4}}\] NCCL ": HOSTS,
    rf"^srun: error: ({_NAME}): task": HOSTS,
    rf"^ {{0,8}}host {{1,12}}: ({_NAME})$": HOSTS,
    rf"^[ \t]{{0,8}}(?:[Hh]ostname|HOSTNAME)[ \t]{{0,8}}[:=] ?({_NAME})$": HOSTS,
}
"""What a text states, by the expression that finds it."""
FIRST = (STARTED, USER, PARTITION, IMAGE, RUN_TIME)
"""Of these the first thing that is stated counts."""
NO_HOST = late(
    # a container's, a pod's, this machine's own
    r"[0-9a-f]{12}|localhost\b.*|.*-(?:master|worker|launcher|head|ps)(?:-[\w]{1,10}){0,3}-?\d*"
)
NOBODY = frozenset({"", "root", "user", "ubuntu", "nobody"})
IN_POD = ("KUBERNETES_SERVICE_HOST", "KUBERNETES_PORT")


class Allocation(msgspec.Struct, frozen=True, kw_only=True):
    """What a job had, as its files state it; None and "" are unknown; times as in `FleetJob`."""

    nodes: tuple[str, ...] = ()
    user: str = ""
    image: str = ""
    partition: str = ""
    gpus: int | None = None
    started: float | None = None
    ended: float | None = None


class StampedSpan(NamedTuple):
    """The first and the last stamp of logs; `dated`: they have a year."""

    first: float
    last: float
    dated: bool


def with_allocation(job: FleetJob, given: Given) -> FleetJob:
    """Add to a job what its files state and who listed it does not know.

    The owner of a folder is not always who ran the job: whom its files name counts.
    """
    found = allocation(given, written=job.ended)
    is_folder = job.source in ("folder", "bundle")
    return msgspec.structs.replace(
        job,
        nodes=job.nodes or found.nodes,
        user=(found.user if is_folder else "") or job.user,
        image=job.image or found.image,
        partition=job.partition or found.partition,
        gpus=job.gpus or found.gpus,
        started=job.started or found.started,
        ended=found.ended if is_folder and found.ended else job.ended,
    )


def allocation(given: Given, written: float | None) -> Allocation:
    """Read what the files of a job state of it; `written`: when the last of them was."""
    stated: dict[str, list[str]] = {}
    variables = {one.name: one.value or "" for one in given.env.variables}
    texts = (text for one in _read(given) for text in _ends(one))
    for text in ("\n".join(f"{name}={value}" for name, value in variables.items()), *texts):
        for kind, value in _stated(text):
            stated.setdefault(kind, []).append(value)
    said = {kind: stated[kind][0] for kind in FIRST if kind in stated}
    started, ended = _times(said, stated.get(ENDED, ()), _span(given.logs), written)
    taken = [one.taken for one in _read(given) if one.taken is not None]
    in_pod = any(name in variables for name in IN_POD)
    nodes = _nodes(stated, [item.host for item in taken], in_pod=in_pod)
    names = (said.get(USER, ""), variables.get("USER", ""))
    return Allocation(
        nodes=nodes,
        user=next((name for name in names if name not in NOBODY), ""),
        image=said.get(IMAGE, "").replace("(null)", ""),
        partition=said.get(PARTITION, ""),
        gpus=_most(stated, GPUS) or _most(stated, CARDS) * len(nodes) or None,
        started=started,
        ended=ended,
    )


def _most(stated: Mapping[str, Iterable[str]], kind: str) -> int:
    return max((int(count) for count in stated.get(kind, ())), default=0)


def _read(given: Given) -> Iterator[Input]:
    """Give the files that may state something: no script, which only says what it would print."""
    words = (one for one in given.scripts if one.kind == "argv")
    found = (*given.outputs, *given.evidence, *given.configs, *words, *given.others, *given.logs)
    yield from list({each.name: each for each in found}.values())[:MOST_FILES]


def _ends(one: Input) -> tuple[str, str]:
    if one.text is not None and one.path is None:
        return one.text[:PEEKED], one.text[PEEKED:][-PEEKED:]
    first = next(chunks(one, lambda _: None), b"")
    last = tail(one, PEEKED)
    rest = b"" if last.whole and len(first) <= PEEKED else last.data
    return first[:PEEKED].decode("utf-8", "replace"), rest.decode("utf-8", "replace")


@lru_cache(maxsize=1)
def _expressions() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((kind, re.compile(text, re.MULTILINE)) for text, kind in STATED.items())


def _stated(text: str) -> Iterator[tuple[str, str]]:
    for kind, pattern in _expressions():
        yield from ((kind, value) for value in dict.fromkeys(pattern.findall(text)))


def _nodes(
    stated: Mapping[str, Iterable[str]], taken: Iterable[str], *, in_pod: bool
) -> tuple[str, ...]:
    """Name the nodes: as allocated, else those that are named; a pod has a name of its own."""
    allocated = [name for text in stated.get(NODES, ()) for name in expanded(text) if name]
    if allocated:
        return tuple(sorted(set(allocated)))
    hosts = () if in_pod else (*filter(None, taken), *stated.get(HOSTS, ()))
    names = {host if host[0].isdecimal() else host.partition(".")[0] for host in hosts}
    return tuple(sorted(name for name in names if not NO_HOST.fullmatch(name)))


def _times(
    said: Mapping[str, str],
    ends: Iterable[str],
    span: StampedSpan | None,
    written: float | None,
) -> tuple[float | None, float | None]:
    """Say when a job began and ended: as stated, else by the stamps of its logs.

    Stamps name no zone: where the files were written within a day of the last one, that counts.
    """
    started = _moment(said.get(STARTED, ""))
    ended = max((at for text in ends if (at := _moment(text))), default=None)
    if ended is None and started and RUN_TIME in said:
        ended = started + _duration(said[RUN_TIME])
    if span is not None and ended is None:
        is_copy = span.dated and written is not None and abs(written - span.last) > ZONES
        ended = span.last if is_copy or written is None else written
        ended = ended if span.dated or written is not None else None
    if ended is None or (started is not None and 0 <= ended - started <= LONGEST):
        return started, ended
    return (ended - (span.last - span.first) if span is not None else None), ended


def _moment(text: str) -> float | None:
    """Read a time; one without a zone is of this machine's, as Slurm writes it."""
    if text.isdecimal():
        return float(text)
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
    except ValueError:
        return None


def _duration(text: str) -> float:
    days, _, clock = text.rpartition("-")
    hours, minutes, seconds = (int(part) for part in clock.split(":"))
    return float(int(days or 0) * 86400 + hours * 3600 + minutes * 60 + seconds)


def _span(logs: Iterable[Input]) -> StampedSpan | None:
    """Give the first and the last stamp; those without a year count where none has one."""
    found = [span for one in islice(logs, MOST_FILES) if (span := _span_of(one)) is not None]
    dated = [span for span in found if span.dated]
    kept = dated or found
    if not kept:
        return None
    first, last = min(one.first for one in kept), max(one.last for one in kept)
    return StampedSpan(first, last, bool(dated)) if 0 <= last - first <= LONGEST else None


def _span_of(log: Input) -> StampedSpan | None:
    head, rest = _ends(log)
    first = next(filter(None, map(_stamp, head.split("\n"))), None)
    last = next(filter(None, map(_stamp, reversed((rest or head).split("\n")))), first)
    if first is None or last is None or (first.year == NO_YEAR) != (last.year == NO_YEAR):
        return None
    return StampedSpan(first.timestamp(), last.timestamp(), first.year != NO_YEAR)


def _stamp(line: str) -> datetime | None:
    found = STAMP.search(line[:HEAD])
    if found is None:
        return None
    month = found["month"] or found["vmonth"] or found["gday"][:2]
    day = found["day"] or found["vday"] or found["gday"][2:]
    hour, minute, second = map(
        int, (found["clock"] or found["gclock"] or found["vclock"]).split(":")
    )
    try:
        year = int(found["year"] or NO_YEAR)
        return datetime(year, int(month), int(day), hour, minute, second, tzinfo=timezone.utc)
    except ValueError:
        return None
