"""`diagnose fix` on launches with several mistakes at once: all are put right in one edit."""

from __future__ import annotations

import json

import pytest

from trainrx.cli import main

SFT = """\
swift sft \\
    --model Qwen/Qwen2.5-7B-Instruct \\
    --dataset my.jsonl \\
    --model_type qwen2_5-7b-instruct \\
    --sft_type lora \\
    --lora_rnk 8 \\
    --torch_dtype bf16 \\
    --output_dir out
"""
GRPO = """\
NPROC_PER_NODE=2 swift rlhf --rlhf_type grpo --model Qwen/Qwen2.5-7B-Instruct \\
    --dataset my.jsonl --reward_funcs accuracy --sft_type lora --lora_rnk 8 \\
    --check_dataset_strategy warning --attn_impl flash_attnn \\
    --per_device_train_batch_size 2 --num_generations 7
"""
INSTALLED = ("--versions", "ms-swift==3.2.1", "--gpu", "A100-80G", "--gpus", "2")


@pytest.fixture
def answer(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def ask(text, *words):
        (tmp_path / "launch.sh").write_text(text, encoding="utf-8")
        main(["fix", "launch.sh", *INSTALLED, *words, "--format", "json"])
        return json.loads(capsys.readouterr().out)

    return ask


def spelled(proposal):
    return [change["spelled"] for change in proposal["changes"]]


def test_the_launch_is_put_right_for_what_is_installed_before_an_older_release_is_named(answer):
    found = answer(SFT)
    first, *_, last = found["proposals"]

    assert (found["verdict"], first["refused"]) == ("proved", [])
    assert spelled(first) == [
        "--train_type lora",
        "--lora_rank 8",
        "--torch_dtype bfloat16",
        "--model_type qwen2_5-7b-instruct",
    ]
    assert "-    --model_type qwen2_5-7b-instruct" in first["diff"]
    assert "+    --model_type" not in first["diff"]
    assert last["changes"][0]["param"] == "ms-swift"


def test_an_older_release_goes_last_even_where_the_edit_leaves_something_to_decide(answer):
    found = answer(SFT.replace("--output_dir", "--template no_such_template --output_dir"))

    assert found["verdict"] == "not-enough"
    assert found["proposals"][0]["diff"]
    assert [item["changes"][0]["param"] for item in found["proposals"]][1:] == ["ms-swift"]


def test_a_model_type_of_2_that_names_the_model_becomes_the_model(answer):
    found = answer(SFT.replace("--model Qwen/Qwen2.5-7B-Instruct", "--seed 1"))

    assert "--model Qwen/Qwen2.5-7B-Instruct" in spelled(found["proposals"][0])


def test_a_model_type_that_the_release_has_is_left_alone(answer):
    found = answer(SFT.replace("qwen2_5-7b-instruct", "qwen2_5"))

    assert not any("model_type" in text for text in spelled(found["proposals"][0]))


@pytest.mark.parametrize(("lang", "said"), [("en", "is not done"), ("zh", "不会生效")])
def test_an_argument_nothing_stands_for_goes_and_that_is_told(answer, lang, said):
    found = answer(GRPO, "--lang", lang)
    gone = [change for change in found["proposals"][0]["changes"] if change["action"] == "remove"]

    assert found["verdict"] == "checked"
    assert [text.split(":")[0].split("：")[0] for text in found["proposals"][0]["lacks"]] == [
        "flash-attn"
    ]
    assert [change["param"] for change in gone] == ["check_dataset_strategy"]
    for proposal in found["proposals"]:
        assert proposal["safety"] == "changes-results"
        assert any(said in note and "check_dataset_strategy" in note for note in proposal["notes"])


def test_a_misspelt_name_is_shown_with_its_value_and_dashes(answer):
    found = answer(GRPO)

    assert {"--lora_rank 8", "--train_type lora", "--attn_impl flash_attn"} <= set(
        spelled(found["proposals"][0])
    )


def test_what_a_job_that_trained_had_taken_is_not_put_right(answer, tmp_path):
    (tmp_path / "train.log").write_text(
        "{'loss': 1.2, 'grad_norm': 0.5, 'learning_rate': 1e-05, 'epoch': 0.01}\n"
        "{'loss': 1.1, 'grad_norm': 0.5, 'learning_rate': 1e-05, 'epoch': 0.02}\n"
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB\n",
        encoding="utf-8",
    )
    found = answer(SFT, "--log", "train.log")

    for proposal in found["proposals"]:
        assert "--lora_rank 8" not in spelled(proposal)
