"""Ask one `Diagnoser` for the labelled threads again and again: answers a second, and memory.

    python benchmarks/warm.py [--threads 60] [--calls 0] [--each 250]

Printed are the threads a second and core of one `Diagnoser` that has answered each of them once,
the same of a new one for each question (what no loaded knowledge costs), and their ratio; whether
four threads that share one get the same answers; with --calls, the resident memory every so many
calls. A series is flat when its second half rises by less than the readings of it differ.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import msgspec
import yaml
from accuracy import asked

from trainrx import Diagnoser

THREADS = Path(__file__).parents[1] / "tests/cases/threads"
TOP = 5
FEW = 10
"""Questions that are asked of a new one each: every one loads all there is."""
SHARING = 4


def main() -> None:
    """Measure, and print."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--threads", type=int, default=60)
    options.add_argument("--calls", type=int, default=0)
    options.add_argument("--each", type=int, default=250)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        questions = list(islice(_questions(Path(name)), chosen.threads))
        shared = Diagnoser()
        alone = [_answer(shared, one) for one in questions]
        _rates(shared, questions)
        with ThreadPoolExecutor(SHARING) as pool:
            together = list(pool.map(lambda one: _answer(shared, one), questions))
        same = sum(one == other for one, other in zip(alone, together, strict=True))
        print(f"{SHARING} threads share one: {same} of {len(questions)} answers are the same")
        if chosen.calls:
            _series(shared, questions, chosen.calls, chosen.each)


def _questions(folder: Path) -> Iterator[dict[str, Any]]:
    """Give what the labelled threads ask, in an order that is always the same."""
    paths = THREADS.glob("*/*.yaml")
    for path in sorted(paths, key=lambda path: sha256(path.stem.encode()).digest()):
        place = folder / path.stem
        place.mkdir()
        yield asked(yaml.safe_load(path.read_text(encoding="utf-8")), place)


def _answer(diagnoser: Diagnoser, question: dict[str, Any]) -> bytes:
    return msgspec.json.encode(diagnoser.diagnose(**question, top=TOP))


def _rates(shared: Diagnoser, questions: Sequence[dict[str, Any]]) -> None:
    warm = min(_seconds([shared] * len(questions), questions) for _ in range(2))
    few = questions[:FEW]
    cold = _seconds([Diagnoser() for _ in few], few)
    print(
        f"one for all: {1 / warm:.1f} threads a second and core ({1000 * warm:.0f} ms of CPU each)"
    )
    print(f"one for each: {1 / cold:.1f} ({1000 * cold:.0f} ms); {cold / warm:.1f} times as long")


def _seconds(answering: Sequence[Diagnoser], questions: Sequence[dict[str, Any]]) -> float:
    """Give the CPU time of one question."""
    began = time.process_time()
    for diagnoser, question in zip(answering, questions, strict=True):
        _answer(diagnoser, question)
    return (time.process_time() - began) / len(questions)


def _series(shared: Diagnoser, questions: Sequence[dict[str, Any]], calls: int, each: int) -> None:
    """Print the resident memory every so many calls, and how it rises."""
    seen = [_resident()]
    for number, question in enumerate(islice(cycle(questions), calls), 1):
        _answer(shared, question)
        if number % each == 0:
            seen.append(_resident())
            print(f"{number:6d} calls {seen[-1]:7.1f} MiB", flush=True)
    half = seen[len(seen) // 2 :]
    rise = statistics.linear_regression(range(len(half)), half).slope * (len(half) - 1)
    print(f"second half: {rise:+.1f} MiB; readings differ by {max(half) - min(half):.1f}")


def _resident() -> float:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return (
        int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])
        / 1024
    )


if __name__ == "__main__":
    main()
