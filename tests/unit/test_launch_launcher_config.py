"""A configuration of accelerate that comes without the command it was given to."""

from __future__ import annotations

from trainrx.launch.given import Given
from trainrx.launch.job import find_launch
from trainrx.model.job import Input

TEXT = "distributed_type: DEEPSPEED\nmain_process_port: 0\ndeepspeed_config:\n  zero_stage: 3\n"


def config(text: str) -> Given:
    return Given(configs=(Input(kind="config", name="zero.yaml", text=text),))


def test_it_implies_a_launch_of_a_program_that_is_not_known() -> None:
    launch, unread = find_launch(config(TEXT))

    assert launch is not None
    assert (launch.framework, launch.configs) == ("accelerate", ("zero.yaml",))
    assert {item.name: item.values for item in launch.launcher}["main_process_port"] == ("0",)
    assert not launch.args_complete
    assert unread == ()


def test_any_other_mapping_implies_none() -> None:
    launch, unread = find_launch(config("name: x\nkeep: 3\n"))

    assert launch is None
    assert unread
