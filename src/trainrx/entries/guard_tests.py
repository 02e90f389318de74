"""Check the launches a guard names as examples: it must object to the one and not to the other."""

from __future__ import annotations

from collections.abc import Iterator

from trainrx.facts.all import derive
from trainrx.knowledge.guards import broken
from trainrx.knowledge.store import Knowledge
from trainrx.launch.config_kinds import classify_config
from trainrx.launch.given import Given
from trainrx.launch.job import argument_facts, find_launch, launch_facts, settle
from trainrx.model.facts import Facts, Origin, fact
from trainrx.model.job import Input
from trainrx.model.levers import Guard, GuardExamples
from trainrx.reason.conditions import holds


def guard_problems(guard: Guard, knowledge: Knowledge) -> Iterator[str]:
    """Give a line for each example the guard does not judge as it says."""
    condition = broken(guard)
    if condition is None or guard.examples is None:
        return
    told = guard.examples
    judged = {
        text: holds(condition, _facts(text, told, knowledge), told.versions)
        for text in (*told.violates, *told.keeps)
    }
    for text in told.violates:
        if judged[text] is not True:
            yield f"{guard.id}: does not object to {text.strip()[:160]!r}"
    for text in told.keeps:
        if judged[text] is True:
            yield f"{guard.id}: objects to {text.strip()[:160]!r}"
    if False not in (judged[text] for text in told.keeps):
        yield f"{guard.id}: no example is known to keep it"


def _facts(text: str, told: GuardExamples, knowledge: Knowledge) -> Facts:
    is_config = classify_config(text) is not None
    item = Input(kind="config" if is_config else "script", name="example", text=text)
    given = Given(configs=(item,)) if is_config else Given(scripts=(item,))
    here = Origin(source="example")
    known = [fact(name, value, here, how="given") for name, value in told.facts.items()]
    raw, _ = find_launch(given)
    if raw is None:
        return Facts(known)
    launch = settle(raw, given, versions=told.versions, knowledge=knowledge)
    own = (*launch_facts(launch, told.versions), *argument_facts(launch, knowledge.arguments))
    return derive((*known, *own), knowledge, launch.shape)
