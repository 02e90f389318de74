"""A fleet end to end: how fast jobs are answered, whom it suspects, and what a kill -9 costs.

    python benchmarks/fleet.py [--jobs 1000] [--processes 2] [--engine dask|ray]
        [--kill | --compare | --simulate 1000000]

Jobs are the recorded runs and the labelled threads of the tests, listed as `sacct --json` lists
them, with a bad node, a bad image and a bad release planted. Prints jobs per second of processor
time beside the same jobs answered one after another in one process. With --kill a worker and then
the scheduler of a Dask cluster are killed half way; the run goes on and nothing is lost or double.
With --compare the rows of Dask and of Ray are compared one by one. With --simulate a history of so
many jobs is written and asked (`fleet_history`).
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec
import psutil
import yaml
from accuracy import arguments
from fleet_history import simulate

from trainrx.fleet.across.suspects import suspects
from trainrx.fleet.history.store import Store
from trainrx.fleet.record import FleetJob, JobAnswer, JobLimits
from trainrx.fleet.sources.sacct import SacctSource
from trainrx.fleet.work import examine, warm

ROOT = Path(__file__).resolve().parents[1]
NODES = [f"n{number:03}" for number in range(64)]
BAD_NODE, BAD_IMAGE = "n013", "registry.local/train:2026.11"
IMAGES = ("registry.local/train:2026.09", "registry.local/train:2026.10", BAD_IMAGE)
TORCH = ("2.5.1", "2.6.0", "2.7.1")
BAD_TORCH = "2.6.0"
PLANTED = {
    BAD_NODE: "torch.AcceleratorError: CUDA error: uncorrectable ECC error encountered\n",
    BAD_IMAGE: "ImportError: flash_attn_2_cuda.so: undefined symbol: _ZN3c105ErrorC2E\n",
    BAD_TORCH: "RuntimeError: NCCL Error 2: unhandled system error\n",
}
HARM = 0.8
"""How often what is planted shows."""
START = 1_790_000_000
TOOK = {"seconds": 0.0, "cpu_seconds": 0.0, "peak_mib": 0.0}
"""What differs from run to run."""


def materials() -> Iterator[dict[str, str]]:
    """Give the files of the recorded runs and of the labelled threads that have a launch or log."""
    folders = (*(ROOT / "tests/cases").iterdir(), *(ROOT / "tests/healthy").iterdir())
    for folder in sorted(folders):
        files = [path for path in folder.glob("*") if path.is_file() and "expect" not in path.name]
        if any(path.suffix in (".sh", ".log") for path in files):
            yield {path.name: path.read_text(errors="replace") for path in files}
    for path in sorted((ROOT / "tests/cases/threads").glob("*/*.yaml")):
        case = yaml.safe_load(path.read_text())
        if (case.get("log") or "").strip() or (case.get("cmd") or "").strip():
            with tempfile.TemporaryDirectory() as name:
                arguments(case, Path(name), note=False)
                files = [one for one in Path(name).rglob("*") if one.is_file()]
                yield {one.name: one.read_text() for one in files}


def make(root: Path, count: int) -> Path:
    """Write so many jobs, and the listing of them."""
    draw = random.Random(7)  # noqa: S311 - no secret is made of it
    known = list(materials())
    jobs = []
    for number, files in zip(range(1, count + 1), itertools.cycle(known), strict=False):
        nodes = sorted(draw.sample(NODES, draw.choice((1, 1, 2, 4))))
        image, torch = draw.choice(IMAGES), draw.choice(TORCH)
        folder = root / f"job-{number:06}"
        folder.mkdir(parents=True)
        for name, text in files.items():
            (folder / name).write_text(text)
        log = folder / f"slurm-{number}.out"
        planted = [PLANTED[bad] for bad in (*nodes, image, torch) if bad in PLANTED]
        log.write_text("".join(one for one in planted if draw.random() < HARM))
        versions = re.sub(r"(?m)^torch==.*$", "", files.get("versions.txt", ""))
        (folder / "versions.txt").write_text(f"{versions}\ntorch=={torch}\n")
        jobs.append(_accounted(number, folder, nodes, image))
    listing = root / "jobs.json"
    listing.write_text(json.dumps({"meta": {"slurm": {}}, "jobs": jobs}))
    return listing


def _accounted(number: int, folder: Path, nodes: list[str], image: str) -> dict[str, object]:
    code = {"set": True, "infinite": False, "number": 1}
    gres = [{"type": "gres", "name": "gpu", "count": 8 * len(nodes)}]
    return {
        "job_id": number,
        "cluster": "bench",
        "name": f"job-{number}",
        "user": f"user{number % 17}",
        "nodes": ",".join(nodes),
        "container": image,
        "working_directory": str(folder),
        "stdout_expanded": str(folder / f"slurm-{number}.out"),
        "state": {"current": ["FAILED"]},
        "exit_code": {"return_code": code},
        "time": {"start": START + 60 * number, "end": START + 60 * number + 3600},
        "tres": {"allocated": gres},
    }


def alone(root: Path, count: int) -> float:
    """Answer jobs one after another in this process; give seconds of its processor per job."""
    limits = JobLimits()
    warm(limits)
    folders = sorted(root.glob("job-*"))[:count]
    began = time.process_time()
    for folder in folders:
        examine(FleetJob(key="", name="", source="folder", folder=str(folder)), limits)
    return (time.process_time() - began) / len(folders)


def command(listing: Path, history: Path, *more: str) -> list[str]:
    """Give the command that answers the jobs."""
    words = ("fleet", str(listing), "--history", str(history), "--format", "jsonl", *more)
    return [sys.executable, "-m", "trainrx.cli", *words]


def answered(history: Path) -> list[str]:
    """Name the jobs a history holds, each as often as it does."""
    if not history.exists():
        return []
    with sqlite3.connect(f"file:{history}?mode=ro", uri=True) as database:
        try:
            return [job for (job,) in database.execute("SELECT job FROM answers")]
        except sqlite3.OperationalError:
            return []


class Cluster:
    """A scheduler and workers of Dask, each a process of its own."""

    def __init__(self, processes: int) -> None:
        self.scheduler = self._start("scheduler", "--port", "0", "--no-dashboard")
        self.address = self._address()
        where = (self.address, "--nthreads", "1", "--no-dashboard")
        self.workers = [self._start("worker", *where) for _ in range(processes)]

    def _start(self, *words: str) -> subprocess.Popen[str]:
        started = [sys.executable, "-m", "distributed.cli.dask_" + words[0], *words[1:]]
        return subprocess.Popen(started, stderr=subprocess.PIPE, text=True)

    def _address(self) -> str:
        for line in self.scheduler.stderr or ():
            if found := re.search(r"tcp://[\d.]+:\d+", line):
                return found[0]
        raise RuntimeError("the scheduler did not come up")

    def kill_worker(self) -> None:
        """Kill what works on a batch, not the nanny that starts it anew."""
        for child in psutil.Process(self.workers[0].pid).children(recursive=True):
            child.send_signal(signal.SIGKILL)

    def close(self) -> None:
        """End all of it."""
        for process in (*self.workers, self.scheduler):
            for child in psutil.Process(process.pid).children(recursive=True):
                child.kill()
            process.kill()
            process.wait()


def killed(listing: Path, history: Path, count: int, processes: int) -> tuple[list[str], list[str]]:
    """Kill a worker at a third, the scheduler at two thirds, go on; give what each wrote."""
    cluster = Cluster(processes)
    words = command(listing, history, "--scheduler", cluster.address)
    first = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    thirds = [(count // 3, cluster.kill_worker), (2 * count // 3, cluster.scheduler.kill)]
    wrote: list[str] = []
    for line in first.stdout or ():
        wrote.append(json.loads(line)["key"])
        if thirds and len(wrote) >= thirds[0][0]:
            thirds.pop(0)[1]()
    print("killed run says:", (first.stderr.read() if first.stderr else "").strip()[-300:])
    print("killed run ends with status", first.wait(), "after", len(wrote), "answers")
    cluster.close()
    cluster = Cluster(processes)
    words = command(listing, history, "--scheduler", cluster.address)
    second = subprocess.run(words, capture_output=True, text=True, check=True)
    cluster.close()
    return wrote, [json.loads(line)["key"] for line in second.stdout.splitlines()]


def spent(words: list[str]) -> tuple[float, float, int]:
    """Run a command; give seconds of the clock, of processors with all children, and lines."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.monotonic() - began, cpu, len(done.stdout.splitlines())


def compared(listing: Path, root: Path, processes: int) -> int:
    """Answer the same jobs on both engines; print in how many rows they differ, give the status."""
    found = []
    for engine in ("dask", "ray"):
        history = root / f"{engine}.db"
        words = command(listing, history, "--engine", engine, "--jobs", str(processes))
        subprocess.run(words, capture_output=True, check=True)
        with Store.open(history) as store:
            found.append({one.key: msgspec.structs.replace(one, **TOOK) for one in store.answers()})
    ours, others = found
    differ = [key for key in ours.keys() | others.keys() if ours.get(key) != others.get(key)]
    print(f"{len(ours)} rows of dask, {len(others)} of ray, {len(differ)} differ: {differ[:5]}")
    return int(bool(differ))


def examined(root: Path, count: int) -> list[JobAnswer]:
    """Answer some of the jobs in this process."""
    source = SacctSource(make(root, count))
    return [examine(source.prepared(job), JobLimits()) for job in source.jobs(None)]


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--engine", default="dask")
    parser.add_argument("--kill", action="store_true")
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--simulate", type=int, default=0)
    given = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="trainrx-fleet-bench-"))
    try:
        return run(root, given)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def run(root: Path, given: argparse.Namespace) -> int:
    """Measure one fleet below a folder."""
    if given.simulate:
        return simulate(examined(root, given.jobs), given.simulate, root)
    listing, history = make(root, given.jobs), root / "history.db"
    if given.compare:
        return compared(listing, root, given.processes)
    if given.kill:
        first, second = killed(listing, history, given.jobs, given.processes)
        kept = Counter(answered(history))
        double = len(set(first) & set(second)) + sum(n - 1 for n in kept.values())
        print(f"lost {given.jobs - len(kept)}, double {double}, of {given.jobs} jobs")
        return int(len(kept) != given.jobs or double > 0)
    each = alone(root, min(given.jobs, 100))
    more = ("--engine", given.engine, "--jobs", str(given.processes))
    wall, cpu, lines = spent(command(listing, history, *more))
    again, cpu_again, left = spent(command(listing, history, *more))
    with Store.open(history) as store:
        answers = list(store.answers())
    inside = sum(one.cpu_seconds for one in answers)
    print(f"{lines} of {given.jobs} jobs answered by {given.engine}, in {wall:.1f} s")
    # the processes that answer are ended with their workers, so what they took is not in `cpu`
    whole = cpu + inside
    print(
        f"processors: {whole:.1f} s, {inside:.1f} s of them in answers: {lines / whole:.1f} jobs/s"
    )
    print(f"one after another in one process: {1 / each:.1f} jobs/s ({each * 1000:.0f} ms each)")
    print(f"around an answer: {1000 * cpu / max(lines, 1):.1f} ms a job")
    print(f"again: {left} answered, {again:.1f} s, {1000 * cpu_again / given.jobs:.2f} ms a job")
    print(f"history: {history.stat().st_size / given.jobs / 1024:.1f} KiB a job")
    print("outcomes:", dict(Counter(one.outcome for one in answers)))
    found = suspects(answers)
    for one in found[:6]:
        print(f"suspect {one.axis} {one.name}: {one.failed} of {one.jobs}, p {one.corrected:.1e}")
    names = " ".join(one.name for one in found)
    return int(lines != given.jobs or not all(bad in names for bad in (BAD_NODE, BAD_IMAGE)))


if __name__ == "__main__":
    sys.exit(main())
