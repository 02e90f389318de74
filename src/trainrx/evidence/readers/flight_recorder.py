"""Dumps of PyTorch's Flight Recorder: the last collectives of one rank, as pickle or JSON.

Format: torch/csrc/distributed/c10d/FlightRecorder.hpp, versions 2.1 to 2.11. JSON has no frames and
lacks `entries` when there is none; there `pg_status` holds texts, in the pickle numbers. With gloo
`state` stays "scheduled": `retired` says that a call is over. A pickle is read by an unpickler that
knows plain values only: it refuses every global, so that nothing in it is ever called.
"""

from __future__ import annotations

import io
import pickle
import pickletools
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NoReturn

import msgspec

from trainrx.evidence.lines import path_rank
from trainrx.evidence.readers import Source
from trainrx.evidence.readers._operations import operation, peers
from trainrx.model.facts import Origin
from trainrx.model.findings import Unread
from trainrx.model.ranks import CallState, CollectiveCall, GroupProgress, Reading, StackFrame

MARKS = ()
PICKLED = b"\x80"
KEYS = (b"pg_config", b"pg_status", b"comm_lib_version", b"nccl_version")
"""Keys of a dump, of which two stand at its beginning."""
_RANK = re.compile(r"(?:rank|dump|trace)[_-]?(\d{1,7})(?:\.\w{1,8}){0,2}$")
_RANKS = re.compile(r"\d{1,7}")
STATES: Mapping[str, CallState] = {
    "scheduled": "scheduled",
    "started": "started",
    "completed": "completed",
}


class UnplainError(Exception):
    """A pickle holds more than plain values."""


class _Plain(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> NoReturn:
        raise UnplainError(f"{module}.{name}")

    def persistent_load(self, pid: object) -> NoReturn:
        raise UnplainError(f"persistent id {pid!r}"[:80])


def plain_values(data: bytes) -> object:
    """Unpickle plain values.

    Raises:
        UnplainError: something in it would be called, or its memo is larger than it is.
        ValueError: it is no pickle, or cut off.
    """
    # the C unpickler makes room for the largest number of its memo, whatever that is
    try:
        places = (at for op, at, _ in pickletools.genops(data) if "BINPUT" in op.name)
        most = max((at for at in places if isinstance(at, int)), default=0)
    except (IndexError, UnicodeDecodeError, OverflowError) as error:
        raise ValueError(str(error)) from error
    if most > len(data):
        raise UnplainError(f"a memo of {most} values")
    try:
        return _Plain(io.BytesIO(data)).load()
    except UnplainError:
        raise
    # what a damaged pickle ends with is not listed anywhere
    except Exception as error:
        raise ValueError(f"{type(error).__name__}: {error}"[:200]) from error


def knows(head: bytes) -> bool:
    """Tell whether a content is a dump."""
    return head.lstrip()[:1] in (PICKLED, b"{") and sum(key in head for key in KEYS) >= 2


def read(data: bytes, source: Source) -> Reading:
    """Read a dump."""
    try:
        value = plain_values(data) if data.startswith(PICKLED) else msgspec.json.decode(data)
    except UnplainError as error:
        return _unread(source, f"holds {error}, which a recorder never writes: it was not loaded")
    except (ValueError, msgspec.MsgspecError, RecursionError) as error:
        return _unread(source, f"is no whole dump of the flight recorder: {error}")
    if not isinstance(value, dict):
        return _unread(source, "is no dump of the flight recorder: expected a dictionary")
    return _Dump(value, source).reading()


def _unread(source: Source, reason: str) -> Reading:
    return Reading(unread=(Unread(source=source.name, reason=reason),))


class _Dump:
    """A dump as it was read; whatever is not of the type it should be counts as absent."""

    def __init__(self, value: Mapping[Any, Any], source: Source) -> None:
        self.source = source.name
        found = _RANK.search(source.name)
        said = _whole(value.get("rank"))
        self.rank = said if said is not None else path_rank(source.name)
        if self.rank is None and found is not None:
            self.rank = int(found[1])
        self.groups = _mapping(value.get("pg_config"))
        self.status = _mapping(value.get("pg_status"))
        entries = value.get("entries")
        self.entries = (
            [item for item in entries if isinstance(item, dict)]
            if isinstance(entries, (list, tuple))
            else []
        )

    def reading(self) -> Reading:
        """Say what it holds."""
        return Reading(calls=tuple(self._calls()), progress=tuple(self._progress()))

    def _calls(self) -> Iterator[CollectiveCall]:
        for number, entry in enumerate(self.entries, 1):
            name = str(entry.get("profiling_name") or "")
            message = peers(name)
            group = self._group(entry)
            seq = _whole(entry.get("p2p_seq_id" if message else "collective_seq_id"))
            if seq is None:
                seq = _whole(entry.get("seq_id"))
            timeout = _whole(entry.get("timeout_ms"))
            sizes = _shapes(entry.get("input_sizes"))
            yield CollectiveCall(
                op=operation(name),
                origin=Origin(source=self.source, text=f"entry {number}: {name}"[:200]),
                rank=self.rank,
                group=group,
                members=self._members(group),
                seq=seq,
                sizes=sizes,
                outputs=_shapes(entry.get("output_sizes")),
                numel=_elements(sizes),
                dtypes=tuple(str(one) for one in _sequence(entry.get("input_dtypes"))),
                state=_state(entry),
                peer=message[1] if message else None,
                timeout=timeout / 1000 if timeout else None,
                frames=tuple(self._frames(entry)),
            )

    def _frames(self, entry: Mapping[Any, Any]) -> Iterator[StackFrame]:
        for frame in _sequence(entry.get("frames")):
            if isinstance(frame, dict) and frame.get("name"):
                name, file = str(frame["name"]), str(frame.get("filename") or "")
                line = _whole(frame.get("line"))
                text = f"{name} ({file}:{line})"[:200]
                origin = Origin(source=self.source, text=text)
                yield StackFrame(function=name, file=file, line=line or None, origin=origin)

    def _group(self, entry: Mapping[Any, Any]) -> str:
        """Give the name of a group; with gloo the table calls it otherwise than the calls do."""
        named = _sequence(entry.get("process_group"))
        name = str(named[0]) if named else str(entry.get("pg_id", ""))
        return name if name in self.groups or len(self.groups) != 1 else next(iter(self.groups))

    def _members(self, group: str) -> tuple[int, ...]:
        ranks = _mapping(self.groups.get(group)).get("ranks", "")
        return tuple(int(text) for text in _RANKS.findall(str(ranks)))

    def _progress(self) -> Iterator[GroupProgress]:
        if self.rank is None:
            return
        seen = {self._group(entry) for entry in self.entries}
        known = {str(name): _mapping(said) for name, said in self.status.items()}
        numbers = self._numbers(known)
        for name in dict.fromkeys((*self.groups, *seen)):
            # a rank that called nothing has no status: it stands at the beginning
            said = known.get(numbers.get(name, name)) or (
                next(iter(known.values())) if len(known) == 1 else {}
            )
            yield GroupProgress(
                rank=self.rank,
                origin=Origin(source=self.source, text=f"pg_status of {name or 'the world'}"),
                group=name,
                members=self._members(name),
                enqueued=_status(said, "last_enqueued_collective"),
                started=_status(said, "last_started_collective"),
                completed=_status(said, "last_completed_collective"),
            )

    def _numbers(self, known: Collection[str]) -> dict[str, str]:
        """Give the numbers under which `pg_status` holds the groups, by their names.

        A call says both. Of the others it follows from their order: both count the groups as they
        were made.
        """
        named = list(map(str, self.groups))
        if len(named) == len(known) and all(map(str.isdecimal, (*named, *known))):
            return dict(zip(sorted(named, key=int), sorted(known, key=int), strict=True))
        said = ((self._group(entry), entry.get("pg_id")) for entry in self.entries)
        return {name: str(number) for name, number in said if str(number) in known}


def _state(entry: Mapping[Any, Any]) -> CallState | None:
    state = STATES.get(str(entry.get("state")))
    if entry.get("retired") is not True or state == "completed":
        return state
    finished = _whole(entry.get("time_discovered_completed_ns"))
    own = str(entry.get("profiling_name") or "")
    # gloo never says that a call is complete: it takes it off its list
    return "completed" if finished or own.startswith("gloo:") else "timed-out"


def _status(said: Mapping[Any, Any], key: str) -> int | None:
    found = _whole(said.get(key))
    return found if found is None or found >= 0 else None


def _whole(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        return int(value) if re.fullmatch(r"-?\d{1,18}", value) else None
    return value if isinstance(value, int) else None


def _mapping(value: object) -> Mapping[Any, Any]:
    return value if isinstance(value, dict) else {}


def _sequence(value: object) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (list, tuple)) else ()


def _shapes(value: object) -> tuple[tuple[int, ...], ...]:
    shapes = (_sequence(one) for one in _sequence(value))
    return tuple(tuple(n for size in one if (n := _whole(size)) is not None) for one in shapes)


def _elements(shapes: tuple[tuple[int, ...], ...]) -> int | None:
    if not shapes:
        return None
    total = 0
    for shape in shapes:
        product = 1
        for size in shape:
            product *= size
        total += product
    return total
