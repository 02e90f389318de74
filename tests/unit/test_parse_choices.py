from __future__ import annotations

import pytest

from trainrx.catalog.catalog import KnownArgument
from trainrx.catalog.names import meant_by, nearest_choice
from unit.workloads import knowledge

DTYPES = ("bfloat16", "float16", "float32", None)


def known(name: str, *choices: str | None) -> KnownArgument:
    return KnownArgument(name, "ms-swift", 1, "str", None, True, choices, ())


@pytest.mark.parametrize(
    ("value", "meant"), [("bf16", "bfloat16"), ("fp32", "float32"), ("half", "float16")]
)
def test_a_word_of_another_release_is_the_choice_that_means_the_same(
    value: str, meant: str
) -> None:
    params = knowledge().params

    assert meant_by(value, known("torch_dtype", *DTYPES), "ms-swift", params) == meant


def test_a_word_nobody_knows_is_not_guessed_at() -> None:
    params = knowledge().params

    assert meant_by("int8", known("torch_dtype", *DTYPES), "ms-swift", params) == ""


def test_a_slip_is_the_choice_beside_it() -> None:
    assert nearest_choice("gpro", ["dpo", "grpo"]) == "grpo"
    assert nearest_choice("GRPO", ["dpo", "grpo"]) == "grpo"
    assert nearest_choice("sft", ["dpo", "grpo"]) == ""
