"""Evidence into log-odds.

score = logit(prior) + sum over correlation groups of the strongest vote. An unknown test adds
nothing; the order of facts changes nothing (`math.fsum`, ties by id).
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import msgspec

from trainrx.model.facts import Fact, Origin
from trainrx.model.knowledge import Cause, Evidence
from trainrx.model.result import Reason
from trainrx.model.text import Lang, Text
from trainrx.reason.conclusions import Suggested
from trainrx.reason.conditions import Situation, decide, evidence
from trainrx.reason.reasoner import Reasoning
from trainrx.reason.trials import trial_reasons
from trainrx.versions.ranges import in_range

MAX_EVIDENCE = 6
MOST_ALONE = math.log(0.65 / 0.35)
"""What is left when all else is ruled out is suspected, never likely: of the labelled crashes with
nothing else to go by, 54 to 69 % were repaired by a newer release."""
OWN = 1.0
"""A vote of this weight stands for itself (nats)."""
NOT_YET = Reason(id="nothing-failed-yet", text="", weight=-0.7, holds=True)
NOT_YET_TEXT = Text(
    en="Nothing has failed so far: this is foreseen from the launch alone.",
    zh="目前还没有失败：这只是根据启动参数的预判。",
)


class Scored(msgspec.Struct, frozen=True, kw_only=True):
    """A cause with its terms.

    `supported`: at least one vote for it holds. `votes` are all, each with its correlation group;
    `counted` those that make the score: of each group the strongest.
    """

    cause: Cause
    prior: float
    score: float
    reasons: tuple[Reason, ...]
    supported: bool
    counted: tuple[Reason, ...] = ()
    votes: tuple[tuple[str, Reason], ...] = ()

    @property
    def unbounded(self) -> float:
        """Give what prior and votes add up to, whatever the score is held down to."""
        return math.fsum((logit(self.prior), *(reason.weight for reason in self.counted)))

    @property
    def probability(self) -> float:
        """Give the logistic of the score."""
        return 1.0 / (1.0 + math.exp(-self.score))


def logit(probability: float) -> float:
    """Turn a probability into log-odds (nats)."""
    return math.log(probability / (1.0 - probability))


def ruled_out(cause: Cause, situation: Situation) -> bool:
    """Tell whether the precondition, or a known version, excludes the cause."""
    if cause.requires is not None and decide(cause.requires, situation) is False:
        return True
    present = situation.versions
    return any(
        package in present and in_range(present[package], spec) is False
        for package, spec in cause.applies_to.items()
    )


def score(
    cause: Cause, reasoning: Reasoning, lang: Lang, *, failed: bool = True, alone: bool = True
) -> Scored:
    """Weigh one cause.

    A prior is a share of the jobs that failed; `failed` false (nothing did so far) counts against.
    `alone` false: something speaks for another cause, so votes that hold only alone do not.
    """
    prior = _prior(cause, reasoning.situation)
    votes = list(_votes(cause, reasoning, lang, alone=alone))
    if not failed:
        votes.append((NOT_YET.id, msgspec.structs.replace(NOT_YET, text=NOT_YET_TEXT.in_(lang))))
    counted = tuple(_strongest(votes))
    reasons = sorted((r for _, r in votes), key=_reason_order)
    total = math.fsum((logit(prior), *(reason.weight for reason in counted)))
    return Scored(
        cause=cause,
        prior=prior,
        score=min(total, MOST_ALONE) if _rests_on_alone(cause, counted) else total,
        reasons=tuple(reasons),
        supported=any(reason.holds and reason.weight > 0 for reason in reasons),
        counted=counted,
        votes=tuple(votes),
    )


def _rests_on_alone(cause: Cause, counted: Iterable[Reason]) -> bool:
    """Tell whether a cause has no vote of weight but those that hold only alone."""
    alone = {vote.id for vote in cause.evidence.supports if vote.alone}
    strong = {reason.id for reason in counted if reason.weight >= OWN}
    return bool(strong & alone) and not strong - alone


def _strongest(votes: Iterable[tuple[str, Reason]]) -> Iterable[Reason]:
    """Give the strongest vote that holds of each group, those for and against apart."""
    best: dict[tuple[str, bool], Reason] = {}
    for group, reason in votes:
        key = (group, reason.weight > 0)
        if reason.holds and abs(reason.weight) > abs(best[key].weight if key in best else 0.0):
            best[key] = reason
    return best.values()


def _reason_order(reason: Reason) -> tuple[int, float, str]:
    return ({True: 0, None: 1, False: 2}[reason.holds], -abs(reason.weight), reason.id)


def _prior(cause: Cause, situation: Situation) -> float:
    true = (case.prior for case in cause.priors if decide(case.when, situation))
    return next(true, cause.prior)


def _votes(
    cause: Cause, reasoning: Reasoning, lang: Lang, *, alone: bool
) -> Iterable[tuple[str, Reason]]:
    for vote in cause.evidence.supports:
        known = reasoning.situation if alone or not vote.alone else None
        yield vote.group or vote.id, _reason(vote, vote.weight, known, lang)
    for vote in cause.evidence.contradicts:
        yield vote.group or vote.id, _reason(vote, -vote.weight, reasoning.situation, lang)
    for reason in trial_reasons(cause, reasoning.facts, lang):
        yield reason.id, reason
    for rule, found in _by_rule(v for v in reasoning.suggestions if v.cause == cause.id).items():
        first = found[0]
        facts = tuple(item for vote in found for item in vote.facts)
        yield (
            first.group or rule,
            Reason(
                id=rule,
                text=first.why.in_(lang),
                weight=first.weight,
                holds=True,
                evidence=quotes(facts),
            ),
        )


def _by_rule(votes: Iterable[Suggested]) -> dict[str, list[Suggested]]:
    """Group a rule's firings: one rule has one vote however often it matched."""
    out: dict[str, list[Suggested]] = {}
    for vote in votes:
        out.setdefault(vote.rule, []).append(vote)
    return out


def _reason(vote: Evidence, weight: float, known: Situation | None, lang: Lang) -> Reason:
    """Decide a vote; without a situation it is one that does not count here."""
    holds = decide(vote.when, known) if known is not None else False
    return Reason(
        id=vote.id,
        text=vote.why.in_(lang),
        weight=weight,
        holds=holds,
        evidence=quotes(evidence(vote.when, known)) if holds and known is not None else (),
    )


def quotes(facts: Iterable[Fact]) -> tuple[Origin, ...]:
    """Give the lines some facts were read from, each once, the first few.

    A line that says a thing goes before those that something was worked out from.
    """
    ordered = sorted(facts, key=lambda item: item.how == "derived")
    seen = dict.fromkeys(origin for item in ordered for origin in item.origins)
    return tuple(seen)[:MAX_EVIDENCE]
