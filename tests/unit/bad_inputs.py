"""Files people give by mistake, and a real launch and log beside them."""

from __future__ import annotations

import gzip
import io
import json
import struct
import zlib
from pathlib import Path

import zstandard

LAUNCH = """\
NPROC_PER_NODE=8 swift sft \\
    --model Qwen/Qwen2.5-VL-7B-Instruct \\
    --train_type lora \\
    --dataset a.jsonl \\
    --per_device_train_batch_size 4 \\
    --max_length 8192
"""
OOM = """\
[INFO:swift] start
Train:   1%|          | 3/300 [00:05<05:00,  1.01s/it]
{'loss': 1.2, 'grad_norm': 1.0, 'memory(GiB)': 20.1, 'global_step/max_steps': '3/300'}
Traceback (most recent call last):
  File "/x/transformers/trainer.py", line 3000, in training_step
    self.accelerator.backward(loss, **kwargs)
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9.27 GiB. GPU 4 has a total \
capacity of 31.74 GiB of which 2.11 GiB is free. Process 88123 has 29.61 GiB memory in use.
"""
LAUNCHER_ONLY = """\
W0101 10:00:00.000000 9 torch/distributed/elastic/multiprocessing/api.py:897] Sending process 124 \
closing signal SIGTERM
E0101 10:00:01.000000 9 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) \
local_rank: 0 (pid: 124) of binary: /usr/bin/python
Traceback (most recent call last):
  File "/usr/bin/torchrun", line 8, in <module>
    sys.exit(main())
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
"""
HEALTHY = """\
[INFO:swift] error handling enabled; OOM score adj 0; nan filter on
[WARNING] no error so far; what to do on CUDA out of memory is described in the manual
dataset column "error_type" has 0 nan values
{'loss': 1.2, 'grad_norm': 1.0, 'global_step/max_steps': '1/3', 'memory(GiB)': 20.1}
{'loss': 1.1, 'grad_norm': 1.0, 'global_step/max_steps': '2/3', 'memory(GiB)': 20.1}
{'loss': 1.0, 'grad_norm': 1.0, 'global_step/max_steps': '3/3', 'memory(GiB)': 20.1}
{'train_runtime': 100.1, 'train_samples_per_second': 1.0, 'train_loss': 1.1}
Sample text: "the whale, Killed by hunters; a Bus error occurred in the story"
[INFO:swift] End time of running main: 2025-01-01 10:00:00
"""
NGINX = (
    '10.0.0.1 - - [01/Jan/2025:00:00:01 +0000] "GET /error HTTP/1.1" 502 157 "-" "curl/8"\n'
    * 50
    + "2025/01/01 00:00:00 [error] 12#12: *1 upstream timed out (110: Connection timed out) while "
    "reading response header from upstream\n"
)
CHAT = (
    f"大家好，我跑这个命令报错了：\n\n{LAUNCH}\n报错如下：\n{OOM}\n请问怎么解决？it doesn't help\n"
)
SECRETS = (
    "hf_" + "abcdEFGHijklMNOPqrstuvWXyz",
    "wJalrXUtnFEMIK7MDENG" + "bPxRfiCYEXAMPLEKEY",
    "0123456789abcdef" * 2 + "01234567",
)
ENV = (
    f"HF_TOKEN={SECRETS[0]}\nAWS_SECRET_ACCESS_KEY={SECRETS[1]}\nWANDB_API_KEY={SECRETS[2]}\n"
    "PATH=/usr/bin\nHOME=/root\n"
)

_HEADER = json.dumps({"a": {"dtype": "F32", "shape": [9], "data_offsets": [0, 36]}}).encode()
BINARY = {
    "elf": b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 40,
    "safetensors": struct.pack("<Q", len(_HEADER)) + _HEADER + bytes(range(256)) * 40,
    "png": b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8,
    "pickle": b"\x80\x02}q\x00" + bytes(range(256)) * 9,
}
BROKEN_CONFIGS = {
    "tabs": "stage: sft\n\tfinetuning_type: lora\n",
    "unclosed": "stage: sft\nlora_target: [a, b\nfinetuning_type: lora\n",
    "cut-json": '{"zero_optimization": {"stage": 2, "offload',
    "brackets": "stage: " + "[" * 100_000,
    "only-a-list": "- a\n- b\n",
}
SAME_LOG = {
    "plain": OOM.encode(),
    "carriage returns": OOM.replace("\n", "\r").encode(),
    "windows": OOM.replace("\n", "\r\n").encode(),
    "ansi": "".join(f"\x1b[31m\x1b[1m{line}\x1b[0m\n" for line in OOM.splitlines()).encode(),
    "bom": b"\xef\xbb\xbf" + OOM.encode(),
    "utf-16": OOM.encode("utf-16"),
    "gbk": ("训练开始，模型加载完成，显存不足\n" + OOM).encode("gbk"),
    "nul in front": b"\0" * 5000 + OOM.encode(),
    "nul inside": OOM.replace("memory", "mem\0ory").encode(),
    "torn utf-8": "显存".encode()[:4] + b"\n" + OOM.encode(),
    "gzip": gzip.compress(OOM.encode()),
    "gzip cut off": gzip.compress(OOM.encode() * 50)[:-9],
    "zstd": zstandard.compress(OOM.encode()),
}


def bomb(mebibytes: int) -> bytes:
    """Give gzip data that unpacks to so many MiB of one letter."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    out = io.BytesIO()
    for _ in range(mebibytes):
        out.write(packer.compress(b"a" * (1 << 20)))
    out.write(packer.flush())
    return out.getvalue()


def put(folder: Path, name: str, data: bytes | str) -> Path:
    place = folder / name
    place.write_bytes(data if isinstance(data, bytes) else data.encode())
    return place
