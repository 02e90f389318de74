"""The causes that explain what was seen of a failure nobody can name yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from trainrx.knowledge.conditions import facts_of, symptoms_of, walk
from trainrx.knowledge.packages import range_votes
from trainrx.model.facts import Facts
from trainrx.model.knowledge import Evidence
from trainrx.model.result import DifferentialItem
from trainrx.model.text import Lang
from trainrx.reason.conditions import Situation, decide
from trainrx.reason.information import shares
from trainrx.reason.score import Scored

MOST = 5
TELLING = 0.8
"""A vote below this weight neither confirms nor rules out (nats)."""
CLOSE = 0.7
"""Two causes stand close while less than this lies between them (nats: odds of two to one)."""
NOT_KNOWN_TO_APPLY = 0.7
"""What a precondition that nobody can decide takes from a cause (nats)."""


def differential(
    scored: Sequence[Scored], facts: Facts, lang: Lang
) -> tuple[DifferentialItem, ...]:
    """Name the causes that may be behind a failure, best first, with what would decide each.

    Args:
        scored: all that explain it and are not ruled out, weighed for a job of this size and phase.
        facts: what is known of the job.
        lang: language of the texts.
    """
    part = shares(scored)
    # what fits any failure tells the least
    order = sorted(scored, key=lambda item: (item.cause.generic, -item.score, item.cause.id))
    return tuple(_item(item, part[item.cause.id], facts, lang) for item in order[:MOST])


def close(causes: Sequence[Scored]) -> tuple[Scored, ...]:
    """Give the causes that stand close to the best, it included; none where it stands alone."""
    best = max((item.score for item in causes), default=0.0)
    near = [item for item in causes if best - item.score < CLOSE]
    return tuple(near) if len(near) > 1 else ()


def less_if_open(item: Scored, situation: Situation) -> Scored:
    """Take something from a cause of which nobody knows whether it can be at work here."""
    requires = item.cause.requires
    if requires is None or decide(requires, situation) is not None:
        return item
    return msgspec.structs.replace(item, score=item.score - NOT_KNOWN_TO_APPLY)


def _item(item: Scored, share: float, facts: Facts, lang: Lang) -> DifferentialItem:
    evidence = item.cause.evidence
    of_releases = range_votes(item.cause)
    supports = [vote for vote in evidence.supports if vote.id not in of_releases]
    open_ = {reason.id for reason in item.reasons if reason.holds is not True}
    return DifferentialItem(
        id=item.cause.id,
        title=item.cause.title.in_(lang),
        probability=round(share, 2),
        confirm=_strongest((vote for vote in supports if vote.id in open_), facts, lang),
        rule_out=_strongest((v for v in evidence.contradicts if v.id in open_), facts, lang),
    )


def _strongest(votes: Iterable[Evidence], facts: Facts, lang: Lang) -> str:
    """Say what the strongest vote speaks of that an observation can still decide.

    Of two the one that asks for less is stronger. Facts that are not known go before lines that the
    log does not hold so far. "" where no vote tells much.
    """
    telling = [vote for vote in votes if vote.weight >= TELLING and not vote.alone]
    open_ = [vote for vote in telling if any(name not in facts for name in facts_of(vote.when))]
    unseen = [vote for vote in telling if symptoms_of(vote.when) and not facts_of(vote.when)]
    best = max(open_ or unseen, key=_strength, default=None)
    return "" if best is None else best.why.in_(lang)


def _strength(vote: Evidence) -> tuple[float, str]:
    return (vote.weight / len(list(walk(vote.when))), vote.id)
