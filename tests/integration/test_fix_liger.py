"""Liger kernels are offered only where the framework has them for the model's type."""

from __future__ import annotations

import json

import pytest

from trainrx.cli import main

SWIFT = """\
NPROC_PER_NODE=8 swift sft --model {model} --train_type lora --torch_dtype bfloat16 \\
    --dataset a.jsonl --max_length 32768 --per_device_train_batch_size 2
"""
FACTORY = """\
FORCE_TORCHRUN=1 llamafactory-cli train --stage sft --do_train --dataset a --template qwen \\
    --model_name_or_path {model} --finetuning_type lora --output_dir out \\
    --per_device_train_batch_size 2 --cutoff_len 32768 --bf16
"""
LOG = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 18.00 GiB\n"


@pytest.fixture
def offered(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def asked(text, model, version):
        text = text.format(model=model)
        if version.startswith("ms-swift==4"):
            text = text.replace("--train_type", "--tuner_type")
        (tmp_path / "launch.sh").write_text(text, encoding="utf-8")
        (tmp_path / "train.log").write_text(LOG, encoding="utf-8")
        words = ("--log", "train.log", "--versions", version, "--gpu", "A100-80G", "--gpus", "8")
        main(["fix", "launch.sh", *words, "--format", "json"])
        found = json.loads(capsys.readouterr().out)
        items = (*found["proposals"], *found["manual"], *found["dropped"])
        return "liger" in json.dumps([item.get("changes", item.get("spelled")) for item in items])

    return asked


@pytest.mark.parametrize(
    ("model", "version", "expected"),
    [
        ("Qwen/Qwen2.5-32B", "ms-swift==3.2.1", True),
        ("Qwen/QwQ-32B", "ms-swift==3.2.1", False),
        ("Qwen/QwQ-32B", "ms-swift==4.6.0", True),
        ("deepseek-ai/DeepSeek-R1-Distill-Llama-8B", "ms-swift==3.2.1", False),
        # from 3.3 on transformers goes by the architecture
        ("deepseek-ai/DeepSeek-R1-Distill-Llama-8B", "ms-swift==3.6.0", True),
        ("baichuan-inc/Baichuan2-13B-Chat", "ms-swift==4.6.0", False),
    ],
)
def test_ms_swift_goes_by_its_own_types(offered, model, version, expected):
    assert offered(SWIFT, model, version) is expected


def test_a_type_that_is_named_decides(offered):
    text = SWIFT.replace("--train_type", "--model_type qwen2_5 --train_type")

    assert offered(text, "Qwen/QwQ-32B", "ms-swift==3.2.1")


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("Qwen/QwQ-32B", True),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", True),
        ("baichuan-inc/Baichuan2-13B-Chat", False),
    ],
)
def test_llamafactory_goes_by_the_architecture(offered, model, expected):
    assert offered(FACTORY, model, "llamafactory==0.9.3") is expected
