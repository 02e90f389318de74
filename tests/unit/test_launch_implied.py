"""A script of bare arguments, as people paste them, is read as its framework's."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainrx import diagnose
from trainrx.model.result import Diagnosis

SFT = "--model Qwen/Qwen2.5-7B-Instruct \\\n--deepspeed zero3 \\\n--max_length 2048\n"


def asked(tmp_path: Path, text: str, framework: str | None) -> Diagnosis:
    path = tmp_path / "launch.sh"
    path.write_text(text, encoding="utf-8")
    return diagnose(cmd=path, note="it runs out of memory", framework=framework)


@pytest.mark.parametrize(
    ("framework", "text", "fact", "value"),
    [
        ("ms-swift", SFT, "parallel.zero_stage", 3),
        ("ms-swift", "# mine\n\n" + SFT, "parallel.zero_stage", 3),
        ("ms-swift", "--rlhf_type dpo --max_length 2048", "rlhf.type", "dpo"),
        ("llamafactory", "--stage sft --cutoff_len 4096", "train.max_length", 4096),
        (
            "verl",
            "data.train_batch_size=16 \\\ndata.max_prompt_length=512",
            "rlhf.max_prompt_length",
            512,
        ),
    ],
)
def test_bare_arguments_are_those_of_the_framework_named(
    tmp_path: Path, framework: str, text: str, fact: str, value: object
) -> None:
    said = asked(tmp_path, text, framework)

    assert said.facts[fact] == value
    assert any("no program stands before" in item.reason for item in said.unread)


@pytest.mark.parametrize("framework", [None, "trl", "axolotl"])
def test_nothing_is_made_up_where_the_program_is_not_known(
    tmp_path: Path, framework: str | None
) -> None:
    said = asked(tmp_path, SFT, framework)

    assert "parallel.zero_stage" not in said.facts
    assert any("no training command" in item.reason for item in said.unread)


@pytest.mark.parametrize("text", ["hello\n--model x", "-----\n", "--", "a.b = c", "$X --model"])
def test_other_text_is_no_list_of_arguments(tmp_path: Path, text: str) -> None:
    said = asked(tmp_path, text, "ms-swift")

    assert not any("no program stands before" in item.reason for item in said.unread)


def test_lines_keep_their_numbers(tmp_path: Path) -> None:
    said = asked(tmp_path, SFT, "ms-swift")

    cited = [at for c in said.causes for f in c.fixes for ch in f.changes if (at := ch.at)]
    assert all(at.line in (1, 2, 3) for at in cited)
