"""What notes state of the job: hardware, versions, model, task, phase, settings."""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stated import KINDS, NOTES, Note, notes, shares

from trainrx import diagnose, estimate, inspect_launch
from trainrx.knowledge.load import load
from trainrx.launch.prose.statements import Stated, stated
from trainrx.model.facts import STATED
from trainrx.model.job import Input
from trainrx.model.text import Lang

PRECISION, RECALL = 0.97, 0.9
OF_KIND = {"precision": 0.9, "recall": 0.85}
"""Of one kind there are few statements in a language: a single one is three per cent."""
LONG = 1_000_000


def read(text: str) -> Stated:
    return stated((Input(kind="note", name="note", text=text),), load())


def values(text: str) -> dict[str, object]:
    found = read(text)
    facts = {item.kind.removeprefix(STATED): item.value for item in found.facts}
    return facts | {f"version.{name}": version for name, version in found.versions.items()}


@cache
def labelled(name: str) -> tuple[Note, ...]:
    return tuple(notes(Path(NOTES, "stated", f"{name}.yaml")))


@pytest.mark.parametrize(
    ("name", "least"), [("zh", 300), ("en", 300), ("zh_apart", 150), ("en_apart", 150)]
)
def test_labelled_notes_are_read_rightly_and_fully(name: str, least: int) -> None:
    precision, recall, count = shares(labelled(name))

    assert count > least
    assert precision >= PRECISION
    assert recall >= RECALL


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_statements_of_each_kind_are_read(lang: str, kind: str) -> None:
    precision, recall, _ = shares((*labelled(lang), *labelled(f"{lang}_apart")), KINDS[kind])

    # which framework it is, wordings in kb/ tell
    least = 0.85 if kind == "framework" else OF_KIND["precision"]
    assert precision >= least
    assert recall >= OF_KIND["recall"]


@pytest.mark.parametrize(
    "text",
    [
        "it worked on an A100",
        "on a different machine with 8 V100 this same code is fine",
        "somebody else has 8xH100 and sees the same",
        "I plan to buy two RTX 5090s",
        "how many A100s do I need for full fine-tuning of a 70B?",
        "the readme says 8 x A100 80G",
        "before the upgrade ms-swift 3.4 was fine",
        "transformers>=4.50 is required",
        "same error with transformers 4.51 and 4.52",
        "之前在 V100 上跑过，没有问题",
        "有人在 8 卡 A100 上能跑",
        "打算买两张 5090",
        "14B 全参需要几张 A100？",
        "单卡 4090 正常",
        "我试过 vllm 0.8.5 和 0.9.0，都不行",
        "用的是 main 分支，最新版",
        "on main, latest version of everything",
    ],
)
def test_what_is_said_of_another_job_is_not_taken(text: str) -> None:
    assert values(text) == {}


def test_what_works_stands_back_behind_what_fails() -> None:
    assert values("单卡 A100 没问题，双卡 A100 就卡住")["hardware.gpus"] == 2
    assert values("on a 16GB card LoRA trains fine, but full fine-tuning OOMs") == {
        "hardware.gpu_gib": 15.76,
        "tuner.type": "full",
    }


@pytest.mark.parametrize(
    ("text", "nodes", "gpus"),
    [
        ("单机8卡3090 OOM", 1, 8),
        ("双机16卡 H800 卡住", 2, 16),
        ("四机8卡 报错", 4, None),
        ("16 机 8 卡 报错", 16, 128),
        ("两台机器，每台 4 张显卡，启动失败", 2, 8),
        ("2 nodes x 8 H800 hang", 2, 16),
        ("8 x A100-80G per node, 4 nodes, NCCL timeout", 4, 32),
        ("16 GPUs over 2 nodes hang", 2, 16),
        ("2 nodes and 8 GPUs hang", 2, None),
        ("four A10s run out of memory", None, 4),
        ("H20*2 OOM", None, 2),
        ("6 x RTX3090Ti OOM", None, 6),
    ],
)
def test_cards_are_those_of_the_whole_job_or_stay_open(
    text: str, nodes: int | None, gpus: int | None
) -> None:
    found = values(text)

    assert (found.get("hardware.nodes"), found.get("hardware.gpus")) == (nodes, gpus)


def test_of_several_sizes_the_family_is_known() -> None:
    assert values("微调 Qwen3-VL-8B 和 4B 时很慢")["model.name"] == "Qwen3-VL"


def test_cards_that_are_counted_in_all_are_those_of_the_job() -> None:
    assert values("两台服务器共4张4090启动失败")["hardware.gpus"] == 4


def test_statements_that_differ_say_nothing() -> None:
    found = values("OOM with 4 A100. OOM with 8 H100.")

    assert "hardware.gpu" not in found
    assert "hardware.gpus" not in found


def test_statements_name_the_line_they_stand_on() -> None:
    facts = read("[BUG] OOM\n\nGPU: 8 x A100 80G\n").facts

    assert {origin.line for item in facts for origin in item.origins} == {3}
    assert {origin.source for item in facts for origin in item.origins} == {"note"}


@pytest.mark.parametrize(
    "part",
    ["8x ", "qwen2.5-", "swift2.0升级到", "每台8张 ", "A100 ", "first ", "\n", "v1.2.", "的 "],
)
def test_a_long_note_takes_bounded_time(part: str) -> None:
    text = part * (LONG // len(part))
    started = time.process_time()

    read(text)

    assert time.process_time() - started < 3


@settings(max_examples=50, deadline=None)
@given(st.text(alphabet=st.sampled_from("8xA10G卡张 机2.5vqwen全参,，。(（*-单双zerolra\n每")))
def test_no_text_raises(text: str) -> None:
    read(text)


@settings(max_examples=50, deadline=None)
@given(st.text())
def test_no_unicode_raises(text: str) -> None:
    read(text)


LAUNCH = (
    "CUDA_VISIBLE_DEVICES=0,1 NPROC_PER_NODE=2 swift sft --model Qwen/Qwen2.5-7B-Instruct "
    "--train_type lora --dataset x --per_device_train_batch_size 2"
)
LOG = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total "
    "capacity of 79.15 GiB of which 1.00 GiB is free.\n"
)


def test_a_note_alone_says_what_job_it_is() -> None:
    job = diagnose(note="GRPO of Qwen2.5-7B on 8 x A100 80G OOMs, ms-swift 3.5").job

    assert (job.gpus, job.gpu, job.task) == (8, "A100-SXM4-80GB", "grpo")
    assert (job.model, job.framework, job.framework_version) == ("Qwen2.5-7B", "ms-swift", "3.5")


def test_what_was_given_goes_before_what_a_note_states() -> None:
    answer = diagnose(
        cmd=LAUNCH,
        gpu="A100-80G",
        versions={"ms-swift": "3.6.1"},
        note="8 x 4090, ms-swift 3.4, full fine-tuning, batch size 1, OOM",
    )

    assert (answer.job.gpus, answer.job.gpu) == (2, "A100-SXM4-80GB")
    assert answer.job.framework_version == "3.6.1"
    assert answer.facts["tuner.type"] == "lora"
    assert answer.facts["train.micro_batch"] == 2
    said = [item.reason for item in answer.unread if item.source == "note"]
    for part in (
        "hardware.gpus 8",
        "hardware.gpu RTX-4090-24GB",
        "tuner.type full",
        "ms-swift 3.4",
    ):
        assert any(part in reason for reason in said), part


@pytest.mark.parametrize(("lang", "words"), [("en", "the note says"), ("zh", "描述中说")])
def test_a_printed_card_goes_before_a_stated_one(tmp_path: Path, lang: Lang, words: str) -> None:
    log = tmp_path / "train.log"
    log.write_text(LOG, encoding="utf-8")

    answer = diagnose(logs=log, note="OOM on my RTX 4090", lang=lang)

    assert answer.facts.get("hardware.gpu") is None
    assert any(item.reason.startswith(words) for item in answer.unread)


def test_a_statement_that_is_shown_to_be_so_is_no_conflict() -> None:
    answer = diagnose(cmd=LAUNCH, gpu="A100-80G", note="2 x A100, LoRA of Qwen2.5-7B OOMs")

    assert [item for item in answer.unread if item.source == "note"] == []


def test_estimates_and_inspections_know_what_a_note_states() -> None:
    note = "two RTX 4090, ms-swift 3.5, OOM"

    card = estimate(cmd=LAUNCH, note=note)
    job = inspect_launch(cmd=LAUNCH, note=note).jobs[0]

    assert card.job.gpu == "RTX-4090-24GB"
    assert card.limit_gib is not None
    assert (job.version, job.version_how) == ("3.5", "given")


def test_a_sentence_without_end_is_read_in_pieces() -> None:
    said = "it fails on 8 GPUs, " + "1," * 30_000

    assert values(said)["hardware.gpus"] == 8
