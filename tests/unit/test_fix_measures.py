"""Measures that name a fact."""

from __future__ import annotations

from trainrx.fix.measures import measure_changes
from trainrx.model.facts import Fact, Facts, fact
from trainrx.model.knowledge import Measure

APPEND = Measure(kind="arg", param="++$hydra.append", action="add")
PLAIN = Measure(kind="hardware", param="host RAM", action="raise")


def _params(*facts: Fact) -> list[str]:
    return [change.param for change in measure_changes([APPEND, PLAIN], Facts(facts))]


def test_the_text_of_a_fact_takes_its_place() -> None:
    assert _params(fact("hydra.append", "trainer.x")) == ["++trainer.x", "host RAM"]


def test_a_measure_whose_fact_is_unknown_is_left_out() -> None:
    assert _params() == ["host RAM"]
