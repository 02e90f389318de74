"""What a note tells of a setting is known, and neither of two that it compares."""

from __future__ import annotations

import pytest

from trainrx.api import diagnose


@pytest.mark.parametrize(
    ("note", "precision"),
    [
        ("we use bf16, loss is nan after 20 steps", "bf16"),
        ("loss 变成 nan，使用bf16训练", "bf16"),
        ("training in fp16, loss is nan", "fp16"),
        ("loss is nan when training in fp16, in bf16 it is fine", None),
        ("loss is nan after 20 steps", None),
    ],
)
def test_the_precision_a_note_tells_is_known(note, precision):
    assert diagnose(note=note).facts.get("train.precision") == precision


def test_what_a_note_tells_is_not_advised():
    answer = diagnose(note="we use bf16, loss is nan after 20 steps", framework="ms-swift", top=20)

    changes = {c.spelled for cause in answer.causes for fix in cause.fixes for c in fix.changes}
    assert not {text for text in changes if "bfloat16" in text or "bf16 true" in text}
    assert "train.precision" not in {ask.id for ask in answer.asks}


def test_a_launch_says_more_than_a_note():
    launch = "swift sft --model Qwen/Qwen2.5-7B-Instruct --dataset a --torch_dtype float16"

    answer = diagnose(cmd=launch, note="we use bf16, loss is nan")

    assert answer.facts["train.precision"] == "fp16"
