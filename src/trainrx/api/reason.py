"""Run the rules and conditions of the knowledge on the facts of a job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Literal

from trainrx.api.facts import version_facts
from trainrx.engine.conditions import version_tests
from trainrx.engine.reason import Reasoner, Reasoning
from trainrx.kb.store import Knowledge
from trainrx.model.facts import Fact
from trainrx.model.knowledge import Cause
from trainrx.rank.conditions import conditions

EngineName = Literal["durable", "reference"]


def reasoner(
    knowledge: Knowledge, engine: EngineName = "durable", causes: Iterable[Cause] | None = None
) -> Reasoner:
    """Compile the rules and the conditions of some causes (default: all), for one job or many.

    Raises:
        KnowledgeError: a rule or condition is malformed; names it.
    """
    chosen = knowledge.causes.values() if causes is None else causes
    return Reasoner(
        knowledge.rules.values(),
        conditions(chosen),
        engine="reference" if engine == "reference" else "auto",
        observations=[s.id for s in knowledge.symptoms.values() if s.role == "observation"],
    )


def in_question(knowledge: Knowledge, seen: AbstractSet[str]) -> tuple[Cause, ...]:
    """Choose the causes a job can have: behind a symptom it shows, foreseeable, or suggested.

    The others need not be decided, which keeps the answer quick as the knowledge grows.
    """
    suggested = {
        action.suggest.cause
        for rule in knowledge.rules.values()
        for action in rule.then
        if action.suggest is not None
    }
    return tuple(
        cause
        for cause in knowledge.causes.values()
        if cause.foreseeable or cause.id in suggested or not seen.isdisjoint(cause.explains)
    )


def reason_on(
    facts: Iterable[Fact],
    versions: Mapping[str, str],
    knowledge: Knowledge,
    made: Reasoner,
) -> Reasoning:
    """Decide the version ranges the knowledge asks about, then reason."""
    wanted = version_tests(conditions(knowledge.causes.values()).values())
    return made.reason((*facts, *version_facts(wanted, versions)))
