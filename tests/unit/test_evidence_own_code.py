"""The last frame of the user's own code in a traceback."""

from __future__ import annotations

import pytest

from trainrx.evidence.lines import bare
from trainrx.evidence.own_code import OwnFrame, exception_of, own_facts, own_frame
from trainrx.model.job import Hit

PACKAGE = (
    '  File "/opt/venv/lib/python3.11/site-packages/trl/trainer/sft_trainer.py", line 400, in f'
)


def found_in(*lines: str) -> OwnFrame | None:
    return own_frame([bare(line) for line in reversed(lines)], lines)


def facts_of(own: OwnFrame) -> dict[str, object]:
    hit = Hit(symptom="x", source="a.log", line=9, text="KeyError: 'a'", own=tuple(own))
    return {item.kind: item.get("value") for item in own_facts(hit)}


def test_the_frame_nearest_to_the_exception_is_taken() -> None:
    found = found_in(
        "Traceback (most recent call last):",
        '  File "/home/me/train.py", line 44, in <module>',
        "    main()",
        '  File "/home/me/train.py", line 40, in main',
        "    steps = len(rows) // size",
        "            ~~~~~~~~~~^^~~~~~",
    )

    assert found == OwnFrame("train.py", 40, "steps = len(rows) // size", 0, 2)


def test_labels_of_ranks_are_no_code() -> None:
    found = found_in(
        '[rank1]:   File "/home/me/train.py", line 40, in main',
        "[rank1]:     print(best)",
    )

    assert found == OwnFrame("train.py", 40, "print(best)", 0, 1)


def test_frames_of_packages_below_are_counted_and_the_standard_library_is_not() -> None:
    found = found_in(
        '  File "/home/me/train.py", line 44, in <module>',
        "    SFTTrainer(model, data_collator='x')",
        PACKAGE,
        "    collator.pad",
        '  File "/usr/lib/python3.11/json/__init__.py", line 346, in loads',
        "    return d.decode(s)",
    )

    assert found is not None
    assert (found.line, found.below) == (44, 1)


@pytest.mark.parametrize(
    "path",
    [
        "/home/me/.cache/huggingface/modules/transformers_modules/phi/modeling_phi.py",
        "/home/me/unsloth_compiled_cache/UnslothSFTTrainer.py",
        "/opt/venv/lib/python3.11/site-packages/peft/peft_model.py",
        "/workspace/ms-swift/swift/cli/sft.py",
    ],
)
def test_code_nobody_here_wrote_is_not_the_users(path: str) -> None:
    assert found_in(f'  File "{path}", line 3, in f', "    x = y") is None


def test_a_call_right_above_is_refused_and_the_whole_job_is_not() -> None:
    call = facts_of(OwnFrame("train.py", 4, "SFTTrainer(model, 'x')", 1, 2))
    loop = facts_of(OwnFrame("train.py", 4, "trainer.train()", 1, 2))
    deep = facts_of(OwnFrame("train.py", 4, "SFTTrainer(model, 'x')", 3, 2))
    own = facts_of(OwnFrame("train.py", 4, "", 0, 0))
    unseen = facts_of(OwnFrame("train.py", 4, "", 1, 0))

    assert call["failure.own_call_refused"] is True
    assert [each["failure.own_call_refused"] for each in (loop, deep, own)] == [False] * 3
    assert "failure.own_call_refused" not in unseen
    assert own["failure.in_own_code"] is True
    assert call["failure.own_place"] == "train.py:4"


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("KeyError: 'answer'", "KeyError"),
        ("[rank0]: torch.OutOfMemoryError: CUDA out of memory.", "OutOfMemoryError"),
        ("AssertionError", "AssertionError"),
        ("    raise KeyError('a')", ""),
        ("loss is 3.0", ""),
    ],
)
def test_class_of_an_exception(line: str, name: str) -> None:
    assert exception_of(line) == name
