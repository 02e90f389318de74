from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from trainrx.fix.changes import Target
from trainrx.model.facts import Facts, Scalar, fact
from trainrx.model.knowledge import Amount
from trainrx.model.levers import Lever, LeverStep
from trainrx.model.parts import Condition, Reference
from trainrx.model.planning import Price
from trainrx.model.text import Text
from trainrx.prove.levers import moves_of
from unit.workloads import knowledge

SWIFT = {"launch.framework": "ms-swift", "launch.framework_version": "3.6.0"}


def lever(*steps: LeverStep, **more: Any) -> Lever:
    return Lever(
        schema=1,
        id="some-lever",
        title=Text(en="A lever", zh="一项改动"),
        why=Text(en="It helps", zh="有帮助"),
        since="0.1.0",
        updated="2026-11-21",
        steps=steps,
        references=(Reference(id="ref", kind="doc", url="https://example.com/a", says="so"),),
        **more,
    )


def step(**more: Any) -> LeverStep:
    return LeverStep(price=Price(), ref="ref", **more)


def job(facts: Mapping[str, Scalar]) -> Target:
    told = {**SWIFT, **facts}
    return Target(
        facts=Facts(fact(name, value) for name, value in told.items()),
        knowledge=knowledge(),
        versions={"ms-swift": "3.6.0"},
        style="arg",
        lang="en",
    )


HALVES = lever(
    step(set={"train.micro_batch": Amount(times=0.5, at_least=1)}),
    step(set={"train.micro_batch": Amount(times=0.25, at_least=1)}),
)


def test_steps_that_come_to_the_same_are_one() -> None:
    moves = moves_of(HALVES, job({"train.micro_batch": 2}))

    assert [move.values for move in moves] == [(("train.micro_batch", 1),)]
    assert moves[0].source == "https://example.com/a"


def test_a_value_that_holds_already_is_no_move() -> None:
    assert moves_of(HALVES, job({"train.micro_batch": 1})) == ()


def test_what_a_value_is_relative_to_must_be_known() -> None:
    assert moves_of(HALVES, job({})) == ()


def test_what_nobody_sets_is_at_its_least_default_where_the_release_is_unknown() -> None:
    """cutoff_len of LLaMA-Factory is 1024 before 0.9.1 and 2048 since."""
    halves = lever(step(set={"train.max_length": Amount(times=0.5)}))
    launch = {"launch.framework": "llamafactory", "launch.given": True, "launch.env_complete": True}

    assert [move.values for move in moves_of(halves, job(launch))] == [(("train.max_length", 512),)]
    told_elsewhere = {**launch, "launch.unresolved": "train.max_length"}
    assert moves_of(halves, job(told_elsewhere)) == ()


def test_a_pinned_parameter_is_not_touched() -> None:
    kept = frozenset({"train.micro_batch"})

    assert moves_of(HALVES, job({"train.micro_batch": 8}), kept) == ()


@pytest.mark.parametrize(
    ("more", "number"),
    [
        ({"when": Condition(fact="tuner.type", eq="full")}, 0),
        ({"when": Condition(fact="missing", eq="full")}, 0),
        ({"unless": Condition(fact="tuner.type", eq="lora")}, 0),
        ({"unless": Condition(fact="missing", eq="lora")}, 1),
        ({"frameworks": {"ms-swift": "<3.5"}}, 0),
        ({"frameworks": {"ms-swift": ">=3.5"}}, 1),
        ({"frameworks": {"trl": ""}}, 0),
    ],
)
def test_a_lever_is_for_the_jobs_it_names(more: dict[str, Any], number: int) -> None:
    pulled = lever(step(set={"train.gradient_checkpointing": True}), **more)

    assert len(moves_of(pulled, job({"tuner.type": "lora"}))) == number


def test_what_the_framework_has_no_word_for_is_no_move() -> None:
    assert moves_of(lever(step(set={"rlhf.fused_head": True})), job({})) == ()


def test_what_goes_along_is_set_where_there_is_a_word_for_it() -> None:
    pulled = lever(step(set={"train.liger": True}, also={"rlhf.fused_head": True, "tuner.rank": 8}))

    assert moves_of(pulled, job({}))[0].values == (("train.liger", True), ("tuner.rank", 8))


def test_a_count_below_one_is_no_move() -> None:
    fewer = Amount(fact="hardware.gpus_per_node", plus=-1)
    pulled = lever(step(set={"parallel.processes_per_node": fewer}))

    assert moves_of(pulled, job({"hardware.gpus_per_node": 1})) == ()
    assert len(moves_of(pulled, job({"hardware.gpus_per_node": 4}))) == 1
