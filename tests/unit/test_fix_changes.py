"""Which parameters a framework has a word for."""

from __future__ import annotations

import pytest

from trainrx.fix.changes import Target, can_spell
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
