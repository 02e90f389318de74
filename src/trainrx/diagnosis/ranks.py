"""What an answer says of the ranks: where they stand, and which ones the others wait for."""

from __future__ import annotations

from collections.abc import Iterable

from trainrx.evidence.ranks.standing import JobStanding, RankStanding
from trainrx.evidence.ranks.tree import tree
from trainrx.model.ranks import StackFrame, ranges
from trainrx.model.result import RankPlace, RankReport, RankTreeLine
from trainrx.model.text import Lang


def rank_report(job: JobStanding, lang: Lang) -> RankReport | None:
    """Give the part of an answer on ranks; None where no stack of one was seen."""
    if not job.ranks:
        return None
    stuck = job.is_stuck is not False
    stacks = ((one.rank, one.stack) for one in job.ranks)
    return RankReport(
        world_size=job.world_size,
        culprits=_numbers(job.culprits) if stuck else (),
        waiting=_numbers(job.waiting) if stuck else (),
        missing=job.missing,
        stuck=job.is_stuck,
        places=tuple(_place(one, lang) for one in job.ranks),
        tree=tuple(
            RankTreeLine(ranks=ranges(line.ranks), frame=frame_text(line.frame), depth=line.depth)
            for line in tree((rank, stack) for rank, stack in stacks if rank is not None)
        ),
    )


def _numbers(ranks: Iterable[RankStanding]) -> tuple[int, ...]:
    return tuple(sorted(one.rank for one in ranks if one.rank is not None))


def _place(one: RankStanding, lang: Lang) -> RankPlace:
    return RankPlace(
        rank=one.rank,
        pid=one.pid,
        frame=frame_text(one.frame),
        state=one.state.says.in_(lang),
        id=one.state.id,
        op=one.op,
        evidence=(one.frame.origin,),
    )


def frame_text(frame: StackFrame) -> str:
    """Write a call as `dataset.py:42 __getitem__`."""
    at = "" if frame.line is None else f":{frame.line}"
    return f"{frame.file}{at} {frame.function}"
