from __future__ import annotations

import pytest

from trainrx.fix.changes import Target
from trainrx.model.facts import Facts, fact
from trainrx.prove.levers import beside_of
from unit.workloads import knowledge

PROCESSES = "parallel.processes_per_node"


def job(version="4.6.0", **facts):
    told = {
        "launch.framework": "ms-swift",
        "launch.framework_version": version,
        "model.name": "my models/Qwen",
        "hardware.gpus_per_node": 8,
        **{name.replace("__", "."): value for name, value in facts.items()},
    }
    return Target(
        facts=Facts(fact(name, value) for name, value in told.items() if value is not None),
        knowledge=knowledge(),
        versions={"ms-swift": version},
        style="arg",
        lang="en",
    )


def command(processes, **more):
    found = beside_of(knowledge().levers["engine-server"], {PROCESSES: processes}, job(**more))
    return None if found is None else found.command


@pytest.mark.parametrize(
    ("version", "option"),
    [("3.6.0", "--tensor_parallel_size 4"), ("4.6.0", "--vllm_tensor_parallel_size 4")],
)
def test_the_command_is_that_of_the_release(version, option):
    told = command(4, version=version)

    assert told == f"CUDA_VISIBLE_DEVICES=4,5,6,7 swift rollout --model 'my models/Qwen' {option}"


def test_devices_are_those_the_launch_names():
    told = command(2, parallel__visible_gpus="1,3,5")

    assert told is not None
    assert told.startswith("CUDA_VISIBLE_DEVICES=5 swift rollout")


@pytest.mark.parametrize(
    "more",
    [{"model__name": None}, {"hardware__gpus_per_node": None}, {"version": "3.2.1"}],
)
def test_a_command_that_cannot_be_written_is_none(more):
    assert command(4, **more) is None


def test_without_a_card_left_there_is_no_command():
    assert command(8) is None
