"""What fix answers where something that decides the memory of a launch is not known."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec
import pytest

from trainrx import Diagnoser
from trainrx.model.fixing import FixAnswer, FixedCause, Proposal
from trainrx.render import render
from trainrx.render.document import View

LAUNCH = (
    "NPROC_PER_NODE=1 swift sft --model Qwen/Qwen2.5-1.5B-Instruct --train_type lora "
    "--dataset d.jsonl --torch_dtype bfloat16 --per_device_train_batch_size {micro} "
    "--gradient_accumulation_steps 2"
)


@cache
def diagnoser() -> Diagnoser:
    """Give one that has loaded its knowledge for all questions."""
    return Diagnoser()


def fixed(folder: Path, micro: int, more: str = "", **inputs: object) -> FixAnswer:
    """Ask what to change in a launch of this micro-batch on a card of 24 GiB."""
    path = folder / "launch.sh"
    path.write_text(f"{LAUNCH.format(micro=micro)}{more}\n", encoding="utf-8")
    return diagnoser().fix_launch(path, gpu="24GiB", **inputs)  # type: ignore[arg-type]


def test_a_launch_likely_too_large_gets_plans_that_name_the_length_they_assume(tmp_path):
    found = fixed(tmp_path, micro=8)

    assert found.verdict == "checked"
    first = found.proposals[0]
    assert first.changes
    (said,) = first.assumes
    assert "2048 tokens" in said
    assert "32768" in said
    assert "--max_length" in said


def test_with_the_length_in_the_launch_only_the_interval_keeps_a_plan_from_being_proved(tmp_path):
    found = fixed(tmp_path, micro=8, more=" --max_length 2048")

    first = found.proposals[0]
    assert (found.verdict, first.assumes) == ("checked", ())
    assert first.predicted is not None
    assert first.predicted.high_gib > first.predicted.limit_gib
    assert [text.partition(":")[0] for text in first.lacks] == ["memory"]


@pytest.mark.parametrize(("lang", "word"), [("en", "would tell"), ("zh", "即可确定")])
def test_a_launch_that_rather_fits_is_unknown_and_says_what_would_tell(tmp_path, lang, word):
    found = fixed(tmp_path, micro=2, lang=lang)

    assert (found.verdict, found.proposals) == ("unknown", ())
    assert found.no_plan is not None
    assert found.no_plan.kind == "unknown"
    assert "--max_length" in found.no_plan.reason
    assert word in found.no_plan.reason


def test_a_plan_names_the_packages_a_whole_list_does_not_have(tmp_path):
    whole = ("filelock", "fsspec", "jinja2", "networkx", "sympy", "typing-extensions")
    versions = {"torch": "2.6.0", "ms-swift": "3.2.1", **dict.fromkeys(whole, "1.0")}

    found = fixed(tmp_path, micro=8, more=" --max_length 2048", versions=versions)

    asked = [(item.changes, item.needs) for item in found.proposals]
    needing = [needs for changes, needs in asked if any("liger" in one.param for one in changes)]
    assert needing
    assert all([need.package for need in needs][:1] == ["liger-kernel"] for needs in needing)


def test_plans_start_from_the_launch_as_lint_mends_it(tmp_path):
    path, log = tmp_path / "launch.sh", tmp_path / "train.log"
    path.write_text(
        "swift sft --model Qwen/Qwen2.5-1.5B-Instruct --train_type lora --dataset d.jsonl \\\n"
        "  --max_length 2048 --torch_dtype bfloat16 \\\n  # --foo 1 \\\n"
        "  --per_device_train_batch_size 8 --gradient_accumulation_steps 1\n",
        encoding="utf-8",
    )
    log.write_text("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9.27 GiB.\n")

    found = diagnoser().fix_launch(
        path, logs=[log], gpu="24GiB", gpus=1, versions={"ms-swift": "3.2.1"}
    )

    first = found.proposals[0]
    assert first.refused == ()
    assert first.batch.before == 8
    assert first.patched.files[0].before == path.read_text()
    assert first.patched.files[0].after.startswith("  # --foo 1")


def test_a_launch_that_was_seen_to_run_out_gets_plans_though_no_cause_is_found(tmp_path):
    path = tmp_path / "launch.sh"
    path.write_text(
        "CUDA_VISIBLE_DEVICES=0 python src/train_bash.py --stage sft --do_train --fp16 "
        "--model_name_or_path THUDM/chatglm2-6b --dataset alpaca_gpt4_en --template default "
        "--finetuning_type lora --lora_target query_key_value --output_dir out "
        "--per_device_train_batch_size 4 --gradient_accumulation_steps 4\n"
    )

    found = diagnoser().fix_launch(
        path, gpu="32GiB", gpus=1, note="跑了几个小时才 OOM，显存占用一直涨"
    )

    assert found.cause is None
    assert found.verdict != "nothing-to-fix"
    assert any(change.canonical == "train.micro_batch" for change in found.proposals[0].changes)


@pytest.mark.parametrize(("lang", "word"), [("en", "Left as it was"), ("zh", "保持原样")])
def test_what_lint_objects_to_and_the_job_was_taken_with_is_said_to_be_left(tmp_path, lang, word):
    path = tmp_path / "launch.sh"
    path.write_text(
        "swift sft --model Qwen/Qwen2.5-7B-Instruct --train_type lora --dataset x.jsonl "
        "--max_length 4096 --per_device_train_batch_size 8 --max_memory '{0: 1}'\n"
    )
    log = tmp_path / "train.log"
    log.write_text(
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.32 GiB. GPU 0 has a total "
        "capacity of 23.64 GiB of which 1.00 GiB is free. Of the allocated memory 22.00 GiB is "
        "allocated by PyTorch, and 100.00 MiB is reserved by PyTorch but unallocated.\n"
    )
    given = {"versions": {"ms-swift": "3.6.0"}, "gpu": "4090", "gpus": 1, "lang": lang}

    found = diagnoser().fix_launch(path, logs=[log], **given)

    assert found.proposals
    assert all(not item.refused for item in found.proposals)
    edits = [item for item in found.proposals if item.diff]
    assert all(any(word in n and "no-json" in n for n in item.notes) for item in edits)


def test_an_edit_for_a_cause_that_is_not_believed_is_called_a_check(tmp_path):
    found = fixed(tmp_path, micro=1)
    edit = Proposal(number=1, kind="fix", id="a", title="A", safety="safe", diff="--- a\n")
    cause = FixedCause(id="c", title="C", family="oom", verdict="possible", probability=0.06)

    doubted = msgspec.structs.replace(
        found, verdict="checked", cause=cause, chosen=1, proposals=(edit,), no_plan=None
    )
    believed = msgspec.structs.replace(
        doubted, cause=msgspec.structs.replace(cause, probability=0.5)
    )

    assert "improbable (6 %)" in " ".join(render(doubted, "text", View("en", 80)).split()).replace(
        "# ", ""
    )
    assert "improbable" not in render(believed, "text", View("en", 80))
