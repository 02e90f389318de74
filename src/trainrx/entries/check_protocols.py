"""Rules for protocols: each step asks something, names what its outcomes mean, and has a source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from trainrx.entries.check_common import (
    KnownNames,
    condition_problems,
    head_problems,
    question_problems,
    text_problems,
    unused_references,
)
from trainrx.entries.problem import Problem, error
from trainrx.model.facts import SYMPTOM
from trainrx.model.parts import Condition
from trainrx.model.protocols import Protocol, ProtocolStep, StepOutcome
from trainrx.reason.questions import WHOLE

OWN = (*WHOLE, "versions")
"""Questions for whole inputs."""
YES_NO = {"yes", "no"}


def protocol_problems(entry: Protocol, stem: str, names: KnownNames) -> Iterator[Problem]:
    """List what is wrong with a protocol that lies in `protocols/<stem>.yaml`."""
    yield from head_problems(entry, stem, names)
    yield from unused_references(entry.references, {step.ref for step in entry.steps})
    yield from _conditions(entry.when, entry.unless, "", names)
    if not entry.steps:
        yield error("steps", "needs at least one step")
    for ident, count in Counter(map(entry.question, entry.steps)).items():
        if count > 1:
            yield error("steps", f"{ident} is asked twice")
    for ident, step in entry.own.items():
        if names.is_fact(ident):
            yield error(f"steps.{step.id}.id", f"{ident} is the name of a fact")
    refs = {reference.id for reference in entry.references}
    for index, step in enumerate(entry.steps):
        key = f"steps.{step.id}" if step.id else f"steps[{index}]"
        yield from _conditions(step.when, step.unless, f"{key}.", names)
        yield from _borrowed(step, key, names) if step.ask else _own(step, key, refs, names)


def _conditions(
    when: Condition | None, unless: Condition | None, key: str, names: KnownNames
) -> Iterator[Problem]:
    for name, condition in (("when", when), ("unless", unless)):
        if condition is not None:
            yield from condition_problems(f"{key}{name}", condition, names)


def _borrowed(step: ProtocolStep, key: str, names: KnownNames) -> Iterator[Problem]:
    """Refuse a question of elsewhere that is not there, or that is asked in other words here."""
    if not _is_question(step.ask, names):
        yield error(f"{key}.ask", f"{step.ask!r} is no question: launch, log, versions, a fact")
    if step.id or step.question or step.command or step.outcomes:
        yield error(key, "has an `ask`, so its words stand there")


def _is_question(ident: str, names: KnownNames) -> bool:
    if ident.startswith(SYMPTOM):
        return ident.removeprefix(SYMPTOM) in names.symptoms
    return ident in OWN or names.is_fact(ident)


def _own(step: ProtocolStep, key: str, refs: set[str], names: KnownNames) -> Iterator[Problem]:
    if step.question is None:
        yield error(f"{key}.question", "is missing: ask something, or name what does (`ask`)")
    yield from question_problems(f"{key}.question", step.question)
    yield from text_problems((f"{key}.how", step.how))
    if not step.command and step.how is None and step.answer == "output":
        yield error(key, "says neither what to run nor how to find out")
    if step.ref not in refs:
        yield error(f"{key}.ref", f"no reference {step.ref!r}: every step needs its source")
    told = {outcome.id for outcome in step.outcomes}
    if step.answer == "yes_no" and told != YES_NO:
        yield error(f"{key}.outcomes", "a question of yes or no has the outcomes yes and no")
    if len(told) != len(step.outcomes) or len(told) == 1:
        yield error(f"{key}.outcomes", "need at least two, each with an id of its own")
    for other in step.answers:
        if not _is_question(other, names):
            yield error(f"{key}.answers", f"{other!r} is no question")
    for outcome in step.outcomes:
        yield from _outcome(outcome, f"{key}.outcomes.{outcome.id}", names)


def _outcome(outcome: StepOutcome, key: str, names: KnownNames) -> Iterator[Problem]:
    yield from text_problems((f"{key}.reads", outcome.reads), (f"{key}.then", outcome.then))
    if not outcome.causes and not outcome.facts and outcome.then is None:
        yield error(key, "means nothing: name causes or facts, or say what follows")
    for name in outcome.causes:
        if name not in names.causes:
            yield error(f"{key}.causes", f"no cause {name!r}")
    for name in outcome.facts:
        if not names.is_fact(name):
            yield error(f"{key}.facts", f"no fact {name!r}")
