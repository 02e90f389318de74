"""`diagnose fix` where something it needs is not known: it says so, and what to give."""

from __future__ import annotations

import json

import pytest

from trainrx.cli import main

LAUNCH = """\
NPROC_PER_NODE=8 swift sft --model Qwen/Qwen2.5-7B-Instruct --train_type full \\
    --dataset my.jsonl --max_length 8192 --torch_dtype bfloat16 --deepspeed zero2
"""
VERSION = ("--versions", "ms-swift==3.2.1")
REASON = {"en": "the memory of the card is not known", "zh": "显卡显存未知"}


@pytest.fixture
def ask(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def asked(*words, text=LAUNCH):
        (tmp_path / "launch.sh").write_text(text, encoding="utf-8")
        status = main(["fix", "launch.sh", *VERSION, *words])
        return status, capsys.readouterr().out

    return asked


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_without_a_card_it_is_not_said_that_nothing_is_wrong(ask, lang):
    status, shown = ask("--lang", lang)
    _, answer = ask("--lang", lang, "--format", "json")
    found = json.loads(answer)

    assert (status, found["verdict"], found["no_plan"]["id"]) == (1, "unknown", "no-card")
    assert REASON[lang] in shown
    assert "--gpu" in shown
    assert "hardware.gpu_gib" not in shown


def test_a_job_that_fits_has_nothing_to_fix(ask):
    text = LAUNCH.replace("8192", "512").replace("full", "lora")
    status, answer = ask("--gpu", "A100-80G", "--gpus", "8", "--format", "json", text=text)

    assert (status, json.loads(answer)["verdict"]) == (0, "nothing-to-fix")


@pytest.mark.parametrize(("lang", "said"), [("en", "smallest"), ("zh", "最小的")])
def test_a_card_of_several_sizes_is_taken_for_the_smallest_and_that_is_told(ask, lang, said):
    words = ("--gpus", "8", "--lang", lang, "--format", "json")
    _, least = ask("--gpu", "A100", *words)
    _, named = ask("--gpu", "A100-40G", *words)
    told, whole = json.loads(least)["proposals"], json.loads(named)["proposals"]

    assert told
    assert [item["changes"] for item in told] == [item["changes"] for item in whole]
    assert all(any(said in note for note in item["notes"]) for item in told)
    assert not any(said in note for item in whole for note in item["notes"])


def test_a_remedy_that_is_enough_does_not_hide_why_there_is_no_plan(ask, tmp_path):
    (tmp_path / "train.log").write_text(
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB\n",
        encoding="utf-8",
    )
    text = LAUNCH.replace("--deepspeed zero2", "--deepspeed zero3").replace(
        "NPROC_PER_NODE=8", "NPROC_PER_NODE=1"
    )
    _, answer = ask("--log", "train.log", "--gpus", "8", "--format", "json", text=text)
    found = json.loads(answer)

    assert not any(item["kind"] == "plan" for item in found["proposals"])
    assert found["no_plan"]["id"] == "no-card"
