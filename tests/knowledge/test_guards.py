"""Guards of frameworks: their examples, their messages, the arguments they speak of."""

from __future__ import annotations

from collections.abc import Iterator

from trainrx import diagnose
from trainrx.catalog.catalog import plain
from trainrx.entries.launch_tests import guard_problems
from trainrx.entries.tests import CauseTest, Expectation, PreparedRules
from trainrx.knowledge.catalogs import read_catalog
from trainrx.knowledge.conditions import ARGUMENT, arguments_of
from trainrx.knowledge.guards import message
from trainrx.knowledge.load import load
from trainrx.model.job import Input
from trainrx.model.levers import Guard

KNOWLEDGE = load()
GUARDS = tuple(KNOWLEDGE.guards.values())
REFUSALS = [g for g in GUARDS if g.effect == "reject" and g.samples is not None]
LIBRARIES = ("transformers", "trl", "vllm", "accelerate")
"""Whose arguments a framework hands on under their own name."""


def _named(guard: Guard) -> set[str]:
    names = {name for fix in guard.fixes for name in (*fix.set, *fix.unset)}
    names |= set(arguments_of(guard.when)) if guard.when is not None else set()
    return {name.removeprefix(ARGUMENT) for name in names if name.startswith(ARGUMENT)}


def test_arguments_a_guard_speaks_of_exist_in_some_release() -> None:
    names = {
        package: {plain(option.name) for option in read_catalog(package)[1]}
        for package in {*LIBRARIES, *(guard.package for guard in GUARDS)}
    }

    unknown = {
        (guard.id, name)
        for guard in GUARDS
        for name in _named(guard)
        if not any(plain(name) in names[package] for package in (guard.package, *LIBRARIES))
    }

    assert unknown == set()


def test_each_guard_judges_its_own_examples() -> None:
    assert [line for guard in GUARDS for line in guard_problems(guard, KNOWLEDGE)] == []


def test_the_message_of_each_refusal_is_read_and_its_cause_present() -> None:
    rules = PreparedRules(KNOWLEDGE)

    wrong = [line for guard in REFUSALS for line in _not_diagnosed(guard, rules)]

    rules.close()
    assert len(REFUSALS) > 200
    assert wrong == []


def _not_diagnosed(guard: Guard, rules: PreparedRules) -> Iterator[str]:
    """Say what is not concluded from a log that ends with the message of a guard."""
    log = f"Traceback (most recent call last):\n{_message(guard)}\n"
    seen = rules.detector.detect([Input(kind="log", name="train.log", text=log)])
    if message(guard) not in {hits.symptom for hits in seen.symptoms}:
        yield f"{guard.id}: its message is not read"
    case = CauseTest(name=guard.id, log=log, expect=Expectation(verdict="present"))
    problems = rules.cause(KNOWLEDGE.causes[guard.cause or guard.id], [case])
    # that a cause wants a case of each verdict is asked of its own file
    yield from (line for line in problems if f": {guard.id}: " in line)


def test_a_refusal_of_each_package_is_diagnosed_from_its_message_alone() -> None:
    one_each = {guard.package: guard for guard in REFUSALS}

    answers = {
        package: (guard, diagnose(["-"], stdin=f"{_message(guard)}\n".encode()))
        for package, guard in one_each.items()
    }

    for guard, answer in answers.values():
        assert message(guard) in {symptom.id for symptom in answer.symptoms}
        assert (guard.cause or guard.id) in {cause.id for cause in answer.causes}


def _message(guard: Guard) -> str:
    assert guard.samples is not None
    return guard.samples.match[0]
