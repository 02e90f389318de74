"""`diagnose run` beside the bare command: how jobs end, what it costs, what a kill of ours does.

    python benchmarks/run_fidelity.py --jobs 1000 --pairs 15

Prints, each as one line of JSON: short jobs that end with random exit statuses and signals, and how
many have another wait status than without us; the time of a job that prints a lot as a ratio to the
bare command, in pairs that take turns; and whether a job whose supervisor is killed prints all it
has to.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
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
print(time.perf_counter() - began, time.process_time(), file=sys.stderr)
"""
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
    """Compare what a job that prints a lot takes by itself, our start and end left out.

    `wall` is the time the job takes, `processor` what the job and all of ours use up: on a machine
    that others use as well only the second is steady.
    """
    words = [sys.executable, "-S", "-c", CHATTY.format(steps=steps)]
    idle = statistics.median(used([*RUN, sys.executable, "-S", "-c", ""])[1] for _ in range(5))
    wall, processor, lines = [], [], 0.0
    for turn in range(pairs):
        both = {}
        for name in ("bare", "ours") if turn % 2 else ("ours", "bare"):
            both[name] = used(words if name == "bare" else [*RUN, *words])
        bare, ours = both["bare"], both["ours"]
        wall.append(ours[0] / bare[0])
        processor.append((ours[1] - idle) / bare[1])
        lines = steps / bare[0]
    return {
        "pairs": pairs,
        "lines_per_second": round(lines),
        "wall": round(statistics.median(wall), 4),
        "processor": round(statistics.median(processor), 4),
        "processor_from_to": [round(min(processor), 4), round(max(processor), 4)],
    }


def used(words: Sequence[str]) -> tuple[float, float]:
    """Run a job; give the seconds it says it took, and the processor time of all that ran."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(words, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return float((done.stderr.split() or [b"0"])[0]), took


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
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    print(json.dumps(killed(signal.SIGKILL)), flush=True)
    if given.pairs:
        print(json.dumps(overhead(given.pairs, given.steps)), flush=True)
    if given.jobs:
        print(json.dumps(statuses(given.jobs, given.seed, given.workers)), flush=True)


if __name__ == "__main__":
    main()
