"""`diagnose fix` on one GPU: DeepSpeed shards nothing there, but offloads."""

from __future__ import annotations

import json

import pytest

from trainrx.cli import main

SWIFT = """\
CUDA_VISIBLE_DEVICES=0 swift sft --model Qwen/Qwen2.5-7B-Instruct --train_type full \\
    --torch_dtype bfloat16 --dataset a.jsonl --max_length 2048 --per_device_train_batch_size 1
"""
FACTORY = """\
CUDA_VISIBLE_DEVICES=0 llamafactory-cli train --stage sft --do_train --dataset a --template qwen \\
    --model_name_or_path Qwen/Qwen2.5-7B-Instruct --finetuning_type full --output_dir out \\
    --per_device_train_batch_size 1 --cutoff_len 2048 --bf16
"""


@pytest.fixture
def plans(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def asked(text, version, gpu, gpus="1"):
        (tmp_path / "launch.sh").write_text(text, encoding="utf-8")
        words = ("--versions", version, "--gpu", gpu, "--gpus", gpus, "--format", "json")
        main(["fix", "launch.sh", *words])
        return json.loads(capsys.readouterr().out)["proposals"]

    return asked


def spelled(plan):
    return {change["spelled"] for change in plan["changes"]}


def test_ms_swift_offloads_with_a_launcher_for_its_one_process(plans):
    first = plans(SWIFT, "ms-swift==3.2.1", "24GiB")[0]

    assert {"--deepspeed zero3_offload", "NPROC_PER_NODE=1"} <= spelled(first)
    assert "+CUDA_VISIBLE_DEVICES=0 NPROC_PER_NODE=1 swift sft" in first["diff"]
    assert first["safety"] == "safe"


def test_llamafactory_is_made_to_use_torchrun_and_the_file_that_is_written_is_named(plans):
    first = plans(FACTORY, "llamafactory==0.9.3", "40GiB")[0]

    file = next(c["to"] for c in first["changes"] if c["canonical"] == "parallel.deepspeed")
    assert {f"--deepspeed {file}", "FORCE_TORCHRUN=1"} <= spelled(first)
    assert file in ("ds_zero2_offload.json", "ds_zero3_offload.json")
    assert f"+++ b/{file}" in first["diff"]


def test_a_launch_with_a_launcher_needs_no_further_one(plans):
    text = SWIFT.replace("CUDA_VISIBLE_DEVICES=0", "NPROC_PER_NODE=1 CUDA_VISIBLE_DEVICES=0")
    first = plans(text, "ms-swift==3.2.1", "24GiB")[0]

    assert "--deepspeed zero3_offload" in spelled(first)
    assert "NPROC_PER_NODE=1" not in spelled(first)


def test_several_cards_are_shared_out_instead(plans):
    text = SWIFT.replace("CUDA_VISIBLE_DEVICES=0", "NPROC_PER_NODE=4")

    for plan in plans(text, "ms-swift==3.2.1", "40GiB", "4"):
        assert "NPROC_PER_NODE=1" not in spelled(plan)
