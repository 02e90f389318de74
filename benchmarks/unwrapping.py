"""Cost of taking the wrapping off a log: of finding that there is none, and of each kind.

    python benchmarks/unwrapping.py [--mib 32] [--runs 5]

The log is that of `benchmarks/scan.py`. Compare the ratios: absolute figures depend on the machine.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from scan_logs import MIB, Made

from trainrx.evidence.detector import Detector
from trainrx.inputs.stream import CHUNK
from trainrx.inputs.wrappers.unwrap import unwrapped
from trainrx.knowledge.load import load
from trainrx.model.job import Input

WRAPS: dict[str, Callable[[int, str], str]] = {
    "cri": lambda n, line: f"2025-03-04T05:06:07.{n % 10**9:09d}Z stderr F {line}",
    "docker": lambda _, line: json.dumps({"log": line + "\n", "stream": "stderr", "time": "x"}),
    "kubectl --prefix": lambda n, line: f"[pod/sft-{n % 4}/pytorch] {line}",
    "compose": lambda _, line: f"\x1b[36mtrain-1  | \x1b[0m{line}",
    "github": lambda n, line: f"2025-03-04T05:06:07.{n % 10**7:07d}Z {line}",
    "srun --label": lambda n, line: f"{n % 8}: {line}",
}


def timed(run: Callable[[], object], runs: int) -> float:
    """Give the median wall time of some runs, in seconds."""
    took = []
    for _ in range(runs):
        start = time.perf_counter()
        run()
        took.append(time.perf_counter() - start)
    return statistics.median(took)


def main() -> int:
    """Time both ways and print the figures."""
    parser = argparse.ArgumentParser(description="cost of unwrapping")
    parser.add_argument("--mib", type=int, default=32)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    lines = list(_lines(options.mib * MIB))
    plain = "\n".join(lines).encode()
    print(f"{len(plain) / 1e6:.0f} MB, {len(lines)} lines")
    scan = _scan_seconds(plain, options.runs)
    found = timed(lambda: _drain(plain), options.runs)
    print(f"scan of the plain log: {len(plain) / 1e6 / scan:.0f} MB/s")
    print(f"no wrapping: {found * 1e3:.1f} ms, {100 * found / scan:.2f} % of the scan")
    for name, wrap in WRAPS.items():
        data = "\n".join(wrap(at, line) for at, line in enumerate(lines)).encode()
        took = timed(lambda data=data: _drain(data), options.runs)
        print(
            f"{name}: {len(data) / 1e6 / took:.0f} MB/s; unwrapping and scan"
            f" {(took + scan) / scan:.2f}x the scan of the plain log"
        )
    return 0


def _lines(size: int) -> Iterator[str]:
    left = size
    for line in Made(7).lines():
        left -= len(line.encode()) + 1
        if left < 0:
            return
        yield line.replace("\r", "") if line.startswith("\r") else line


def _drain(data: bytes) -> int:
    return sum(map(len, unwrapped(data[at : at + CHUNK] for at in range(0, len(data), CHUNK))))


def _scan_seconds(data: bytes, runs: int) -> float:
    symptoms = [one for one in load().symptoms.values() if one.role != "observation"]
    detector = Detector(symptoms, engine="linear")
    with TemporaryDirectory() as folder:
        log = Path(folder) / "train.log"
        log.write_bytes(data)
        inputs = [Input(kind="log", name="train.log", path=log)]
        detector.detect(inputs)
        return timed(lambda: detector.detect(inputs), runs)


if __name__ == "__main__":
    sys.exit(main())
