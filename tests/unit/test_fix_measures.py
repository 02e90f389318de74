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


def test_the_value_may_be_told_by_a_fact_too() -> None:
    told = Measure(kind="arg", param="$advice.setting", action="set", to="$advice.value")
    facts = Facts([fact("advice.setting", "use_cache"), fact("advice.value", "False")])

    (change,) = measure_changes([told], facts)

    assert (change.param, change.to) == ("use_cache", "False")
    assert not list(measure_changes([told], Facts([fact("advice.setting", "use_cache")])))
