"""`diagnose run` beside the bare command: how jobs end, what it costs, what a kill of ours does.

    python benchmarks/run_fidelity.py --jobs 1000 --pairs 15

Prints, each as one line of JSON: whether a job whose supervisor is killed prints all it has to; the
processor time of ours as a share of that of a job that prints a lot; the wall time of such a job as
a ratio to the bare command, in pairs that take turns; and of short jobs that end with random exit
statuses and signals how many have another wait status than without us.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

RUN = [sys.executable, "-m", "trainrx.cli", "run", "--quiet", "--no-recorder", "--"]
DEADLY = (
    signal.SIGHUP,
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGILL,
    signal.SIGABRT,
    signal.SIGFPE,
    signal.SIGKILL,
    signal.SIGSEGV,
    signal.SIGUSR2,
    signal.SIGPIPE,
    signal.SIGALRM,
    signal.SIGTERM,
    signal.SIGBUS,
    signal.SIGXCPU,
    signal.SIGRTMIN,
)
CHATTY = """
import sys, time
began = time.perf_counter()
total = 0
for step in range({steps}):
    for number in range(20_000):
        total += number * number % 7
    print({{"loss": total % 97 / 10, "global_step/max_steps": f"{{step}}/{steps}"}}, flush=True)
print(time.perf_counter() - began, file=sys.stderr)
"""
WARM = 5.0
TICKING = "for i in $(seq 30); do echo line $i; sleep 0.1; done; echo done"


def random_job(draw: random.Random) -> list[str]:
    """Give a short job that ends in some way: itself, or a child of it."""
    if draw.random() < 0.5:
        return ["sh", "-c", f"echo out; echo err >&2; exit {draw.randrange(256)}"]
    number = int(draw.choice(DEADLY))
    if draw.random() < 0.5:
        return ["sh", "-c", f"echo out; kill -{number} $$; sleep 5"]
    return [sys.executable, "-S", "-c", f"import os; os.kill(os.getpid(), {number})"]


def ended(words: Sequence[str]) -> int:
    """Run a command; give its exit status, or minus the signal it died of."""
    return subprocess.run(words, capture_output=True, check=False).returncode


def statuses(jobs: int, seed: int, workers: int) -> dict[str, object]:
    """Compare how jobs end with and without us."""
    draw = random.Random(seed)  # noqa: S311
    words = [random_job(draw) for _ in range(jobs)]
    with ThreadPoolExecutor(workers) as pool:
        bare = list(pool.map(ended, words))
        ours = list(pool.map(ended, [[*RUN, *job] for job in words]))
    differ = [(job, one, other) for job, one, other in zip(words, bare, ours, strict=True)]
    differ = [found for found in differ if found[1] != found[2]]
    signals = sum(status < 0 for status in bare)
    return {"jobs": jobs, "by_signal": signals, "differ": len(differ), "which": differ[:5]}


def overhead(pairs: int, steps: int) -> dict[str, object]:
    """Compare the time a job that prints a lot takes by itself, our start and end left out."""
    words = [sys.executable, "-S", "-c", CHATTY.format(steps=steps)]
    wall, lines = [], 0.0
    for turn in range(pairs):
        both = {}
        for name in ("bare", "ours") if turn % 2 else ("ours", "bare"):
            command = words if name == "bare" else [*RUN, *words]
            both[name] = float(subprocess.run(command, capture_output=True, check=True).stderr)
        wall.append(both["ours"] / both["bare"])
        lines = steps / both["bare"]
    spread = [round(min(wall), 4), round(max(wall), 4)]
    middle = round(statistics.median(wall), 4)
    return {"pairs": pairs, "lines_per_second": round(lines), "wall": middle, "from_to": spread}


def processor(seconds: float) -> dict[str, object]:
    """Compare the processor time of all of ours with that of a job that prints a lot.

    It is read of each process while the job runs: on a machine that others use as well the wall
    time of pairs is noise, this is not.
    """
    words = [sys.executable, "-S", "-c", CHATTY.format(steps=10**9)]
    with tempfile.TemporaryFile() as file:
        ours = subprocess.Popen([*RUN, *words], stdout=subprocess.PIPE, stderr=file)
        reader = subprocess.Popen(["cat"], stdin=ours.stdout, stdout=subprocess.DEVNULL)
        time.sleep(WARM)
        job = next(pid for pid in children(ours.pid) if command_of(pid)[1:3] == [b"-S", b"-c"])
        others = [ours.pid, *(pid for pid in children(ours.pid) if pid != job)]
        before = [on_processor(pid) for pid in (job, *others)]
        time.sleep(seconds)
        used = [on_processor(pid) - one for pid, one in zip((job, *others), before, strict=True)]
        os.kill(job, signal.SIGKILL)
        ours.wait()
        reader.wait()
    each = [round(one / used[0], 5) for one in used[1:]]
    return {"job_seconds": round(used[0], 2), "ours": round(sum(each), 5), "each": each}


def children(pid: int) -> list[int]:
    """Give the processes a process has started."""
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def command_of(pid: int) -> list[bytes]:
    """Give the words a process was started with."""
    return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")


def on_processor(pid: int) -> float:
    """Give the seconds a process was on a processor."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def killed(number: int) -> dict[str, object]:
    """Kill what started the job, and see whether the job prints on to where it should."""
    with tempfile.TemporaryDirectory() as folder:
        taken = Path(folder) / "taken"
        with taken.open("wb") as file:
            reader = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=file)
            ours = subprocess.Popen([*RUN, "sh", "-c", TICKING], stdout=reader.stdin)
            if reader.stdin is not None:
                reader.stdin.close()
            while taken.read_text().count("\n") < 5:
                time.sleep(0.05)
            os.kill(ours.pid, number)
            ours.wait()
            at_kill = len(taken.read_text().splitlines())
            reader.wait()
        lines = taken.read_text().splitlines()
    return {"killed_by": number, "lines_then": at_kill, "lines_in_the_end": len(lines), "of": 31}


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    print(json.dumps(killed(signal.SIGKILL)), flush=True)
    print(json.dumps(processor(given.seconds)), flush=True)
    if given.pairs:
        print(json.dumps(overhead(given.pairs, given.steps)), flush=True)
    if given.jobs:
        print(json.dumps(statuses(given.jobs, given.seed, given.workers)), flush=True)


if __name__ == "__main__":
    main()
