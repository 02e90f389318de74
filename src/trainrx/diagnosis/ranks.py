"""What an answer says of the ranks: where they stand, and which ones the others wait for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from trainrx.evidence.collectives import CallVerdict, GroupVerdict
from trainrx.evidence.ranks.standing import JobStanding, RankStanding
from trainrx.evidence.ranks.states import place_of
from trainrx.evidence.ranks.tree import tree
from trainrx.model.facts import Origin
from trainrx.model.ranks import StackFrame, ThreadStack, ranges
from trainrx.model.result import RankCollective, RankPlace, RankReport, RankTreeLine
from trainrx.model.text import Lang, Text

VERDICTS: Mapping[CallVerdict, Text] = {
    "matched": Text(en="wait in the same {op}", zh="等在同一个 {op}"),
    "op-differs": Text(
        en="calls {own} where the others call {op}", zh="调用了 {own}，而其他 rank 调用 {op}"
    ),
    "size-differs": Text(
        en="{op} of another size than the others", zh="{op} 的大小与其他 rank 不同"
    ),
    "dtype-differs": Text(
        en="{op} of another dtype than the others", zh="{op} 的 dtype 与其他不同"
    ),
    "state-differs": Text(en="few are through with {op}", zh="只有少数 rank 完成了 {op}"),
    "behind": Text(en="has not come to {op}", zh="还没有到达 {op}"),
    "missing": Text(
        en="left nothing, the others wait in {op}", zh="没有留下记录，其他 rank 在等 {op}"
    ),
    "not-started": Text(en="called no collective at all", zh="一次集合通信都没有调用"),
}


OTHER = Text(en="something else", zh="别的集合通信")


def rank_report(
    job: JobStanding, collectives: Sequence[GroupVerdict], lang: Lang
) -> RankReport | None:
    """Give the part of an answer on ranks; None where nothing was seen of one.

    Whom the others wait for is told by the stacks, and where there are none by the collectives.
    """
    first = collectives[0] if collectives else None
    if first is not None and len(first.culprits) + len(first.waiting) < 2:
        first = None
    if not job.ranks:
        if first is None:
            return None
        return RankReport(
            world_size=job.world_size,
            culprits=first.culprits,
            waiting=first.waiting,
            collective=_collective(first, lang),
        )
    stuck = job.is_stuck is not False
    stacks = ((one.pid if one.rank is None else one.rank, one.stack) for one in job.ranks)
    return RankReport(
        world_size=job.world_size,
        culprits=_numbers(job.culprits) if stuck else (),
        waiting=_numbers(job.waiting) if stuck else (),
        missing=job.missing,
        stuck=job.is_stuck,
        collective=None if first is None else _collective(first, lang),
        places=tuple(_place(one, job, lang) for one in job.ranks),
        tree=tuple(
            RankTreeLine(ranks=ranges(line.ranks), frame=frame_text(line.frame), depth=line.depth)
            for line in tree((number, stack) for number, stack in stacks if number is not None)
        ),
    )


def _collective(found: GroupVerdict, lang: Lang) -> RankCollective:
    number = "" if found.seq is None else f" #{found.seq}"
    named = (found.op + number).strip() or {"en": "a collective", "zh": "集合通信"}[lang]
    called = ThreadStack(frames=found.frames, origin=Origin(source=""))
    place = place_of(called) if found.frames else None
    return RankCollective(
        verdict=found.verdict,
        frame="" if place is None else frame_text(place[1]),
        op=found.op,
        says=VERDICTS[found.verdict].in_(lang).format(op=named, own=found.own or OTHER.in_(lang)),
        seq=found.seq,
        group=found.group,
        evidence=found.origins,
    )


def _numbers(ranks: Iterable[RankStanding]) -> tuple[int, ...]:
    return tuple(sorted(one.rank for one in ranks if one.rank is not None))


def _place(one: RankStanding, job: JobStanding, lang: Lang) -> RankPlace:
    waits = one in job.waiting and job.is_stuck is not False
    culprit = one in job.culprits and job.is_stuck is not False
    return RankPlace(
        rank=one.rank,
        pid=one.pid,
        frame=frame_text(one.frame),
        state=one.state.says.in_(lang),
        id=one.state.id,
        role="culprit" if culprit else "waiting" if waits else "",
        op=one.op,
        evidence=(one.frame.origin,),
    )


def frame_text(frame: StackFrame) -> str:
    """Write a call as `dataset.py:42 __getitem__`."""
    at = "" if frame.line is None else f":{frame.line}"
    return f"{frame.file}{at} {frame.function}"
