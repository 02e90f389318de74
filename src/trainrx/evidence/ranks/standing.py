"""Who waits for whom: where each rank stands, and which one the others wait for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

import msgspec

from trainrx.evidence.ranks.processes import SeenProcess, seen_processes
from trainrx.evidence.ranks.states import called_by, place_of, state_of
from trainrx.evidence.sources import SourceFile
from trainrx.model.facts import Fact, Origin, fact
from trainrx.model.job import Hit, SymptomHits
from trainrx.model.ranks import RankEnd, StackFrame, ThreadStack, ranges
from trainrx.model.states import ThreadState

MESSAGES = frozenset({"send", "recv", "isend", "irecv", "batch_isend_irecv"})
"""Calls between two ranks: that others are in something else is no sign of trouble."""


class RankStanding(msgspec.Struct, frozen=True, kw_only=True):
    """Where a rank stands.

    Attributes:
        rank: None where nothing tells which one the process is.
        stack: of the thread that tells it; of a worker's where the rank waits for that.
        source: whose code `frame` is, the innermost one of the user or a framework.
        op: the collective it is in.
        looks: how often it was seen; moved: whether it stood elsewhere before the last time.
        gave_up: it waited there for others until its patience was over.
    """

    rank: int | None
    pid: int | None
    state: ThreadState
    stack: ThreadStack
    source: SourceFile | None
    frame: StackFrame
    op: str
    looks: int = 1
    moved: bool = False
    gave_up: bool = False

    @property
    def waits(self) -> bool:
        """Tell whether it waits for other ranks."""
        return self.gave_up or self.state.role == "waits-for-ranks"

    @property
    def at(self) -> tuple[str, str, int | None]:
        """Give what tells it from another that waits elsewhere."""
        return self.op, self.frame.file, self.frame.line


class JobStanding(msgspec.Struct, frozen=True, kw_only=True):
    """Where the ranks of a job stand.

    `culprits` are the ones the others (`waiting`) wait for. `is_stuck`: by what was seen the job
    stands still; None where one look cannot tell that from a healthy one.
    """

    world_size: int | None = None
    ranks: tuple[RankStanding, ...] = ()
    culprits: tuple[RankStanding, ...] = ()
    waiting: tuple[RankStanding, ...] = ()
    missing: tuple[int, ...] = ()
    is_stuck: bool | None = None


def job_standing(
    stacks: Sequence[ThreadStack],
    states: Iterable[ThreadState],
    world_size: int | None,
    *,
    gave_up: Sequence[RankEnd] = (),
    accused: Collection[int] = (),
) -> JobStanding:
    """Join the stacks of all processes.

    Args:
        stacks: as readers give them.
        states: in which threads can stand.
        world_size: number of ranks, where it is known.
        gave_up: how ranks ended that waited for others in vain.
        accused: ranks that the others wait for by what else is known: it counts where the stacks do
            not tell.
    """
    known = tuple(states)
    ranks = tuple(_waited(one, gave_up, known) for one in _ranks(seen_processes(stacks), known))
    waiting = tuple(one for one in ranks if one.waits)
    others = tuple(one for one in ranks if not one.waits)
    missing = _missing(ranks, world_size)
    culprits = () if not waiting else others or (() if missing else _apart(waiting))
    if not culprits:
        culprits = tuple(one for one in ranks if one.rank in accused)
    return JobStanding(
        world_size=world_size,
        ranks=ranks,
        culprits=culprits,
        waiting=tuple(one for one in waiting if one not in culprits),
        missing=missing,
        is_stuck=_is_stuck(ranks, culprits, missing),
    )


STORE = re.compile(r"\bDistStoreError\b|\bwait timeout after \d{1,12}ms, keys\b")
"""What a rank says that waited at the store of the job, in C, for what another one puts there."""
STORE_WAIT = "waits-in-rendezvous"


def _waited(
    one: RankStanding, gave_up: Iterable[RankEnd], states: Iterable[ThreadState]
) -> RankStanding:
    """Mark a rank that was seen where it later gave up, and what it waited for if it says so."""
    mine = (end for end in gave_up if end.rank == one.rank)
    there = [end for end in mine if _is_at(end, one.frame)]
    if not there:
        return one
    at_store = any(STORE.search(end.text) for end in there) and not one.state.frames
    state = next((item for item in states if at_store and item.id == STORE_WAIT), one.state)
    return msgspec.structs.replace(one, gave_up=True, state=state)


def _is_at(end: RankEnd, frame: StackFrame) -> bool:
    place = place_of(ThreadStack(frames=end.frames, origin=end.origin))
    return place is not None and _site(place[1]) == _site(frame)


def _site(frame: StackFrame) -> tuple[str, int | None]:
    return frame.function.rpartition(".")[2], frame.line


def _missing(ranks: Sequence[RankStanding], world_size: int | None) -> tuple[int, ...]:
    """Give the ranks of which nothing was seen, unless somebody looked at a part of the job."""
    seen = {one.rank for one in ranks}
    if world_size is None or None in seen:
        return ()
    missing = tuple(sorted(set(range(world_size)) - seen))
    return missing if len(missing) < len(seen) else ()


def _is_stuck(
    ranks: Sequence[RankStanding], culprits: Sequence[RankStanding], missing: Sequence[int]
) -> bool | None:
    """Tell whether nothing goes on.

    Ranks that wait and stood elsewhere before were let on; what each step does says nothing at one
    look.
    """
    if any(one.gave_up for one in ranks):
        return True
    if any(one.moved and (one.waits or one.state.usual) for one in ranks):
        return False
    if culprits:
        return any(one.looks >= _enough(one) for one in culprits) or None
    if missing and any(one.waits for one in ranks):
        return True
    return True if ranks and all(map(_stands, ranks)) else None


def _stands(one: RankStanding) -> bool:
    """Tell whether a rank waits without an end, by itself."""
    if one.moved or one.state.usual or one.state.role == "works":
        return False
    return one.looks > 1 or not one.waits


def _enough(one: RankStanding) -> int:
    """Give how often one that does what each step does has to be seen at it to be stuck there."""
    if not one.state.usual:
        return 1
    return 3 if one.stack.active else 2


def _apart(waiting: Sequence[RankStanding]) -> tuple[RankStanding, ...]:
    """Give those that wait in another collective, or at another place, than most."""
    if any(one.op in MESSAGES for one in waiting):
        return ()
    for key in (_op, _at):
        counted = Counter(map(key, waiting)).most_common()
        if len(counted) > 1 and counted[0][1] > counted[1][1]:
            return tuple(one for one in waiting if key(one) != counted[0][0])
    return ()


def _op(one: RankStanding) -> object:
    return one.op


def _at(one: RankStanding) -> object:
    return one.at


def _ranks(
    processes: Sequence[SeenProcess], states: Sequence[ThreadState]
) -> Iterator[RankStanding]:
    """Say where each rank stands when it was seen last."""
    of_ranks = [one for one in processes if not one.is_worker]
    workers: dict[int | None, list[SeenProcess]] = {}
    for one in processes:
        if one.is_worker:
            workers.setdefault(one.rank, []).append(one)
    ordered = sorted(of_ranks, key=lambda one: (_who(one), one.round))
    for _, group in groupby(ordered, key=_who):
        *before, last = group
        found = _standing(last, states)
        if found is None or found.state.of == "other":
            continue
        found = msgspec.structs.replace(
            found,
            looks=1 + len(before),
            moved=any(_has_moved(one.main, last.main, found) for one in before),
        )
        yield _at_worker(found, workers.get(found.rank, ()), states)


def _who(process: SeenProcess) -> tuple[int, int, str]:
    rank = -1 if process.rank is None else process.rank
    return rank, process.pid or -1, process.threads[0].host


def _standing(process: SeenProcess, states: Sequence[ThreadState]) -> RankStanding | None:
    stack = process.main
    found = state_of(stack, states)
    if found is None:
        return None
    source, frame = place_of(stack) or (None, found.frame)
    return RankStanding(
        rank=process.rank,
        pid=process.pid,
        state=found.state,
        stack=stack,
        source=source,
        frame=frame,
        op=found.op,
    )


def _at_worker(
    rank: RankStanding, workers: Sequence[SeenProcess], states: Sequence[ThreadState]
) -> RankStanding:
    """Say of a rank that waits for a worker where that stands, if it has something to do."""
    if rank.state.id != LOADER_WAIT:
        return rank
    seen = max((one.round for one in workers), default=0)
    for worker in (one for one in workers if one.round == seen):
        found = _standing(worker, states)
        if found is not None and worker.main.frames and found.state.id != WORKER_IDLE:
            seen_as = {"rank": rank.rank, "pid": rank.pid, "looks": rank.looks}
            return msgspec.structs.replace(found, **seen_as, moved=rank.moved)
    return rank


LOADER_WAIT, WORKER_IDLE = "waits-for-loader-worker", "worker-idle"
"""The states that tell a rank that wants data, and a worker that was not asked for any."""


def _has_moved(before: ThreadStack, after: ThreadStack, found: RankStanding) -> bool:
    """Tell whether a rank stood elsewhere; one that waits now and computed then did."""
    woke = before.active != after.active and (found.waits or found.state.usual)
    return woke or _ran_between(before, after) or _course(before) != _course(after)


BUSY = 0.1
"""Share of a processor above which a thread did more than wait."""


def _ran_between(before: ThreadStack, after: ThreadStack) -> bool:
    """Tell whether a thread that was idle each time it was seen computed in between."""
    if before.active is not False or after.active is not False:
        return False
    if None in (before.computed, after.computed, before.at, after.at):
        return False
    passed = (after.at or 0.0) - (before.at or 0.0)
    return passed > 0 and (after.computed or 0.0) - (before.computed or 0.0) >= BUSY * passed


def _course(stack: ThreadStack) -> list[tuple[str, str, int | None]]:
    """Give what differs where a thread stands elsewhere."""
    return [(one.function, one.file, one.line) for one in stack.frames if one.line is not None]


STANDS_STILL = "ranks-stand-still"
"""The symptom of a job that its stacks show to be stuck."""


def stall_symptom(job: JobStanding) -> SymptomHits | None:
    """Give the sighting of a job that stands still, where its stacks show that."""
    if not job.is_stuck:
        return None
    held = job.culprits or job.waiting or job.ranks
    phase = phase_of(job)
    hits = tuple(
        Hit(
            symptom=STANDS_STILL,
            source=one.frame.origin.source,
            line=one.frame.origin.line or 1,
            text=one.frame.origin.text,
            rank=one.rank,
            phase=phase,
        )
        for one in held
    )
    ranks = tuple(sorted(one.rank for one in held if one.rank is not None))
    return SymptomHits(symptom=STANDS_STILL, count=len(hits), hits=hits, ranks=ranks)


STAGES = {
    "save": re.compile(r"_?(?:save|export)(?!_for_backward)\w*"),
    "eval": re.compile(r"_?(?:eval|validat|prediction_)\w*"),
    "rollout": re.compile(r"_?(?:generate|rollout|score|reward)\w*"),
}
"""Names of functions that tell the stage of a job, in the words of `failure.phase`."""


def phase_of(job: JobStanding) -> str:
    """Give the stage of the job by what its ranks do, first of all those that others wait for.

    What a function is called that they are in says more than what they wait for there.
    """
    ordered = (*job.culprits, *job.waiting, *job.ranks)
    named = (stage for one in ordered if (stage := _stage(one.stack)))
    return next(named, "") or next((one.state.phase for one in ordered if one.state.phase), "")


def _stage(stack: ThreadStack) -> str:
    names = [name for frame in called_by(stack) for name in [frame.function.rpartition(".")[2]]]
    found = (stage for stage, name_of in STAGES.items() if any(map(name_of.fullmatch, names)))
    return next(found, "")


def standing_facts(job: JobStanding) -> Iterator[Fact]:
    """Give the facts `stuck.*`, each with the frame it rests on."""
    if job.is_stuck is False:
        return
    numbers: Mapping[str, Sequence[RankStanding]] = {
        "stuck.culprits": job.culprits,
        "stuck.waiting": job.waiting,
    }
    for name, ranks in numbers.items():
        if said := _numbers(ranks):
            yield fact(name, said, *_origins(ranks), how="derived")
    if job.missing and job.waiting:
        yield fact("stuck.missing", ranges(job.missing), *_origins(job.waiting), how="derived")
    held = job.culprits or job.ranks
    yield from _agreed(held)
    if job.is_stuck and (phase := phase_of(job)):
        yield fact("failure.phase", phase, *_origins(held), how="derived")
    ops = {one.op for one in job.waiting if one.op}
    if job.culprits and job.waiting:
        same = {one.at for one in job.culprits} == {one.at for one in job.waiting}
        origins = _origins((*job.culprits, *job.waiting))
        yield fact("stuck.same_place", same, *origins, how="derived")
    if len(ops) == 1:
        yield fact("stuck.collective", ops.pop(), *_origins(job.waiting), how="derived")


def _numbers(ranks: Sequence[RankStanding]) -> str:
    """Name ranks by their numbers, or where those are not known by their processes."""
    known = [one.rank for one in ranks if one.rank is not None]
    processes = [one.pid for one in ranks if one.pid is not None]
    return ranges(known) or (f"pid {ranges(processes)}" if processes else "")


def _agreed(held: Sequence[RankStanding]) -> Iterator[Fact]:
    """Say where some ranks stand, as far as they agree."""
    sources = [one.source for one in held if one.source is not None]
    said: Mapping[str, Iterable[str]] = {
        "stuck.state": [one.state.id for one in held],
        "stuck.package": [one.package for one in sources],
        "stuck.file": [one.file for one in sources],
        "stuck.function": [one.frame.function for one in held if one.source is not None],
    }
    for name, values in said.items():
        found = set(values)
        if len(found) == 1 and (value := found.pop()):
            yield fact(name, value, *_origins(held), how="derived")


def _origins(ranks: Iterable[RankStanding]) -> tuple[Origin, ...]:
    return tuple(one.frame.origin for one in ranks)[:4]
