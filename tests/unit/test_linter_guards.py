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


def test_what_nobody_set_is_not_said_to_be_empty_or_off():
    decided = [
        fact("arg.dataset", "", how="default"),
        fact("arg.load_data_args", False, how="default"),
        fact("arg.streaming", False, how="read"),
    ]

    assert shown(decided) == "streaming = false"
