"""A job to take apart, for the properties of the whole pipeline."""

from __future__ import annotations

from pathlib import Path

from trainrx import api
from trainrx.model.result import Diagnosis

LAUNCH = """\
NPROC_PER_NODE=8 swift sft \\
    --model Qwen/Qwen2.5-VL-7B-Instruct \\
    --train_type lora \\
    --dataset a.jsonl \\
    --per_device_train_batch_size 4 \\
    --gradient_checkpointing false \\
    --max_length 8192
"""
LOG = """\
[INFO:swift] start
Train:   1%|          | 3/300 [00:05<05:00,  1.01s/it]
{'loss': 1.2, 'grad_norm': 1.0, 'memory(GiB)': 20.1, 'global_step/max_steps': '3/300'}
Traceback (most recent call last):
  File "/x/transformers/trainer.py", line 3000, in training_step
    self.accelerator.backward(loss, **kwargs)
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9.27 GiB. GPU 4 has a total \
capacity of 31.74 GiB of which 2.11 GiB is free. Process 88123 has 29.61 GiB memory in use.
"""
HANG = """\
[rank3]:[E101 10:00:00 ProcessGroupNCCL.cpp:607] [Rank 3] Watchdog caught collective operation \
timeout: WorkNCCL(SeqNum=77, OpType=ALLREDUCE, NumelIn=100, NumelOut=100, Timeout(ms)=1800000) \
ran for 1800001 milliseconds before timing out.
"""
VERSIONS = "ms-swift==3.2.1\ntorch==2.5.1\ntransformers==4.49.0\n"


def put(folder: Path, name: str, data: bytes | str) -> Path:
    place = folder / name
    place.write_bytes(data if isinstance(data, bytes) else data.encode())
    return place


def named(answer: Diagnosis) -> list[tuple[str, float]]:
    """Give what an answer concludes: the causes in their order, with how sure it is of each."""
    return [(cause.id, cause.probability) for cause in answer.causes]


def diagnose(folder: Path, **given: object) -> Diagnosis:
    """Ask with the launch, log and versions above, but for what is given."""
    job: dict[str, object] = {"gpu": "A30"} | given
    if "cmd" not in job:
        job["cmd"] = put(folder, "launch.sh", LAUNCH)
    if "logs" not in job:
        job["logs"] = [put(folder, "train.log", LOG)]
    if "versions" not in job:
        job["versions"] = put(folder, "versions.txt", VERSIONS)
    return api.diagnose(**job)
