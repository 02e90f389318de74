"""Every lever can be pulled by somebody, and names only levers that exist."""

from __future__ import annotations

import pytest

from trainrx.knowledge.load import load
from trainrx.model.levers import Lever

LEVERS = load(launches=True).levers
PARAMS = load(launches=True).params


@pytest.mark.parametrize("lever", LEVERS.values(), ids=LEVERS)
def test_some_framework_has_a_word_for_each_step(lever: Lever) -> None:
    for step in lever.steps:
        words = [set(PARAMS[name].spelled) for name in step.set]

        assert set.intersection(*words), step.set


@pytest.mark.parametrize("lever", LEVERS.values(), ids=LEVERS)
def test_excluded_levers_exist(lever: Lever) -> None:
    assert set(lever.excludes) <= set(LEVERS)


@pytest.mark.parametrize("lever", LEVERS.values(), ids=LEVERS)
def test_each_price_has_a_source_that_was_opened(lever: Lever) -> None:
    sources = {ref.id: ref for ref in lever.references}

    assert all(sources[step.ref].checked for step in lever.steps)


def test_training_another_kind_of_model_is_the_dearest() -> None:
    worst = {lever.id for lever in LEVERS.values() for s in lever.steps if s.price.quality == 3}

    assert worst == {"lora"}
