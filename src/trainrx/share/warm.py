"""Loads, when it is imported, what answering takes: knowledge, signatures, rules.

The process that answering ones are forked from imports it, so that they share it.
"""

from trainrx.evidence.detector import SMALL
from trainrx.share.task import Task, TaskFile, perform

SCRIPT = b"swift sft --model Qwen/Qwen2.5-7B-Instruct --train_type lora\n"
LOG = b"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"

LONG = LOG + SMALL // 100 * (b" " * 99 + b"\n")
"""Long logs are searched by an engine that takes seconds to be made ready."""

for log in (LOG, LONG):
    perform(
        Task(
            kind="diagnose",
            files=(TaskFile(name="launch.sh", data=SCRIPT), TaskFile(name="train.log", data=log)),
            gpu=("24GiB",),
            gpus=1,
        )
    )
