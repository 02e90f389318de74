"""How lint words what a framework refuses."""

from __future__ import annotations

from trainrx.linter.finders.conditions import shown
from trainrx.model.facts import fact


def test_names_the_settings_that_decided_and_no_fact_of_the_guard_itself():
    decided = [
        fact("guard.processes_fit_gpus", False, how="derived"),
        fact("rlhf.num_generations", 8, how="read"),
    ]

    assert shown(decided) == "rlhf.num_generations = 8"
    assert shown(decided[:1]) == ""
