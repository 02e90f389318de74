"""Run the rules and conditions of the knowledge on the facts of a job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Literal

from trainrx.facts.all import version_facts
from trainrx.knowledge.conditions import arguments_of
from trainrx.knowledge.store import Knowledge
from trainrx.model.facts import Fact
from trainrx.model.knowledge import Cause, Rule
from trainrx.model.parts import Condition
from trainrx.reason.cause_conditions import conditions, fix_conditions, ranking_conditions
from trainrx.reason.conditions import Truth, version_tests
from trainrx.reason.reasoner import Reasoner, Reasoning

EngineName = Literal["durable", "reference"]


def reasoner(knowledge: Knowledge, engine: EngineName = "durable", *causes: Cause) -> Reasoner:
    """Compile all rules, or else the conditions of some causes, for any number of jobs.

    Raises:
        KnowledgeError: a rule or condition is malformed; names it.
    """
    if not causes:
        return _make(knowledge, engine, knowledge.rules.values(), {})
    return _make(knowledge, engine, (), conditions(causes))


def _make(
    knowledge: Knowledge,
    engine: EngineName,
    rules: Iterable[Rule],
    wanted: Mapping[str, Condition],
) -> Reasoner:
    return Reasoner(
        rules,
        wanted,
        engine="reference" if engine == "reference" else "auto",
        observations=[
            s.id
            for s in knowledge.symptoms.values()
            if s.role == "observation" or s.found_by is not None
        ],
    )


def in_question(
    knowledge: Knowledge, seen: AbstractSet[str], framework: str = ""
) -> tuple[Cause, ...]:
    """Choose the causes a job can have: behind a symptom it shows, suggested, or foreseeable.

    The others need not be decided, which keeps the answer quick as the knowledge grows. Checks that
    a framework makes of its own arguments do not concern the launch of another.
    """
    suggested = {
        action.suggest.cause
        for rule in knowledge.rules.values()
        for action in rule.then
        if action.suggest is not None
    }
    failed = any(knowledge.symptoms[name].is_failure for name in seen)
    return tuple(
        cause
        for cause in knowledge.causes.values()
        if (cause.foreseeable and not failed and not is_of_another(cause, knowledge, framework))
        or cause.id in suggested
        or not seen.isdisjoint(cause.explains)
    )


def is_of_another(cause: Cause, knowledge: Knowledge, framework: str) -> bool:
    """Tell whether a cause is a check that another framework makes of its own arguments."""
    guard = knowledge.guards.get(cause.id)
    if guard is None or guard.when is None or not arguments_of(guard.when):
        return False
    return guard.package != framework


class Reasoned:
    """One job: the rules and what decides the order at once, the conditions of fixes on demand.

    Raises:
        KnowledgeError: a rule or condition is malformed; names it.
    """

    def __init__(
        self,
        facts: Iterable[Fact],
        versions: Mapping[str, str],
        knowledge: Knowledge,
        causes: Iterable[Cause],
        engine: EngineName,
    ) -> None:
        self._knowledge = knowledge
        self._engine: EngineName = engine
        self._versions = versions
        self.result = self._run(facts, knowledge.rules.values(), ranking_conditions(causes))

    def fixes(self, causes: Iterable[Cause]) -> Mapping[str, Truth]:
        """Decide the conditions of the fixes of some causes."""
        return self._run(self.result.facts, (), fix_conditions(causes)).truths

    def possible(self, causes: Iterable[Cause]) -> Mapping[str, Truth]:
        """Decide what rules out, or speaks for, causes that were not in question."""
        return self._run(self.result.facts, (), ranking_conditions(causes)).truths

    def _run(
        self, facts: Iterable[Fact], rules: Iterable[Rule], wanted: Mapping[str, Condition]
    ) -> Reasoning:
        made = _make(self._knowledge, self._engine, rules, wanted)
        try:
            return made.reason(
                (*facts, *version_facts(version_tests(wanted.values()), self._versions))
            )
        finally:
            made.close()


def reason_on(
    facts: Iterable[Fact],
    versions: Mapping[str, str],
    causes: Iterable[Cause],
    made: Reasoner,
) -> Reasoning:
    """Decide the version ranges some causes ask about, then reason."""
    wanted = version_tests(conditions(causes).values())
    return made.reason((*facts, *version_facts(wanted, versions)))
