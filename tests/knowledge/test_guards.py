"""Guards of frameworks: their examples, their messages, the arguments they speak of."""

from __future__ import annotations

import pytest

from trainrx import diagnose
from trainrx.catalog.catalog import plain
from trainrx.entries.guard_tests import guard_problems
from trainrx.knowledge.catalogs import read_catalog
from trainrx.knowledge.conditions import ARGUMENT, arguments_of
from trainrx.knowledge.guards import message
from trainrx.knowledge.load import load
from trainrx.model.guards import Guard

KNOWLEDGE = load()
GUARDS = tuple(KNOWLEDGE.guards.values())
LIBRARIES = ("transformers", "trl", "vllm", "accelerate")
"""Whose arguments a framework hands on under their own name."""


def _named(guard: Guard) -> set[str]:
    names = {name for fix in guard.fixes for name in (*fix.set, *fix.unset)}
    names |= set(arguments_of(guard.when)) if guard.when is not None else set()
    return {name.removeprefix(ARGUMENT) for name in names if name.startswith(ARGUMENT)}


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.id)
def test_arguments_a_guard_speaks_of_exist_in_some_release(guard: Guard) -> None:
    packages = (guard.package, *LIBRARIES)
    known = {plain(option.name) for name in packages for option in read_catalog(name)[1]}

    unknown = {name for name in _named(guard) if plain(name) not in known}

    assert unknown == set()


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.id)
def test_guard_judges_its_own_examples(guard: Guard) -> None:
    assert list(guard_problems(guard, KNOWLEDGE)) == []


@pytest.mark.parametrize(
    "guard",
    [g for g in GUARDS if g.effect == "reject" and g.samples is not None],
    ids=lambda guard: guard.id,
)
def test_message_of_a_refusal_is_diagnosed_as_such(guard: Guard) -> None:
    assert guard.samples is not None
    log = f"Traceback (most recent call last):\n{guard.samples.match[0]}\n"

    answer = diagnose(["-"], stdin=log.encode())

    assert message(guard) in {symptom.id for symptom in answer.symptoms}
    assert (guard.cause or guard.id) in {cause.id for cause in answer.causes}
