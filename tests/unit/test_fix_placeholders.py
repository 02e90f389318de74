"""What remedies leave open is filled in from the job, and never written where it is not known."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from trainrx import Diagnoser
from trainrx.fix.placeholders import filled, is_open
from trainrx.model.fixing import FixAnswer
from trainrx.model.result import Change

NOT_FOUND = "ValueError: path: '{model}' not found\n"


@cache
def diagnoser() -> Diagnoser:
    """Give one that has loaded its knowledge for all questions."""
    return Diagnoser()


def fixed(folder: Path, model: str) -> FixAnswer:
    """Ask what to change in a launch whose model folder is not there."""
    script, log = folder / "launch.sh", folder / "train.log"
    script.write_text(f"swift sft --model {model} --train_type lora --dataset d.jsonl\n")
    log.write_text(NOT_FOUND.format(model=model))
    return diagnoser().fix_launch(script, logs=[log])


def test_a_command_names_the_folder_of_the_launch(tmp_path: Path) -> None:
    found = fixed(tmp_path, "/data/models/Qwen2.5-7B")

    assert found.manual[0].commands == ("ls -l /data/models/Qwen2.5-7B/config.json",)


def test_a_value_nobody_told_is_not_written_but_shows_what_stands_there(tmp_path: Path) -> None:
    found = fixed(tmp_path, "/data/models/Qwen2.5-7B")

    assert (found.verdict, found.proposals) == ("manual", ())
    (change,) = found.manual[0].changes
    assert (change.to, change.from_) == (None, "/data/models/Qwen2.5-7B")
    assert change.spelled.startswith("--model ")


def test_a_name_of_a_hub_is_no_folder(tmp_path: Path) -> None:
    found = fixed(tmp_path, "Qwen/Qwen2.5-7B")

    assert found.manual[0].commands == ("ls -l <model folder>/config.json",)


@pytest.mark.parametrize(
    ("text", "left"),
    [("<model>_dist", False), ("<|im_end|>", False), ("<8", False), ("<your plugin.py>", True)],
)
def test_only_words_in_brackets_that_are_not_known_stay_open(text: str, left: bool) -> None:
    assert is_open(filled(text, {"model": "/m"})) is left


def test_what_a_remedy_takes_out_or_sets_is_shown_with_its_value_and_place(tmp_path: Path) -> None:
    (tmp_path / "train.yaml").write_text(
        "stage: sft\nper_device_train_batch_size: 0\nresume_from_checkpoint: out/checkpoint-5\n"
    )
    script, log = tmp_path / "launch.sh", tmp_path / "train.log"
    script.write_text("llamafactory-cli train train.yaml\n")

    def first(message: str) -> Change:
        log.write_text(f"Traceback (most recent call last):\n{message}\n")
        found = diagnoser().diagnose(script, logs=[log], versions={"llamafactory": "0.9.3"})
        return found.causes[0].fixes[0].changes[0]

    empty = first("ValueError: batch_size should be a positive integer value, but got batch_size=0")
    gone = first("ValueError: Can't find a valid checkpoint at out/checkpoint-5")

    assert (empty.from_, empty.to, empty.now) == ("0", "1", "set")
    assert (gone.action, gone.from_) == ("remove", "out/checkpoint-5")
    assert [str(one.at).rpartition("/")[2] for one in (empty, gone)] == [
        "train.yaml:2",
        "train.yaml:3",
    ]
