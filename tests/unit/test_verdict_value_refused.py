"""A value the program's own code refuses: the launch has it, lint knows the one that is meant."""

from __future__ import annotations

from pathlib import Path

from trainrx.api import diagnose

ENDS = "Traceback (most recent call last):\n{}\n"


def test_the_value_that_is_meant_is_set_where_the_launch_gives_the_refused_one(
    tmp_path: Path,
) -> None:
    config = tmp_path / "train.yaml"
    config.write_text("model_name_or_path: Qwen/Qwen2.5-7B\nstage: dpo\npref_loss: sigmod\n")
    log = tmp_path / "train.log"
    log.write_text(ENDS.format("NotImplementedError: Unknown loss type: sigmod."))

    first = diagnose(config=[config], logs=[log], framework="llamafactory").causes[0]

    assert first.id == "argument-value-refused"
    assert "pref_loss: sigmoid" in {change.to for fix in first.fixes for change in fix.changes}
