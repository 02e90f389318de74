"""Cost of many rank files beside the same bytes in one file, on one core and on all.

    python benchmarks/rank_files.py [--files 64] [--mib 2] [--seed 7]

Every file has its own seeded log with planted failures. Prints processor and wall seconds of a
whole `diagnose`, the memory of it and its children together, and what it left unread. Memory is the
proportional share (PSS), looked at ten times a second.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec
import psutil
from scan_logs import MIB, write_log

from trainrx.knowledge.load import load


class Cost(msgspec.Struct, frozen=True):
    """What an answer took, and how many remarks on unread input it made."""

    cpu: float
    wall: float
    mib: float
    unread: int


def rank_files(folder: Path, count: int, size: int, seed: int) -> None:
    """Write the log of every rank."""
    failures = [
        (symptom.id, line)
        for symptom in load().symptoms.values()
        if symptom.role == "failure"
        for line in symptom.samples.match
    ]
    folder.mkdir()
    for rank in range(count):
        write_log(folder / f"rank_{rank}.log", size, seed + rank, failures)


def joined(folder: Path, place: Path) -> None:
    """Write the files of a folder one after another into one."""
    with place.open("wb") as out:
        for path in sorted(folder.iterdir()):
            out.write(path.read_bytes())


def held(process: psutil.Process) -> Iterator[float]:
    """Give the memory of a process and of those it started, each in MiB."""
    for one in (process, *process.children(recursive=True)):
        with suppress(psutil.Error):  # it has ended
            yield one.memory_full_info().pss / MIB


def answered(log: Path, cores: set[int]) -> Cost:
    """Answer on some cores."""
    started, before, most = time.monotonic(), os.times(), 0.0
    command = (sys.executable, "-m", "trainrx.cli", "--log", str(log), "--format", "json")
    with tempfile.TemporaryFile() as out, subprocess.Popen(command, stdout=out) as child:
        os.sched_setaffinity(child.pid, cores)
        process = psutil.Process(child.pid)
        while child.poll() is None:
            with suppress(psutil.Error):
                most = max(most, sum(held(process)))
            time.sleep(0.1)
        wall, after = time.monotonic() - started, os.times()
        out.seek(0)
        unread = len(json.load(out).get("unread", ()))
    cpu = after.children_user + after.children_system
    return Cost(cpu - before.children_user - before.children_system, wall, most, unread)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--files", type=int, default=64)
    parser.add_argument("--mib", type=int, default=2, help="size of each file")
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as name:
        folder, one = Path(name) / "logs", Path(name) / "train.log"
        rank_files(folder, options.files, options.mib * MIB, options.seed)
        joined(folder, one)
        print(f"{options.files} files of {options.mib} MiB          cpu s  wall s  MiB  unread")
        for what, log, some in (
            ("one file, one core", one, cores[:1]),
            ("rank files, one core", folder, cores[:1]),
            (f"rank files, {len(cores)} cores", folder, cores),
        ):
            cost = answered(log, set(some))
            figures = f"{cost.cpu:7.1f} {cost.wall:7.1f} {cost.mib:4.0f} {cost.unread:7}"
            print(f"{what:32} {figures}")


if __name__ == "__main__":
    main()
