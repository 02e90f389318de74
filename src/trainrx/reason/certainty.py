"""What evidence each verdict needs; `docs/certainty.md` says the same for people.

A cause is *likely* when its probability is at least `LIKELY` and it has earned that:

- something of this job speaks for it, be it observed (a line, a stack, a measured value, what the
  framework refuses, what the user saw) or computed (the launch contradicts itself, does not fit);
- that bears on this cause, and is not merely the symptom that many causes share;
- its preconditions are known to hold: `requires`, and the releases of `applies_to`;
- no other cause is as strong and asks for another remedy: then the choice between them is open.

All else - what only stands in the launch, which releases are installed, how common a cause is,
which change uses the same words - makes it possible at most, however much of it there is.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec

from trainrx.facts.contrasts import TRIAL
from trainrx.knowledge.conditions import packages_of, symptoms_of, walk
from trainrx.model.facts import SYMPTOM, Fact
from trainrx.model.job import NOTE
from trainrx.model.knowledge import Cause, Evidence
from trainrx.model.parts import Condition
from trainrx.model.result import Reason
from trainrx.reason.conditions import Situation, decide, evidence
from trainrx.reason.reasoner import Reasoning
from trainrx.reason.score import Scored

LIKELY = 0.75
"""From here on nine of ten first causes of newer threads (since October 2025) were solved by one of
the fixes of the cause: 83 of 92; from 0.7 on it was 86 of 97."""
SUSPECTED = 0.3
"""Below this an answer is not called a suspicion, whatever speaks for a cause."""
MOST_UNSEEN = math.log(0.65 / 0.35)
"""Log-odds of a cause that nothing observed or computed speaks for: suspected, never likely. Of the
labelled threads of 2026 whose first cause was so called likely, 61 % were solved by its fixes."""
OWN = 1.0
"""Votes of this weight together stand for themselves (nats)."""
STANDS = 0.1
"""From here on a specific cause that something told speaks for goes before a generic one."""
CLOSE = 0.05
"""How far behind it that one then stands (nats)."""
TIED = 0.7
"""Two causes are tied while less than this lies between them (nats: odds of two to one)."""
FEW = 4
FEW_PRINTED = 8
"""A symptom that speaks for more causes than these is shared: it tells that one of them is so. What
a program prints is more exact than what people write."""
OBSERVED = frozenset(
    {
        "advice",
        "answered",
        "argument",
        "changed",
        "collective",
        "exit",
        "failure",
        "hydra",
        "log",
        "missing",
        "note",
        "oom",
        "requirement",
        "series",
        "stuck",
        "symbol",
    }
)
"""Kinds of facts, by the first part of their name, that a log, a stack or a comparison tells."""
COMPUTED = frozenset({"guard", "packages", "template"})
"""Kinds that say whether values contradict each other, or what a release takes."""
SINGLE = frozenset(
    {
        "batch.divisible_by_generations",
        "config.unread_key",
        "launch.misspelt_argument",
        "launch.refused_value",
        "launch.renamed_argument",
        "memory.gather_exceeds_room",
        "memory.static_fits",
        "memory.verdict",
        "model.transformers_too_old",
        "parallel.idle_gpus",
        "repair.traced",
        "vllm.request_fits",
    }
)
"""Single facts that tell such a thing too."""
TELLS_NOTHING = frozenset({"failure.family", "log.finished", "log.given", "series.steps"})
"""Facts that any failed job has."""


def bounded(scored: Sequence[Scored], reasoning: Reasoning) -> list[Scored]:
    """Bring causes that have not earned more down to what is merely possible.

    A generic one stands behind every other that something told speaks for.
    """
    bearers = _bearers((item.cause for item in scored), set(reasoning.facts.symptoms()))
    told = {
        item.cause.id: _told(item, reasoning, bearers)
        for item in scored
        if item.supported and item.probability >= STANDS
    }
    high = [item for item in scored if item.score > MOST_UNSEEN]
    limits = {
        item.cause.id: MOST_UNSEEN
        for item in high
        if any(_is_rival(other, item) for other in high)
        or told[item.cause.id] < OWN
        or not _may_be_so(item.cause, reasoning.situation, bearers)
    }
    held = [
        msgspec.structs.replace(item, score=min(item.score, limits.get(item.cause.id, item.score)))
        for item in scored
    ]
    own = [i.score for i in held if not i.cause.generic and told.get(i.cause.id, 0.0) > 0]
    behind = max(own, default=math.inf) - CLOSE
    return [
        msgspec.structs.replace(item, score=behind)
        if item.cause.generic and item.score > behind
        else item
        for item in held
    ]


def _is_rival(other: Scored, item: Scored) -> bool:
    """Tell whether another cause is as strong, and the two have no change in common."""
    return (
        other is not item
        and not other.cause.generic
        and other.unbounded > item.unbounded - TIED
        and _remedies(other.cause).isdisjoint(_remedies(item.cause))
    )


def _remedies(cause: Cause) -> set[str]:
    return {
        name
        for fix in cause.fixes
        for name in (
            *fix.set,
            *fix.unset,
            *(package.name for package in fix.packages),
            *(measure.param for measure in fix.measures),
        )
    }


def lacking(cause: Cause, situation: Situation) -> tuple[Condition, ...]:
    """Give the preconditions of a cause that are not known to hold.

    What must not be so (`not`, `ne`) is none: it counts against a cause only once it is known.
    """
    releases = (Condition(package=name, versions=spec) for name, spec in cause.applies_to.items())
    required = () if cause.requires is None else cause.requires.all or (cause.requires,)
    wanted = (part for part in required if part.not_ is None and part.ne is None)
    return tuple(part for part in (*wanted, *releases) if decide(part, situation) is not True)


def _told(item: Scored, reasoning: Reasoning, bearers: Mapping[str, int]) -> float:
    """Add up the votes for a cause that rest on something observed or computed (nats)."""
    votes = {vote.id: vote for vote in item.cause.evidence.supports}
    return math.fsum(
        reason.weight
        for reason in item.counted
        if reason.weight > 0
        and _is_told(reason, votes.get(reason.id), item.cause.id, reasoning, bearers)
    )


def _may_be_so(cause: Cause, situation: Situation, bearers: Mapping[str, int]) -> bool:
    """Tell whether the preconditions hold, or a line says so that this cause alone explains.

    Such a line says that what it requires is so, not which release it is.
    """
    open_ = lacking(cause, situation)
    own = any(bearers.get(name) == 1 for name in cause.explains)
    return not open_ or (own and not any(packages_of(condition) for condition in open_))


def _is_told(
    reason: Reason,
    vote: Evidence | None,
    cause: str,
    reasoning: Reasoning,
    bearers: Mapping[str, int],
) -> bool:
    """Tell whether a vote that holds rests on something observed or computed."""
    if reason.id.startswith(TRIAL):
        return True
    if vote is None:
        facts: Iterable[Fact] = (
            item
            for found in reasoning.suggestions
            if (found.rule, found.cause) == (reason.id, cause)
            for item in found.facts
        )
        return any(_tells(item, (), bearers) for item in facts)
    if vote.computed:
        return True
    tested = {node.symptom for node, _ in walk(vote.when) if node.symptom and node.if_}
    found_facts = evidence(vote.when, reasoning.situation)
    return any(_tells(item, tested, bearers) for item in found_facts)


def _tells(item: Fact, tested: Collection[str], bearers: Mapping[str, int]) -> bool:
    """Tell whether a fact is an observation, or a contradiction, that bears on few causes.

    Of a symptom that many share, what its line says (the fields that are `tested`) does.
    """
    if not item.kind.startswith(SYMPTOM):
        return tells_by_name(item.kind)
    name = item.kind.removeprefix(SYMPTOM)
    most = FEW if any(at.source == NOTE for at in item.origins) else FEW_PRINTED
    return name in tested or bearers.get(name, 0) <= most


def tells_by_name(fact: str) -> bool:
    """Tell whether a plain fact is by its name something observed, or a contradiction."""
    if fact in TELLS_NOTHING:
        return False
    root = fact.split(".", 1)[0]
    return root in OBSERVED or root in COMPUTED or fact in SINGLE


def _bearers(causes: Iterable[Cause], seen: Collection[str]) -> Counter[str]:
    """Count the causes that each symptom that was seen speaks for."""
    return Counter(
        name
        for cause in causes
        for name in {
            *cause.explains,
            *(name for vote in cause.evidence.supports for name in symptoms_of(vote.when)),
        }
        if name in seen
    )
