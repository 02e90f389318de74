"""The processes of a job out of the stacks of their threads: whose they are, and when seen."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import groupby
from pathlib import PurePath

import msgspec

from trainrx.evidence.lines import path_rank
from trainrx.evidence.ranks.states import is_child, is_of_worker
from trainrx.model.ranks import ThreadStack

LOCAL_RANK = re.compile(r"--local[-_]rank[= ](\d{1,5})\b")


class SeenProcess(msgspec.Struct, frozen=True, kw_only=True):
    """A process as it was seen once, `round` from 0; `is_worker`: a rank forked it."""

    threads: tuple[ThreadStack, ...]
    pid: int | None
    rank: int | None
    is_worker: bool
    round: int

    @property
    def main(self) -> ThreadStack:
        """Give the thread that tells most of it: the first one, as far as that is known."""
        return next((one for one in self.threads if one.is_main), self.threads[0])


def seen_processes(stacks: Sequence[ThreadStack]) -> tuple[SeenProcess, ...]:
    """Put the stacks of threads together to processes, in the order they were seen."""
    groups = [tuple(group) for _, group in groupby(_numbered(stacks), key=lambda item: item[0])]
    threads = [tuple(stack for _, stack in group) for group in groups]
    ranks = _ranks(threads)
    known = tuple(zip(threads, ranks, strict=True))
    framed = {(group[0].host, rank, group[0].pid) for group, rank in known if group[0].frames}
    rounds: Counter[tuple[object, ...]] = Counter()
    found: list[SeenProcess] = []
    for group, rank in known:
        pid = group[0].pid
        is_worker = any(is_of_worker(stack) or is_child(stack) for stack in group)
        is_worker = is_worker or _is_beside_another(group[0], rank, framed)
        who = (
            (group[0].host, pid, rank)
            if pid is not None
            else (rank, is_worker, group[0].origin.source)
        )
        found.append(
            SeenProcess(threads=group, pid=pid, rank=rank, is_worker=is_worker, round=rounds[who])
        )
        rounds[who] += 1
    return tuple(found)


def _is_beside_another(
    stack: ThreadStack, rank: int | None, framed: Collection[tuple[str, int | None, int | None]]
) -> bool:
    """Tell a process without frames for a child by another one that is seen of its rank."""
    if stack.frames or rank is None or (stack.host, rank, stack.pid) in framed:
        return False
    return any((host, of) == (stack.host, rank) for host, of, _ in framed)


def _numbered(stacks: Iterable[ThreadStack]) -> Iterable[tuple[int, ThreadStack]]:
    """Number the dumps: another file, process or rank, and a second main thread begin a new one."""
    number, before, has_main = 0, None, False
    for stack in stacks:
        who = (stack.origin.source, stack.host, stack.pid, stack.rank)
        if who != before or (stack.is_main and has_main):
            number, before, has_main = number + 1, who, False
        has_main = has_main or stack.is_main
        yield number, stack


def _ranks(processes: Sequence[Sequence[ThreadStack]]) -> list[int | None]:
    """Give the rank of each process, of a child that of its parent."""
    own = [_own_rank(threads) for threads in processes]
    known = {
        threads[0].pid: rank
        for threads, rank in zip(processes, own, strict=True)
        if rank is not None and threads[0].pid is not None
    }
    parents = (threads[0].parent for threads in processes)
    return [
        known.get(parent) if rank is None and parent is not None else rank
        for rank, parent in zip(own, parents, strict=True)
    ]


def _own_rank(threads: Sequence[ThreadStack]) -> int | None:
    first = threads[0]
    if first.rank is not None:
        return first.rank
    name = first.origin.source
    told = path_rank(PurePath(name).name)
    told = path_rank(name) if told is None else told
    if told is not None:
        return told
    started = LOCAL_RANK.search(first.command)
    return None if started is None else int(started[1])
