"""What an answer says of the ranks: where they stand, and which ones the others wait for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from trainrx.evidence.collectives import CallVerdict, GroupVerdict
from trainrx.evidence.ranks.failures import RankFailures
from trainrx.evidence.ranks.standing import JobStanding, RankStanding
from trainrx.evidence.ranks.states import place_of
from trainrx.evidence.ranks.tree import tree
from trainrx.model.facts import Origin
from trainrx.model.ranks import RankEnd, StackFrame, ThreadStack, ranges
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


MOST_SAID = 100
"""Characters of an exception that are told beside its rank."""
FAILED = Text(en="failed ({text})", zh="失败（{text}）")


def rank_report(
    job: JobStanding, collectives: Sequence[GroupVerdict], failures: RankFailures, lang: Lang
) -> RankReport | None:
    """Give the part of an answer on ranks; None where nothing was seen of one.

    Whom the others wait for is told by the stacks; where these do not, by who failed first, by the
    collectives, or by who was silent when the others gave up, in this order.
    """
    verdict = collectives[0] if collectives else None
    if verdict is not None and len(verdict.culprits) + len(verdict.waiting) < 2:
        verdict = None
    first = failures.first
    if not job.ranks and verdict is None and first is None:
        return None
    stuck = job.is_stuck is not False
    culprits, waiting = (_numbers(job.culprits), _numbers(job.waiting)) if stuck else ((), ())
    named = culprits or (() if first is None else (first.rank,))
    if not named and stuck and not job.missing:
        named = (verdict.culprits if verdict is not None else ()) or failures.silent
    if not job.ranks and verdict is not None:
        waiting = verdict.waiting
    stacks = ((one.pid if one.rank is None else one.rank, one.stack) for one in job.ranks)
    return RankReport(
        world_size=job.world_size,
        first_failed=None if first is None else first.rank,
        culprits=named,
        waiting=tuple(rank for rank in waiting if rank not in named),
        missing=job.missing,
        stuck=job.is_stuck,
        collective=None if verdict is None else _collective(verdict, lang),
        places=(
            *(_place(one, job, named, lang) for one in job.ranks if not _is_of(first, one)),
            *_failed(first, lang),
        ),
        tree=tuple(
            RankTreeLine(ranks=ranges(line.ranks), frame=frame_text(line.frame), depth=line.depth)
            for line in tree((number, stack) for number, stack in stacks if number is not None)
        ),
    )


def _is_of(first: RankEnd | None, one: RankStanding) -> bool:
    """Tell whether a rank raised what ended the job: where it did so tells more than its stack."""
    return first is not None and first.rank == one.rank and bool(first.frames)


def _failed(first: RankEnd | None, lang: Lang) -> Iterator[RankPlace]:
    """Say where the rank failed that did so first."""
    if first is None or not first.frames:
        return
    place = place_of(ThreadStack(frames=first.frames, origin=first.origin))
    yield RankPlace(
        rank=first.rank,
        frame="" if place is None else frame_text(place[1]),
        state=FAILED.in_(lang).format(text=_first_sentence(first.text)),
        id="",
        role="culprit",
        evidence=(first.origin,),
    )


def _first_sentence(text: str) -> str:
    """Give what an exception says first: the line itself stands among the evidence."""
    said = text.partition(". ")[0]
    return said if len(said) <= MOST_SAID else f"{said[:MOST_SAID].rstrip()}..."


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


def _place(one: RankStanding, job: JobStanding, culprits: Sequence[int], lang: Lang) -> RankPlace:
    culprit = (one in job.culprits and job.is_stuck is not False) or one.rank in culprits
    waits = one in job.waiting and job.is_stuck is not False and not culprit
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
    return f"{frame.file}{at} {frame.function}".strip()
