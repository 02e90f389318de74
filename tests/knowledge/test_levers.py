"""Every lever can be pulled by somebody, and names only levers that exist."""

from __future__ import annotations

from trainrx.knowledge.load import load

LEVERS = load(launches=True).levers
PARAMS = load(launches=True).params


def test_some_framework_has_a_word_for_each_step_of_a_lever() -> None:
    unspoken = [
        (lever.id, step.set)
        for lever in LEVERS.values()
        for step in lever.steps
        if not set.intersection(*(set(PARAMS[name].spelled) for name in step.set))
    ]

    assert unspoken == []


def test_excluded_levers_exist() -> None:
    assert {name for lever in LEVERS.values() for name in lever.excludes} <= set(LEVERS)


def test_each_price_has_a_source_that_was_opened() -> None:
    unopened = [
        (lever.id, step.ref)
        for lever in LEVERS.values()
        for step in lever.steps
        if not {ref.id: ref for ref in lever.references}[step.ref].checked
    ]

    assert unopened == []


def test_training_another_kind_of_model_is_the_dearest() -> None:
    worst = {lever.id for lever in LEVERS.values() for s in lever.steps if s.price.quality == 3}

    assert worst == {"lora"}
