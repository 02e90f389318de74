"""What cannot be placed is left, with the reason; never a wrong edit."""

from __future__ import annotations

import pytest
from patching import change, patch_text, removal

from trainrx.model.result import Change


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        (change("torch", ">=2.4", kind="package", action="upgrade"), "packages are installed"),
        (change("gpus", "8", kind="hardware"), "machines"),
        (change("max_length", None), "worked out"),
        (change("max_length", "1\n2"), "several lines"),
        (change("a b", "1"), "not the name"),
    ],
)
def test_change_that_is_no_edit_is_left_with_the_reason(wanted: Change, reason: str) -> None:
    done = patch_text("swift sft --model m --max_length 5\n", wanted)

    assert not done.files
    assert reason in done.left[0].reason
    assert done.left[0].change == wanted


@pytest.mark.parametrize(
    "script",
    [
        # the name of the flag is put together at run time
        "NAME=max_length\nswift sft --model m --$NAME 5\n",
        # what a program prints
        "swift sft --model m $(python flags.py --max_length 5)\n",
        'swift sft --model m $(echo "--max_length 5")\n',
    ],
)
def test_flag_that_is_not_written_out_is_not_touched(script: str) -> None:
    done = patch_text(script, removal("max_length"))

    assert not done.files


def test_values_from_an_unknown_source_are_replaced_at_the_flag() -> None:
    done = patch_text("swift sft --model m --max_length $1\n", change("max_length", "5"))

    assert done.files[0].after == "swift sft --model m --max_length 5\n"


def test_one_change_that_fails_does_not_undo_the_others() -> None:
    good, bad = change("max_length", "5"), change("gpus", "8", kind="hardware")

    done = patch_text("swift sft --max_length 9\n", bad, good)

    assert done.files[0].after == "swift sft --max_length 5\n"
    assert [item.change for item in done.left] == [bad]


def test_removal_that_would_change_another_launch_is_left() -> None:
    script = "export A=1\nswift sft --model m\nswift sft --model other\n"

    done = patch_text(script, removal("A", kind="env"))

    assert not done.files
    assert "A" in done.left[0].reason


def test_manifest_is_left() -> None:
    text = (
        "apiVersion: batch/v1\nkind: Job\nspec:\n  template:\n    spec:\n      containers:\n"
        "      - name: a\n        command: [bash, -c]\n        args:\n        - |\n"
        "          swift sft --model m --max_length 5\n"
    )
    from trainrx.fix.patch import patch_launch
    from trainrx.model.facts import Origin
    from trainrx.model.job import RawLaunch
    from trainrx.shell import read_script

    origin = Origin(source="job.yaml", line=11)
    launch = RawLaunch(framework="ms-swift", command="sft", args=(), env=(), origin=origin)

    done = patch_launch(launch, read_script(text, "job.yaml"), {}, [change("max_length", "4")])

    assert not done.files
    assert done.left
