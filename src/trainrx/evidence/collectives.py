"""Who of the ranks is where in the collectives of their groups, and who keeps the others waiting.

What each rank called is compared at the first call of a group that is not over everywhere. With the
words of PyTorch's own analyzer: a type, size, dtype or state mismatch, or ranks that did not come.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import Literal, NamedTuple, TypeVar

import msgspec

from trainrx.model.facts import Fact, Origin, Scalar, fact
from trainrx.model.job import Hit, SymptomHits
from trainrx.model.ranks import CollectiveCall, GroupProgress, Reading, StackFrame

CallVerdict = Literal[
    "matched",
    "op-differs",
    "size-differs",
    "dtype-differs",
    "state-differs",
    "behind",
    "missing",
    "not-started",
]
"""matched: all ranks of which anything is known wait in the same call; behind: some have not called
it yet, or are still in one that the others are through with; missing: of a single one nothing is
known while the others wait, or NCCL does not reach it; not-started: some called nothing at all in
the group; state-differs: few are through with a call that most still wait in."""

EQUAL_INPUTS = frozenset({"all_reduce", "broadcast", "reduce", "all_gather", "gather", "barrier"})
"""Collectives into which every rank puts as many elements."""
EQUAL_OUTPUTS = frozenset({"all_reduce", "broadcast"})
"""Collectives of which every rank gets as many elements as it put in."""
MOST_CITED = 8


class GroupVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What the ranks of a group wait for: the call by number and kind, and who stands where.

    `own` is what the culprits call instead, "" where that is the same, or unknown; `frames` are of
    who called it, of a culprit where one did. `seqs_differ` and `numels_differ`: of the calls the
    ranks wait in, wherever each got to.
    """

    verdict: CallVerdict
    group: str
    seq: int | None
    op: str
    own: str = ""
    frames: tuple[StackFrame, ...] = ()
    numel: int | None = None
    outputs: int | None = None
    seqs_differ: bool = False
    numels_differ: bool = False
    culprits: tuple[int, ...] = ()
    waiting: tuple[int, ...] = ()
    origins: tuple[Origin, ...] = ()


class _RankView(NamedTuple):
    """What is known of a rank in a group: its calls by number, how far it called and completed."""

    calls: Mapping[int, CollectiveCall]
    called: int
    completed: int
    origin: Origin

    @property
    def open_call(self) -> CollectiveCall | None:
        """Give the first call that is not over."""
        still = (seq for seq in sorted(self.calls) if seq > self.completed)
        return next((self.calls[seq] for seq in still), None)


def group_verdicts(reading: Reading, world: int | None = None) -> list[GroupVerdict]:
    """Judge each group of which something is open, the one most ranks wait in first.

    Args:
        reading: what was read of all ranks.
        world: ranks of the job, where that is known: of those that left nothing it can be said then
            that they are missing.
    """
    groups = dict.fromkeys((*(c.group for c in _collectives(reading)), *_groups(reading)))
    found = (_judged(group, reading, world) for group in groups)
    judged = [one for one in found if one is not None]
    return sorted(judged, key=lambda one: (one.verdict == "matched", -len(one.waiting)))


def _collectives(reading: Reading) -> Iterator[CollectiveCall]:
    """Give the calls that all ranks of a group have to make: no messages of one to another."""
    return (call for call in reading.calls if call.peer is None and call.rank is not None)


def _groups(reading: Reading) -> Iterator[str]:
    return (one.group for one in reading.progress)


def _judged(group: str, reading: Reading, world: int | None) -> GroupVerdict | None:
    views = _views(group, reading)
    said = [one for one in reading.progress if one.group == group]
    gone = {one.rank for one in said if one.missing}
    if (gone or any(one.calls for one in said)) and not views:
        return _by_counts(group, gone, said)
    if not views:
        return None
    at = min(view.completed for view in views.values()) + 1
    here = _calls_at(at, views)
    members = _members(group, reading, world)
    unseen = set(members) - set(views)
    if not here:
        return _over(group, at - 1, _calls_at(at - 1, views), len(unseen))
    # of several that left nothing it is likelier that what they left was not given
    absent = tuple(sorted(gone | unseen if len(unseen) == 1 else gone))
    late = tuple(sorted(rank for rank, view in views.items() if view.called < at))
    past = {rank: view for rank, view in views.items() if view.completed >= at}
    verdict, culprits = (
        _mismatch(here, len(unseen))
        or _overtaken(here, past, views)
        or _absence(views, late, absent)
    )
    waiting = tuple(sorted({*here, *past} - set(culprits)))
    first = _most_common(here.values(), lambda call: call.op)
    still = [call for view in views.values() if (call := view.open_call) is not None]
    cited = [*(views[rank].origin for rank in culprits if rank in views)]
    cited += [views[rank].origin for rank in waiting]
    return GroupVerdict(
        verdict=verdict,
        group=group,
        seq=at if first.seq is not None else None,
        op=first.op,
        own=_own({here[rank].op for rank in culprits if rank in here} - {first.op}),
        frames=next((here[rank] for rank in culprits if rank in here), first).frames,
        numel=first.numel,
        outputs=_outputs(first),
        seqs_differ=verdict in DRIFTED or len({call.seq for call in still}) > 1,
        numels_differ=verdict == "size-differs" or _numels_differ(still),
        culprits=culprits,
        waiting=waiting,
        origins=tuple(dict.fromkeys(cited))[:MOST_CITED],
    )


def _calls_at(seq: int, views: Mapping[int, _RankView]) -> dict[int, CollectiveCall]:
    return {rank: view.calls[seq] for rank, view in views.items() if seq in view.calls}


def _over(
    group: str, seq: int, last: Mapping[int, CollectiveCall], unseen: int
) -> GroupVerdict | None:
    """Judge a group of which nothing is open: calls that went through with other types."""
    culprits = _other_types(last, unseen)
    if culprits is None:
        return None
    first = next(iter(last.values()))
    origins = tuple(call.origin for call in last.values())[:MOST_CITED]
    return GroupVerdict(
        verdict="dtype-differs",
        group=group,
        seq=seq,
        op=first.op,
        numel=first.numel,
        culprits=culprits,
        origins=origins,
    )


def _numels_differ(still: Sequence[CollectiveCall]) -> bool:
    """Tell whether ranks wait with tensors of different size where they should be as large."""
    same = len({(call.seq, call.op) for call in still}) == 1
    numels = {call.numel for call in still if call.numel is not None}
    return len(numels) > 1 and (not same or still[0].op in EQUAL_INPUTS)


def _outputs(call: CollectiveCall) -> int | None:
    """Give the elements that come out of a call."""
    return sum(prod(sizes) for sizes in call.outputs) if call.outputs else None


def _own(ops: Collection[str]) -> str:
    return "".join(ops) if len(ops) == 1 else ""


def _views(group: str, reading: Reading) -> dict[int, _RankView]:
    """Give what is known of each rank of a group that left anything."""
    calls: dict[int, dict[int, CollectiveCall]] = {}
    of_group = [call for call in _collectives(reading) if call.group == group]
    # old watchdogs do not number calls: what each rank gave up first is all there is to compare
    unnumbered = all(call.seq is None for call in of_group)
    for call in of_group:
        seq = 1 if unnumbered else call.seq
        if call.rank is not None and seq is not None:
            calls.setdefault(call.rank, {}).setdefault(seq, call)
    said = {one.rank: one for one in reading.progress if one.group == group and not one.missing}
    ranks = {*calls, *(rank for rank, one in said.items() if not one.calls)}
    return {rank: _view(calls.get(rank, {}), said.get(rank)) for rank in sorted(ranks)}


def _view(calls: Mapping[int, CollectiveCall], said: GroupProgress | None) -> _RankView:
    over = [seq for seq, call in calls.items() if call.state == "completed"]
    still = [seq for seq, call in calls.items() if call.state != "completed"]
    completed = said.completed if said is not None and said.completed is not None else None
    if completed is None:
        # calls are made in order: what is before the first open one is over
        completed = min(still) - 1 if still else max(over, default=0)
    called = max((*calls, said.enqueued or 0 if said is not None else 0), default=0)
    origin = next((calls[seq].origin for seq in sorted(still)), None)
    if origin is None:
        origin = said.origin if said is not None else calls[max(calls)].origin
    return _RankView(calls, max(called, completed), completed, origin)


def _members(group: str, reading: Reading, world: int | None) -> tuple[int, ...]:
    called = (one.members for one in _collectives(reading) if one.group == group)
    said = (one.members for one in reading.progress if one.group == group)
    known = max((*called, *said), key=len, default=())
    whole = not group or group.endswith("(default_pg)")
    return known or (tuple(range(world)) if whole and world is not None else ())


def _mismatch(
    here: Mapping[int, CollectiveCall], unseen: int
) -> tuple[CallVerdict, tuple[int, ...]] | None:
    """Find the ranks that call something else than the others at the same place."""
    others = _minority(here, lambda call: call.op, unseen)
    if others is not None:
        return "op-differs", others
    if (others := _other_sizes(here, unseen)) is not None:
        return "size-differs", others
    others = _other_types(here, unseen)
    return None if others is None else ("dtype-differs", others)


def _other_sizes(here: Mapping[int, CollectiveCall], unseen: int) -> tuple[int, ...] | None:
    """Find the ranks that bring, or expect, more or less than the others."""
    op = next(iter(here.values())).op
    sized = {rank: call for rank, call in here.items() if call.numel is not None}
    if op in EQUAL_INPUTS:
        others = _minority(sized, lambda call: call.numel, unseen)
        if others is not None or op not in EQUAL_OUTPUTS:
            return others
    told = {rank: call for rank, call in sized.items() if call.outputs}
    if op not in EQUAL_OUTPUTS or all(call.numel == _outputs(call) for call in told.values()):
        return None
    return _minority(told, _outputs, unseen) or ()


def _other_types(here: Mapping[int, CollectiveCall], unseen: int) -> tuple[int, ...] | None:
    """Find the ranks that bring another type than the others."""
    typed = {rank: call for rank, call in here.items() if call.dtypes}
    return _minority(typed, lambda call: call.dtypes, unseen)


def _minority(
    here: Mapping[int, CollectiveCall], of: Callable[[CollectiveCall], Hashable], unseen: int
) -> tuple[int, ...] | None:
    """Give the ranks that differ from most; of two halves nobody can say which is right: ().

    Those that left nothing may side with the fewer.
    """
    counts = Counter(of(call) for call in here.values())
    if len(counts) < 2:
        return None
    (most, number), (_, second) = counts.most_common(2)
    if number <= second + unseen:
        return ()
    return tuple(sorted(rank for rank, call in here.items() if of(call) != most))


def _overtaken(
    here: Mapping[int, CollectiveCall],
    past: Mapping[int, _RankView],
    views: Mapping[int, _RankView],
) -> tuple[CallVerdict, tuple[int, ...]] | None:
    """Find the ranks that are still in a call which the others are through with.

    Where they are not the fewer, those of them that have not called what the others wait in, and
    some have.
    """
    still = sorted(set(here) - set(past))
    if not past:
        return None
    if len(still) < len(past):
        return "behind", tuple(still)
    front = min(view.completed for view in past.values()) + 1
    late = tuple(rank for rank in still if views[rank].called < front)
    return ("behind", late) if 0 < len(late) < len(still) else ("state-differs", ())


def _absence(
    views: Mapping[int, _RankView], late: tuple[int, ...], absent: tuple[int, ...]
) -> tuple[CallVerdict, tuple[int, ...]]:
    """Find the ranks that did not come."""
    if late:
        idle = all(views[rank].called == 0 for rank in late)
        return ("not-started" if idle else "behind"), late
    return ("missing", absent) if absent else ("matched", ())


def _by_counts(group: str, gone: set[int], said: Sequence[GroupProgress]) -> GroupVerdict | None:
    """Judge by the numbers of calls alone: the few that called fewer are waited for.

    That few called more is no delay of the others.
    """
    counted = {one.rank: sum(one.calls.values()) for one in said if one.calls}
    most = max(counted.values(), default=0)
    late = _late_by_counts(counted, said)
    if not late and not gone:
        return None
    if 2 * len(late) > len(counted):
        late = ()
    culprits = tuple(sorted({*late, *gone}))
    ahead = [one for one in said if counted.get(one.rank) == most]
    behind = [one for one in said if one.rank in culprits]
    members = {rank for one in said for rank in one.members}
    ops = {op for one in ahead for op in one.calls}
    differ = sorted(op for op in ops if len({one.calls.get(op, 0) for one in said}) > 1)
    return GroupVerdict(
        verdict="behind" if late else "missing" if gone else "state-differs",
        group=group,
        seq=None,
        op=differ[0] if len(differ) == 1 else "",
        culprits=culprits,
        waiting=tuple(sorted({one.rank for one in ahead} or members - set(culprits))),
        origins=tuple(one.origin for one in (*behind, *ahead))[:MOST_CITED],
    )


FAR_BEHIND = 2
"""Times as many calls of others by which a rank is late for certain, seen once."""


def _late_by_counts(counted: Mapping[int, int], said: Sequence[GroupProgress]) -> tuple[int, ...]:
    """Give the ranks that called fewer, where that is more than ranks of a healthy job differ by.

    It is where NCCL reports it, where no number moves from one look to the next, or where they
    are far behind. Else nobody can say.
    """
    most = max(counted.values(), default=0)
    looks: dict[int, list[int]] = {}
    for one in said:
        if one.calls:
            looks.setdefault(one.rank, []).append(sum(one.calls.values()))
    each = looks.values()
    still = all(len(seen) > 1 and len(set(seen)) == 1 for seen in each)
    moved = any(len(set(seen)) > 1 for seen in each)
    certain = still or any(one.mismatch for one in said)
    reach = most if certain else 0 if moved else most / FAR_BEHIND
    return tuple(sorted(rank for rank, number in counted.items() if number < reach))


_Call = TypeVar("_Call", bound=CollectiveCall)


def _most_common(calls: Iterable[_Call], of: Callable[[_Call], Hashable]) -> _Call:
    held = list(calls)
    most = Counter(map(of, held)).most_common(1)[0][0]
    return next(call for call in held if of(call) == most)


SEEN_AS = "ranks-stand-still"
"""The symptom of ranks that wait for each other."""


def drift_symptom(verdicts: Sequence[GroupVerdict]) -> SymptomHits | None:
    """Give the sighting of ranks that cannot come together any more: they call different things.

    That one is behind, or ahead, says nothing alone: in a healthy job one always is.
    """
    first = next(iter(verdicts), None)
    certain = ("op-differs", "dtype-differs", "size-differs")
    if first is None or first.verdict not in certain or not first.waiting:
        return None
    hits = tuple(
        Hit(symptom=SEEN_AS, source=origin.source, line=origin.line or 1, text=origin.text)
        for origin in first.origins
    )
    return SymptomHits(symptom=SEEN_AS, count=len(hits), hits=hits, ranks=first.culprits)


GIVEN_UP = "nccl-watchdog-timeout"
"""The symptom of a call that a watchdog gave up."""


def given_up_symptom(reading: Reading) -> SymptomHits | None:
    """Give the sighting of calls that watchdogs gave up, though their lines be broken."""
    calls = [one for one in reading.calls if one.state == "timed-out" and one.timeout is not None]
    hits = tuple(
        Hit(
            symptom=GIVEN_UP,
            source=call.origin.source,
            line=call.origin.line or 1,
            text=call.origin.text,
        )
        for call in calls[:MOST_CITED]
    )
    return SymptomHits(symptom=GIVEN_UP, count=len(calls), hits=hits) if hits else None


DRIFTED: tuple[CallVerdict, ...] = ("op-differs", "dtype-differs", "state-differs")
"""Verdicts on ranks that went different ways: none of them is merely late."""


STARTUP_SEQ = 3
"""Calls up to this number, of a single element, are the barriers before the first step."""


def collective_facts(reading: Reading, verdicts: Sequence[GroupVerdict]) -> Iterator[Fact]:
    """Derive `collective.*` from the group most ranks wait in.

    One rank alone tells what it waits in, and nothing of the others.
    """
    yield from _backend(reading)
    first = next(iter(verdicts), None)
    if first is not None and len(first.waiting) + len(first.culprits) > 1:
        yield from _compared(first)
        yield from _described(first.seq, first.op, first.numel, first.outputs, first.origins)
        return
    given_up = (call for call in reading.calls if call.peer is None and call.state == "timed-out")
    call = next(given_up, None)
    if call is not None:
        yield from _described(call.seq, call.op, call.numel, _outputs(call), (call.origin,))


def _backend(reading: Reading) -> Iterator[Fact]:
    """Say what carries the calls that are not over, where that is one thing."""
    still = [call for call in reading.calls if call.state != "completed" and call.backend]
    if len({call.backend for call in still}) == 1:
        origins = dict.fromkeys(call.origin for call in still)
        yield from _facts({"backend": still[0].backend}, tuple(origins)[:MOST_CITED])


def _described(
    seq: int | None,
    op: str,
    numel: int | None,
    outputs: int | None,
    origins: Sequence[Origin],
) -> Iterator[Fact]:
    """Say what the ranks wait in."""
    single = op == "barrier" or (numel is not None and numel <= 1)
    said: dict[str, Scalar | None] = {
        "seqnum": seq,
        "optype": op or None,
        "numelin": numel,
        "numelout": outputs,
        "first_barrier": None if seq is None else seq <= STARTUP_SEQ and single,
    }
    yield from _facts(said, origins)


def _compared(found: GroupVerdict) -> Iterator[Fact]:
    """Say what tells the ranks apart."""
    said: dict[str, Scalar | None] = {
        "verdict": found.verdict,
        "culprits": len(found.culprits) or None,
        "waiting": len(found.waiting),
        "seqnum_differs": found.seqs_differ,
        "numel_differs": found.numels_differ if found.numel is not None else None,
        "silent_rank": _late(found),
    }
    yield from _facts(said, found.origins)


def _facts(said: Mapping[str, Scalar | None], origins: Sequence[Origin]) -> Iterator[Fact]:
    for name, value in said.items():
        if value is not None:
            yield fact(f"collective.{name}", value, *origins, how="derived")


def _late(found: GroupVerdict) -> int | None:
    """Give the one rank that has not come; None where it is another matter, or several."""
    came = found.seqs_differ or found.verdict in ("matched", "size-differs")
    return found.culprits[0] if not came and len(found.culprits) == 1 else None
