"""Dumps of PyTorch's Flight Recorder: the last collectives of one rank, as pickle or JSON.

Format: torch/csrc/distributed/c10d/FlightRecorder.hpp, versions 2.1 to 2.11. JSON has no frames and
lacks `entries` when there is none; there `pg_status` holds texts, in the pickle numbers. With gloo
`state` stays "scheduled": `retired` says that a call is over. A pickle is read by an unpickler that
knows plain values only: it refuses every global, so that nothing in it is ever called.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from math import prod
from typing import Any, TypeVar, cast

import msgspec

from trainrx.evidence.lines import path_rank
from trainrx.evidence.pickles import PICKLED, UnplainError, plain_values
from trainrx.evidence.readers import Source
from trainrx.evidence.readers._operations import operation, peers
from trainrx.evidence.readers._values import frames_of, mapping, sequence, text_of, whole
from trainrx.model.facts import Origin
from trainrx.model.findings import Unread
from trainrx.model.ranks import CallState, CollectiveCall, GroupProgress, Reading, StackFrame

MARKS = ()
KEYS = (b"pg_config", b"pg_status", b"comm_lib_version", b"nccl_version")
"""Keys of a dump, of which two stand at its beginning."""
ONE_GETS = frozenset({"gather", "reduce", "scatter"})
"""Collectives in which what goes in or comes out differs between the root and the others."""
_RANK = re.compile(r"(?:rank|dump|trace)[_-]?(\d{1,7})(?:\.\w{1,8}){0,2}$")
_RANKS = re.compile(r"\d{1,7}")
LONGEST_LIST = 1 << 20
MOST_DIMENSIONS = 64
T = TypeVar("T")
STATES: Mapping[str, CallState] = {
    "scheduled": "scheduled",
    "started": "started",
    "completed": "completed",
}


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
        said = whole(value.get("rank"))
        self.rank = said if said is not None else path_rank(source.name)
        if self.rank is None and found is not None:
            self.rank = int(found[1])
        self._known: dict[tuple[str | int, ...], tuple[object, ...]] = {}
        self._counted: dict[int, int] = {}
        self.groups = mapping(value.get("pg_config"))
        self.status = mapping(value.get("pg_status"))
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
            name = text_of(entry.get("profiling_name"))
            message = peers(name)
            group = self._group(entry)
            seq = whole(entry.get("p2p_seq_id" if message else "collective_seq_id"))
            if seq is None:
                seq = whole(entry.get("seq_id"))
            timeout = whole(entry.get("timeout_ms"))
            sizes = self._shared(entry.get("input_sizes"), _shapes)
            yield CollectiveCall(
                op=operation(name),
                origin=Origin(source=self.source, text=f"entry {number}: {name}"[:200]),
                rank=self.rank,
                backend=name.partition(":")[0] if ":" in name else "",
                group=group,
                members=self._members(group),
                seq=seq,
                sizes=sizes,
                outputs=self._shared(entry.get("output_sizes"), _shapes),
                numel=self._elements(sizes),
                dtypes=self._types(entry, operation(name)),
                state=_state(entry),
                peer=message[1] if message else None,
                timeout=timeout / 1000 if timeout else None,
                frames=self._shared(entry.get("frames"), self._frames),
            )

    def _shared(self, value: object, of: Callable[[object], Iterator[T]]) -> tuple[T, ...]:
        """Read a value once, however many calls share it."""
        key = (of.__name__, id(value))
        if key not in self._known:
            self._known[key] = tuple(of(value))
        return cast("tuple[T, ...]", self._known[key])

    def _types(self, entry: Mapping[Any, Any], op: str) -> tuple[str, ...]:
        """Give the types of what goes in, and of what comes out where every rank gets it."""
        types = self._shared(entry.get("input_dtypes"), _names)
        out = () if op in ONE_GETS else self._shared(entry.get("output_dtypes"), _names)
        key = ("_types", id(types), id(out))
        if key not in self._known:
            self._known[key] = (*types, *out)
        return cast("tuple[str, ...]", self._known[key])

    def _elements(self, shapes: tuple[tuple[int, ...], ...]) -> int | None:
        """Count the elements of tensors, once for those that calls share."""
        if id(shapes) not in self._counted:
            self._counted[id(shapes)] = sum(map(prod, shapes))
        return self._counted[id(shapes)] if shapes else None

    def _frames(self, frames: object) -> Iterator[StackFrame]:
        return frames_of(frames, self.source)

    def _group(self, entry: Mapping[Any, Any]) -> str:
        """Give the name of a group; with gloo the table calls it otherwise than the calls do."""
        named = sequence(entry.get("process_group"))
        name = text_of(named[0] if named else entry.get("pg_id"))
        return name if name in self.groups or len(self.groups) != 1 else next(iter(self.groups))

    def _members(self, group: str) -> tuple[int, ...]:
        ranks = mapping(self.groups.get(group)).get("ranks", "")
        return tuple(int(text) for text in _RANKS.findall(text_of(ranks)[:LONGEST_LIST]))

    def _progress(self) -> Iterator[GroupProgress]:
        if self.rank is None:
            return
        seen = {self._group(entry) for entry in self.entries}
        known = {text_of(name): mapping(said) for name, said in self.status.items()}
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
        named = list(map(text_of, self.groups))
        if len(named) == len(known) and all(map(str.isdecimal, (*named, *known))):
            return dict(zip(sorted(named, key=int), sorted(known, key=int), strict=True))
        said = ((self._group(entry), text_of(entry.get("pg_id"))) for entry in self.entries)
        return {name: number for name, number in said if number in known}


def _state(entry: Mapping[Any, Any]) -> CallState | None:
    state = STATES.get(text_of(entry.get("state")))
    if entry.get("retired") is not True or state == "completed":
        return state
    finished = whole(entry.get("time_discovered_completed_ns"))
    own = text_of(entry.get("profiling_name"))
    # gloo never says that a call is complete: it takes it off its list
    return "completed" if finished or own.startswith("gloo:") else "timed-out"


def _status(said: Mapping[Any, Any], key: str) -> int | None:
    found = whole(said.get(key))
    return found if found is None or found >= 0 else None


def _names(value: object) -> Iterator[str]:
    return (text_of(one) for one in sequence(value))


def _shapes(value: object) -> Iterator[tuple[int, ...]]:
    for one in sequence(value):
        yield tuple(n for size in sequence(one)[:MOST_DIMENSIONS] if (n := whole(size)) is not None)
