"""An edit of a long line is shown as the words it changes."""

from __future__ import annotations

import pytest

from trainrx.verdict.finding_causes import changed_words

LONG = "trl sft --model_name_or_path Qwen/Qwen2.5-0.5B --dataset_name a --eval_strategy step --bf16"


@pytest.mark.parametrize(
    ("after", "shown"),
    [
        (LONG.replace(" step ", " steps "), ("--eval_strategy step", "--eval_strategy steps")),
        (LONG.replace("--bf16", "--fp16"), ("--bf16", "--fp16")),
        (LONG + " --seed 1", ("", "--seed 1")),
        (LONG.replace(" --bf16", ""), (LONG, LONG.replace(" --bf16", ""))),
        (LONG.replace("trl", "python"), ("trl", "python")),
        (LONG, (LONG, LONG)),
    ],
)
def test_the_words_that_differ_are_shown(after: str, shown: tuple[str, str]) -> None:
    assert changed_words("    " + LONG, after) == shown


def test_a_short_line_is_shown_whole() -> None:
    assert changed_words("  cutoff_len: 2k  # x", "cutoff_len: 2048  # x") == (
        "cutoff_len: 2k  # x",
        "cutoff_len: 2048  # x",
    )
