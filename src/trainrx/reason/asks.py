"""What to find out next: the steps of an expert, and the facts that say most of the causes."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.knowledge.store import Knowledge
from trainrx.model.facts import SYMPTOM
from trainrx.model.knowledge import Family
from trainrx.model.protocols import Effort
from trainrx.model.result import Ask
from trainrx.model.text import Lang
from trainrx.reason.differential import CLOSE
from trainrx.reason.formulas import VERSION
from trainrx.reason.information import entropy, information, shares
from trainrx.reason.observations import Observables, Observation, observations
from trainrx.reason.protocols import OpenStep, shifts_of, steps
from trainrx.reason.questions import (
    LAUNCH,
    LOG,
    RANK_LOG,
    VERSIONS,
    WHOLE,
    WHOLE_LOG,
    Phrasing,
    Question,
)
from trainrx.reason.reasoner import Reasoning
from trainrx.reason.score import Scored

MOST = 4
LOOKED_AT = 16
"""Causes, the likeliest first, that questions shall tell apart."""
COST: Mapping[Effort, float] = {"read": 1.0, "look": 1.5, "rerun": 4.0}
"""What an answer costs: to read a file, to look at the machine, to run the job again."""
EXPERT = 1.5
"""How much more a question is worth that a protocol asks."""
LEAST = 0.002
"""An answer that is expected to say less is worth no question (bits)."""
JOINT = 3
"""What one file states overlaps: so many of its facts are counted, those that say most."""
OF_LOGS = (
    "collective",
    "exit",
    "failure",
    "log",
    "missing",
    "oom",
    "requirement",
    "series",
    "symbol",
)
"""What the names of facts begin with that a log states."""
OF_MACHINES = ("hardware", "nccl", "version")
"""What the names of facts begin with that a launch need not state."""


class Inquiry(NamedTuple):
    """What is asked on.

    Attributes:
        reasoning: what is known of the job.
        loaded: entries, for words and protocols.
        families: the kinds of failure that were seen; none where no protocol shall be followed.
        answered: ids of questions that are not asked again.
        only_echoes: the log tells that something failed, but not what.
        silent: a log is at hand, and nothing in it tells that something failed.
        lang: language of the texts.
    """

    reasoning: Reasoning
    loaded: LoadedKnowledge
    families: Collection[Family] = ()
    answered: Collection[str] = ()
    only_echoes: bool = False
    silent: bool = False
    lang: Lang = "en"


class _Candidate(NamedTuple):
    """A question with what its answer is expected to say (bits), over what it costs."""

    worth: float
    question: Question


def asks(scored: Sequence[Scored], inquiry: Inquiry) -> tuple[Ask, ...]:
    """List questions, the most telling first.

    What an expert asks first stands first. Then they are ordered by what their answers are expected
    to say of the causes, over what they cost. A whole missing input (launch, log, versions) is one
    question, not many.
    """
    best = sorted(scored, key=lambda item: (-item.score, item.cause.id))[:LOOKED_AT]
    every = list(_expert(inquiry))
    expert = [step for step in every if step.id not in inquiry.answered]
    found = [*_observed(best, expert, inquiry), *_authored(best, expert)]
    first = expert[0].id if expert else ""
    found.sort(key=lambda one: (one.question.id != first, -one.worth, one.question.id))
    framework = inquiry.reasoning.facts.text("launch.framework") or ""
    phrasing = Phrasing(inquiry.loaded.whole, inquiry.lang, scored, framework=framework)
    answers = {ident for step in every for ident in step.step.answers}
    done = {*inquiry.answered, *answers.difference(step.id for step in expert)}
    told = {RANK_LOG: inquiry.only_echoes, WHOLE_LOG: inquiry.silent}
    logs = [Question(ident) for ident, wanted in told.items() if wanted and ident not in done]
    open_ = (*logs, *(one.question for one in found if one.question.id not in done))
    out: dict[str, Ask] = {}
    for question in open_:
        ask = phrasing.ask(question, _close(best))
        if ask is not None:
            # one answer may state several facts
            out.setdefault(ask.how or ask.what, ask)
    return tuple(out.values())[:MOST]


def _expert(inquiry: Inquiry) -> Iterator[OpenStep]:
    """Give the steps that apply and are still open."""
    known = inquiry.reasoning.situation
    for step in steps(inquiry.loaded.whole.protocols.values(), inquiry.families, known):
        given = {LAUNCH: "launch.given", LOG: "log.given"}.get(step.id, step.id)
        if known.facts.value(given) in (None, False) and not known.facts.sightings(
            step.id.removeprefix(SYMPTOM)
        ):
            yield step


def _authored(best: Sequence[Scored], expert: Sequence[OpenStep]) -> Iterator[_Candidate]:
    """Weigh the questions that protocols ask in their own words."""
    now = shares(best)
    for step in expert:
        if not step.step.ask:
            bits = information(now, shifts_of(step.step.outcomes))
            worth = EXPERT * bits / COST[step.step.effort]
            yield _Candidate(worth, Question(step.id, step=step.step))


def _observed(
    best: Sequence[Scored], expert: Sequence[OpenStep], inquiry: Inquiry
) -> Iterator[_Candidate]:
    """Weigh the questions for facts, symptoms, releases and whole inputs."""
    facts, now = inquiry.reasoning.facts, shares(best)
    asked = {step.id for step in expert if step.step.ask}
    grouped: dict[str, list[Observation]] = {ident: [] for ident in asked}
    missing = [name for name in WHOLE if facts.value(f"{name}.given") is not True]
    grouped |= {name: [] for name in missing}
    for one in observations(best, inquiry.reasoning, inquiry.loaded.made(Observables)):
        grouped.setdefault(_question_of(one.name, missing, inquiry.loaded.whole), []).append(one)
    most = entropy(now)
    for ident, seen in grouped.items():
        says = {one.name: information(now, one.outcomes, one.bases) for one in seen}
        told = sorted(seen, key=lambda one: (-says[one.name], one.name))
        bits = min(most, math.fsum(says[one.name] for one in told[:JOINT]))
        if bits >= LEAST or ident in missing or ident in asked:
            worth = (EXPERT if ident in asked else 1.0) * bits / COST[_effort(ident)]
            yield _Candidate(worth, Question(ident, tuple(told)))


def _question_of(name: str, missing: Collection[str], knowledge: Knowledge) -> str:
    """Give the question that an observation answers."""
    if name.startswith(VERSION):
        return VERSIONS
    if name.startswith(SYMPTOM):
        return LOG if knowledge.symptoms[name.removeprefix(SYMPTOM)].shows_in_log else name
    stem = name.partition(".")[0]
    if stem in OF_LOGS:
        return LOG if LOG in missing else name
    return LAUNCH if LAUNCH in missing and stem not in OF_MACHINES else name


def _effort(ident: str) -> Effort:
    return "look" if ident.startswith(SYMPTOM) else "read"


def _close(best: Sequence[Scored]) -> tuple[str, ...]:
    """Give the two causes in front, where they stand close."""
    near = [item.cause.id for item in best[:2] if best[0].score - item.score < CLOSE]
    return tuple(near) if len(near) > 1 else ()
