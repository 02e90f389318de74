"""What can still be found out, and what each outcome does to the causes."""

from __future__ import annotations

from collections.abc import Sequence

import entries
from entries import vote

from trainrx.model.facts import Fact, Facts, fact
from trainrx.model.knowledge import Cause
from trainrx.reason.conditions import Situation
from trainrx.reason.observations import Observables, Observation, observations
from trainrx.reason.order import candidates
from trainrx.reason.outcomes import RULED_OUT
from trainrx.reason.reasoner import Reasoning
from trainrx.versions.listing import ALWAYS_BESIDE_TORCH


def seen(
    causes: Sequence[Cause], *facts: Fact, versions: dict[str, str] | None = None
) -> dict[str, Observation]:
    reasoning = Reasoning(
        situation=Situation(Facts(facts), versions or {}, {}),
        suggestions=(),
        explanations=(),
        asks=(),
        firings=(),
        engine_name="",
        notes=(),
    )
    table = {item.id: item for item in causes}
    scored = candidates(table, reasoning, active={"cuda-oom"}, failed=True, lang="en")
    observables = Observables(entries.knowledge(table))
    return {one.name: one for one in observations(scored, reasoning, observables)}


def shifts(one: Observation, cause: str = "a") -> dict[str, float]:
    pairs = zip(one.told, one.outcomes, strict=True)
    return {told: outcome[cause] for told, outcome in pairs}


def by(when: dict[str, object], weight: float = 2.0, **more: object) -> Cause:
    return entries.cause("a", [vote("v", weight, when)], **more)


def test_a_switch_comes_out_one_way_or_the_other() -> None:
    found = seen([by({"fact": "x", "eq": True})])

    assert shifts(found["x"]) == {"yes": 2.0, "no": 0.0}


def test_what_is_known_is_no_observation() -> None:
    assert seen([by({"fact": "x", "eq": True})], fact("x", False)) == {}


def test_a_number_is_tried_below_at_and_above_the_bounds_that_conditions_name() -> None:
    found = seen([by({"all": [{"fact": "x", "ge": 4}, {"fact": "x", "lt": 8}]})])

    assert sorted(shifts(found["x"]).values()) == [0.0, 2.0]


def test_a_word_may_be_another_than_those_named() -> None:
    found = seen([by({"fact": "x", "one_of": ["fp16", "bf16"]})])

    assert shifts(found["x"]) == {"fp16": 2.0, "": 0.0}


def test_a_release_lies_in_a_range_or_not() -> None:
    found = seen([by({"package": "torch", "versions": ">=2.4,<2.6"})])

    assert sorted(shifts(found["version.torch"]).values()) == [0.0, 2.0]
    assert seen([by({"package": "torch", "versions": "<2"})], versions={"torch": "2.6.0"}) == {}


def test_an_outcome_can_rule_a_cause_out() -> None:
    cause = entries.cause("a", [], requires={"not": {"fact": "cards", "eq": 1}})

    assert RULED_OUT in shifts(seen([cause])["cards"]).values()


def test_what_changes_nothing_is_no_observation() -> None:
    held = {"any": [{"fact": "y", "eq": True}, {"fact": "x", "eq": True}]}

    assert seen([by(held)], fact("y", True)) == {}


def test_parts_of_a_vote_that_cannot_be_decided_alone_are_no_observation() -> None:
    both = {"all": [{"fact": "x", "eq": True}, {"fact": "y", "eq": True}]}

    assert seen([by(both)]) == {}
    assert set(seen([by(both)], fact("y", True))) == {"x"}


def test_only_the_causes_that_ask_are_moved() -> None:
    causes = [by({"fact": "x", "eq": True}), entries.cause("b", [])]

    assert all(set(outcome) == {"a"} for outcome in seen(causes)["x"].outcomes)


def test_nothing_is_asked_of_what_the_job_has_nothing_to_do_with() -> None:
    names = (
        "vision.pixels_capped",
        "parallel.fsdp_version",
        "parallel.zero_stage",
        "advice.missing",
    )
    votes = [vote(name, 2.0, {"fact": name, "eq": True}) for name in names]
    causes = [entries.cause("a", votes), entries.cause("b", ())]
    whole = dict.fromkeys(ALWAYS_BESIDE_TORCH | {"torch"}, "2.6.0")
    known = (
        fact("model.is_vision", False),
        fact("launch.given", True),
        fact("log.given", True),
    )

    open_ = seen(causes)
    left = seen(causes, *known, versions=whole)
    sharded = seen(causes, *known, fact("accelerate.fsdp_config", True), versions=whole)

    assert {*open_} == {*names}
    assert left == {}
    assert {*sharded} == {"parallel.fsdp_version"}


def test_a_release_that_a_whole_list_lacks_is_not_asked_for() -> None:
    votes = [vote("old", 2.0, {"package": "vllm", "versions": "<0.6"})]
    causes = [entries.cause("a", votes), entries.cause("b", ())]
    whole = dict.fromkeys(ALWAYS_BESIDE_TORCH | {"torch"}, "2.6.0")

    assert {*seen(causes, versions={"torch": "2.6.0"})} == {"version.vllm"}
    assert seen(causes, versions=whole) == {}


def test_what_a_traceback_or_a_whole_list_leaves_open_is_not_asked_for_again() -> None:
    names = ("failure.in_own_code", "packages.trl_place")
    votes = [vote(name, 2.0, {"fact": name, "eq": True}) for name in names]
    causes = [entries.cause("a", votes), entries.cause("b", ())]
    whole = dict.fromkeys(ALWAYS_BESIDE_TORCH | {"torch"}, "2.6.0")

    assert {*seen(causes)} == {*names}
    assert {*seen(causes, fact("failure.error", "KeyError"))} == {"packages.trl_place"}
    assert {*seen(causes, versions=whole)} == {"failure.in_own_code"}
