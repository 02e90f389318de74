"""Which rank failed first, by how each ended: what only follows from another's end set aside."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from math import inf

import msgspec

from trainrx.model.job import Hit, SymptomHits
from trainrx.model.knowledge import Symptom
from trainrx.model.ranks import RankEnd, ThreadStack

WAITED = re.compile(r"[Tt]ime(?:d )?-?out")
"""What ranks say that waited for others to start, rather than failed at it themselves."""
CLOSED = frozenset({0, -15, 143, -2, 130})
"""Exit codes of ranks that were told to end, or ended well."""
KILLED = frozenset({-9, 137, -11, 139, -7, 135, -4, 132})
"""Exit codes of signals after which a process prints nothing of its own."""
NOT_REACHED = re.compile(r"trying to connect|failed to connect|[Cc]onnection refused")
"""What a rank says that could not join the others."""
MESSAGE = 3
"""Lines of the message of an exception that are looked at."""


class RankFailures(msgspec.Struct, frozen=True, kw_only=True):
    """How the ranks ended.

    Attributes:
        first: the end that the others follow from; None where none is such.
        waiting: ends of ranks that gave up waiting for another, or lost it.
        silent: ranks that are listed or belong to the job and said nothing while most gave up.
    """

    first: RankEnd | None = None
    waiting: tuple[RankEnd, ...] = ()
    silent: tuple[int, ...] = ()


def rank_failures(
    ends: Sequence[RankEnd],
    seen: Iterable[SymptomHits],
    symptoms: Mapping[str, Symptom],
    world_size: int | None,
) -> RankFailures:
    """Join the ends of all ranks.

    Args:
        ends: as readers give them.
        seen: what was recognised in the logs: by it an exception is known for an echo.
        symptoms: what these are.
        world_size: number of ranks, where it is known.
    """
    echoes = _echoes(seen, symptoms)
    waiting = tuple(end for end in ends if end.code is None and _is_echo(end, echoes))
    strayed = [end for end in waiting if NOT_REACHED.search(end.text)]
    if len(strayed) < len(waiting):  # others found the store
        waiting = tuple(end for end in waiting if end not in strayed)
    gave_up = {end.rank for end in waiting}
    spoken = gave_up | {hit.rank for hit in echoes}
    exits = _first_exits(ends)
    raised = [end for end in ends if end.code is None and end.rank not in gave_up]
    own = [*raised, *(end for end in exits if end.code in KILLED and end.rank not in gave_up)]
    # what ended without a word of its own is the last to be believed
    other = [end for end in exits if end.rank not in spoken]
    first = min(own, key=_moment, default=None) or min(other, key=_moment, default=None)
    silent = sorted(({*range(world_size or 0)} | {end.rank for end in ends}) - spoken)
    return RankFailures(
        first=first,
        waiting=waiting,
        silent=tuple(silent) if first is None and len(silent) < len(gave_up) else (),
    )


def _first_exits(ends: Iterable[RankEnd]) -> list[RankEnd]:
    """Give the exits no other one came before: what stays when told to end is killed later."""
    exits = [end for end in ends if end.code not in (None, *CLOSED)]
    first = min((_moment(end)[0] for end in exits), default=inf)
    return [end for end in exits if _moment(end)[0] <= first]


def _is_echo(end: RankEnd, echoes: Iterable[Hit]) -> bool:
    """Tell whether an exception, of which the message may have several lines, is an echo."""
    line = end.origin.line or 0
    return any(
        hit.source == end.origin.source
        and 0 <= hit.line - line < MESSAGE
        and hit.rank in (None, end.rank)
        for hit in echoes
    )


def _echoes(seen: Iterable[SymptomHits], symptoms: Mapping[str, Symptom]) -> list[Hit]:
    """Give the lines that only follow from what another rank did, or did not do."""
    entries = [(item, symptoms[item.symptom]) for item in seen if item.symptom in symptoms]
    return [
        hit
        for item, symptom in entries
        for hit in item.hits
        if symptom.role == "echo"
        or symptom.family == "hang"
        or (symptom.family == "init_hang" and WAITED.search(hit.text))
    ]


def _moment(end: RankEnd) -> tuple[float, int]:
    return (inf if end.at is None else end.at), end.origin.line or 0


def stacks_of(failures: RankFailures) -> tuple[ThreadStack, ...]:
    """Give where ranks stood that gave up: the traceback of a collective is a stack at it."""
    return tuple(
        ThreadStack(frames=end.frames, origin=end.origin, rank=end.rank, is_main=True)
        for end in failures.waiting
    )
