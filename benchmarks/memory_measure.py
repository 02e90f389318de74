"""Measure on a GPU what training jobs take: rows as data/memory/README.md describes them.

    python benchmarks/memory_measure.py [--jobs JOBS.yaml] --out ROWS.jsonl [--seconds N]
        [--only TEXT] [--skip TEXT] [--expected SIZES.json --workers N] [--device cpu]

Each job trains a few steps in a process of its own with the stock trainer of transformers or TRL,
on a model with random weights and samples of one length; a model's weights do not change what it
takes. Needs torch, transformers, peft; trl, liger-kernel, bitsandbytes, deepspeed for jobs of
theirs. A job that cannot run leaves a row with `error`. Several jobs share the GPU where
`--expected` tells the GiB of each (id -> GiB): what an allocator holds does not depend on its
neighbours while the card has room.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

HERE = Path(__file__).resolve().parent
JOBS = HERE / "data" / "memory" / "jobs.yaml"
TRAIN = HERE / "memory_train.py"
ROOM = 0.85
"""Share of the card that jobs running side by side may take together."""
LIMIT_S = 150.0
"""A job that takes longer is ended."""
COLUMNS = {
    # row -> the trainer's own spelling, for `cmd`
    "per_device_batch_size": "per_device_train_batch_size",
    "grad_accum": "gradient_accumulation_steps",
    "grad_ckpt": "gradient_checkpointing",
    "optimizer": "optim",
    "liger": "use_liger_kernel",
    "attn": "attn_implementation",
    "dtype": "torch_dtype",
}


class Running(NamedTuple):
    """A job at work: the row it fills, its process, the GiB it is expected to take."""

    job: dict[str, Any]
    process: subprocess.Popen[bytes]
    output: Path
    gib: float
    started: float


def main() -> int:
    """Run the jobs and give the exit status."""
    said = _arguments()
    plan = yaml.safe_load(said.jobs.read_text(encoding="utf-8"))
    done = _measured(said.out)
    jobs = [
        job
        for job in jobs_of(plan)
        if any(text in job["id"] for text in said.only or [""])
        and not any(text in job["id"] for text in said.skip or ())
        and job["id"] not in done
    ]
    sizes = json.loads(said.expected.read_text(encoding="utf-8")) if said.expected else {}
    with said.out.open("a", encoding="utf-8") as out:
        for row in _rows(jobs, plan["models"], sizes, said):
            out.write(json.dumps(row) + "\n")
            out.flush()
            figures = {name: row[name] for name in row if name.startswith("measured_")}
            print(row["id"], figures or row.get("error", "")[-300:], flush=True)
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--jobs", type=Path, default=JOBS)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=3600.0, help="start nothing after that")
    parser.add_argument("--only", action="append", help="jobs whose id has this text")
    parser.add_argument("--skip", action="append", help="jobs whose id has this text")
    parser.add_argument("--expected", type=Path, help="GiB of each job, by id")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--card", type=float, default=79.0, help="GiB of the card")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    return parser.parse_args()


def _measured(out: Path) -> set[str]:
    """Give the jobs an earlier run has measured."""
    if not out.exists():
        return set()
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    return {row["id"] for row in rows if "error" not in row}


def jobs_of(plan: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Spell out the jobs of a plan: each group's base, and the base with one setting changed."""
    for group in plan["groups"]:
        base = {**plan["settings"], **group["base"]}
        for change in ({}, *group["changes"]):
            job = {**base, **change}
            words = [f"{name}={value}" for name, value in change.items()]
            yield {
                "id": ":".join((group["name"], *(words or ["base"]))),
                "group": group["name"],
                **{name: value for name, value in job.items() if value is not None},
                "cmd": " ".join(_flags(job)),
            }


def _flags(job: Mapping[str, Any]) -> Iterator[str]:
    for name, value in job.items():
        if value is not None and name not in ("framework", "model", "task", "tuner"):
            yield f"--{COLUMNS.get(name, name)} {str(value).lower()}"


def _rows(
    jobs: list[dict[str, Any]],
    models: Mapping[str, Any],
    sizes: Mapping[str, float],
    said: argparse.Namespace,
) -> Iterator[dict[str, Any]]:
    """Run jobs in their order, as many at once as fit the card, and give each row as it ends."""
    end = time.monotonic() + said.seconds
    waiting, running = list(jobs), list[Running]()
    while waiting or running:
        late = time.monotonic() > end
        waiting = [] if late else waiting
        while (job := _next(waiting, running, sizes, said)) is not None:
            waiting.remove(job)
            running.append(_start(job, models, sizes.get(job["id"], said.card), said.device))
        for task in list(running):
            slow = time.monotonic() - task.started > LIMIT_S
            if task.process.poll() is None and not (slow or late):
                continue
            running.remove(task)
            yield _finish(task)
        time.sleep(0.1)


def _next(
    waiting: list[dict[str, Any]],
    running: list[Running],
    sizes: Mapping[str, float],
    said: argparse.Namespace,
) -> dict[str, Any] | None:
    """Choose the first job that fits beside those at work; alone, any does."""
    if len(running) >= said.workers:
        return None
    room = ROOM * said.card - sum(task.gib for task in running)
    return next(
        (job for job in waiting if not running or sizes.get(job["id"], said.card) <= room), None
    )


def _start(job: dict[str, Any], models: Mapping[str, Any], gib: float, device: str) -> Running:
    given = {"job": job, "config": models[job["model"]], "device": device}
    handle, output = tempfile.mkstemp(suffix=".log")
    process = subprocess.Popen(
        [sys.executable, str(TRAIN), json.dumps(given)], stdout=handle, stderr=subprocess.STDOUT
    )
    os.close(handle)
    return Running(job, process, Path(output), gib, time.monotonic())


def _finish(task: Running) -> dict[str, Any]:
    if task.process.poll() is None:
        task.process.kill()
        task.process.wait()
    text = task.output.read_text(encoding="utf-8", errors="replace")
    task.output.unlink()
    # what ends a process, a warning of NCCL for one, may write after the row
    for line in reversed(text.splitlines()):
        if line.startswith('{"framework_version"'):
            return {**task.job, **json.loads(line)}
    return {**task.job, "error": text[-4000:] or "ended from outside"}


if __name__ == "__main__":
    raise SystemExit(main())
