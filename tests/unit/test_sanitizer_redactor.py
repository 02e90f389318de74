from __future__ import annotations

import pytest

from trainrx.sanitizer.redactor import Redactor

KEY = "0123456789abcdef0123456789abcdef01234567"


def strict(*texts: str) -> list[str]:
    redactor = Redactor("strict", texts)
    return [redactor.text(text) for text in texts]


def test_a_secret_named_once_is_masked_where_nothing_names_it():
    texts = (f"WANDB_API_KEY={KEY}", f"posting {KEY} to", "password: hunter", "the hunter sleeps")
    redactor = Redactor("secrets", texts)

    assert [redactor.text(text) for text in texts] == [
        "WANDB_API_KEY=***",
        "posting *** to",
        "password: ***",
        "the hunter sleeps",
    ]


def test_nothing_is_masked_at_the_level_none():
    assert Redactor("none", (f"HF_TOKEN={KEY}",)).text(f"HF_TOKEN={KEY}") == f"HF_TOKEN={KEY}"


def test_a_mask_in_place_keeps_every_column():
    line = f"--hub_token {KEY} --lr 1"

    masked = Redactor("secrets").text(line, in_place=True)

    assert masked == f"--hub_token {'*' * 40} --lr 1"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("MASTER_ADDR=10.1.2.3", "MASTER_ADDR=<ip-1>"),
        ("tcp://10.1.2.3:29500", "tcp://<ip-1>:29500"),
        ("peer 9.8.7.6<40112>", "peer <ip-1><40112>"),
        ("fe80::a0b:c0d", "<ip-1>"),
        ("--master_addr alpha", "--master_addr <host-1>"),
        ("gpu-node-17:4242:4301 [3] NCCL WARN", "<host-1>:4242:4301 [3] NCCL WARN"),
        ("failed to connect to [job-0.ns.svc]:29500", "failed to connect to [<host-1>]:29500"),
        ("https://minio.corp.lan/a", "https://<host-1>/a"),
        ("ssh alice@login.corp.lan", "ssh <user-1>@<host-1>"),
        ("USER=alice", "USER=<user-1>"),
        ("/home/alice/x/train.py:12", "<path-1>/train.py:12"),
        (
            'File "/home/a/envs/x/lib/python3.10/site-packages/torch/cuda/memory.py", line 1',
            'File "<path-1>/site-packages/torch/cuda/memory.py", line 1',
        ),
        ("--output_dir /mnt/nas/team/out", "--output_dir <path-1>"),
        ("s3://bucket/data/a.jsonl", "s3://<path-1>/a.jsonl"),
        ("oss://bucket", "oss://<path-1>"),
    ],
)
def test_who_and_where_is_a_placeholder(text, wanted):
    assert strict(text) == [wanted]


@pytest.mark.parametrize(
    "text",
    [
        "nvidia-cudnn-cu12 9.16.0.29",
        "nvidia-cublas-cu12==12.4.5.8",
        "acc/mean@8 0.31, hit@1",
        "https://huggingface.co/Qwen/Qwen2.5-7B-Instruct",
        "https://hf-mirror.com",
        "MASTER_ADDR=127.0.0.1 or localhost",
        "git@github.com:modelscope/ms-swift.git",
        "std::vector<c10::IValue>",
        "Qwen/Qwen2.5-VL-7B-Instruct",
        "/usr/local/cuda/lib64/libcudart.so.12",
        "12:30:45 step 1/100",
        "host memory: 12 GiB",
        "--per_device_train_batch_size 1",
    ],
)
def test_what_names_nobody_stays(text):
    assert strict(text) == [text]


def test_the_same_host_has_the_same_placeholder_throughout():
    texts = ("MASTER_ADDR=trainer-a", "10.0.0.7 and 10.0.0.8", "connecting to trainer-a, 10.0.0.7")

    assert strict(*texts) == [
        "MASTER_ADDR=<host-1>",
        "<ip-1> and <ip-2>",
        "connecting to <host-1>, <ip-1>",
    ]


def test_a_secret_within_a_path_is_hidden_with_it():
    (shown,) = strict("/home/alice/hf_aB3dE5gH7jK9mN1pQ3sT5v/x")

    assert "hf_" not in shown
    assert "alice" not in shown
