"""Which parameters a framework has a word for."""

from __future__ import annotations

import pytest

from trainrx.fix.changes import Target, _is_below, can_spell
from trainrx.fix.constraints import applied
from trainrx.model.facts import Facts, fact
from unit.workloads import knowledge


def _job(*, offloaded: bool) -> Target:
    told = {"launch.framework": "openrlhf", "launch.framework_version": "0.8.11"}
    return Target(
        facts=Facts(
            [
                *(fact(name, value) for name, value in told.items()),
                fact("parallel.optimizer_offload", offloaded),
            ]
        ),
        knowledge=knowledge(),
        versions={"openrlhf": "0.8.11"},
        style="arg",
        lang="en",
    )


@pytest.mark.parametrize("offloaded", [True, False])
def test_a_switch_can_be_put_on_and_not_written_off(*, offloaded: bool) -> None:
    job = _job(offloaded=offloaded)

    assert can_spell("parallel.optimizer_offload", job, wanted=True)
    assert not can_spell("parallel.optimizer_offload", job, wanted=False)


@pytest.mark.parametrize(
    ("present", "spec", "upgrade"),
    [
        (None, ">=2", True),
        (None, "~=2.1", True),
        (None, "<2", False),
        (None, "==2.0", False),
        ("3.0", "<2", False),
        ("1.0", ">=2", True),
    ],
)
def test_a_range_with_a_lower_bound_is_an_upgrade_unless_only_its_upper_one_is_broken(
    present, spec, upgrade
):
    assert _is_below(present, spec) is upgrade


@pytest.mark.parametrize(("word", "stage"), [("zero3", 3), ("zero2_offload", 2), ("none", None)])
def test_a_configuration_of_deepspeed_brings_its_stage(word, stage):
    after = applied(Facts(), {"parallel.deepspeed": word})

    assert after.value("parallel.zero_stage") == stage
