"""Which framework a post is about, where no launch and no log says it."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainrx import diagnose
from trainrx.launch.prose.framework import framework_meant
from trainrx.model.job import NOTE, Input


def meant(text: str, **versions: str) -> str | None:
    notes = [Input(kind="note", name=NOTE, text=text)] if text else []
    listed = {name.replace("_", "-"): version for name, version in versions.items()}
    found = framework_meant(notes, listed)
    return None if found is None else f"{found.name} {found.version}".strip()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("GRPO with TRL hangs after the first step", "trl"),
        ("用 LLaMA-Factory 微调 Qwen3 时报错", "llamafactory"),
        ("swift sft 训练 OOM，ms-swift 里怎么设置？", "ms-swift"),
        ("DeepSpeed: Muon gives NaN in fp16", "deepspeed"),
        ("It hangs in verl/workers/fsdp_workers.py", "verl"),
        ("It also fires with `UNSLOTH_COMPILE_DISABLE=1`.", "unsloth"),
        ("With trl the flag UNSLOTH_COMPILE_DISABLE does nothing", "trl"),
        ("My training is slow.", None),
        ("A swiftly written loop, untrl-ed", None),
    ],
)
def test_people_name_what_they_train_with(text: str, wanted: str | None) -> None:
    assert meant(text) == wanted


def test_what_the_others_are_the_ground_of_counts() -> None:
    assert meant("", ms_swift="3.7.0", trl="0.19.0", transformers="4.53.0") == "ms-swift 3.7.0"
    assert meant("transformers 4.53, unsloth and trl are the newest") == "unsloth"
    assert meant("axolotl with deepspeed zero3, axolotl hangs") == "axolotl"


def test_of_two_equals_neither_is_meant() -> None:
    assert meant("I tried axolotl and llamafactory") is None
    assert meant("", verl="0.5.0", llamafactory="0.9.3") is None


def test_words_go_before_a_listing() -> None:
    assert meant("verl hangs", verl="0.5.0", llamafactory="0.9.3") == "verl 0.5.0"


def test_a_note_names_the_framework_of_an_answer_and_an_option_overrules_it() -> None:
    note = "The job with verl hangs at the start."

    assert diagnose(note=note).job.framework == "verl"
    assert diagnose(note=note, framework="trl").job.framework == "trl"


def test_what_is_only_installed_does_not_run_a_program_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "freeze.txt").write_text("llamafactory==0.9.3\ntorch==2.5.1\nnumpy==1.26.0\n")
    (tmp_path / "own.sh").write_text("torchrun --nproc_per_node 2 train.py --epochs 3\n")
    (tmp_path / "train.log").write_text("CUDA out of memory. Tried to allocate 2.00 GiB.\n")
    given = {"logs": tmp_path / "train.log", "versions": tmp_path / "freeze.txt"}

    assert diagnose(cmd=tmp_path / "own.sh", **given).job.framework != "llamafactory"
    assert diagnose(**given).job.framework == "llamafactory"
