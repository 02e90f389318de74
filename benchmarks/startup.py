"""How long a user waits: cold start of each command beside `python -c "import typer"`.

Medians over interleaved runs of whole processes; compare the ratios, not the milliseconds.

    python benchmarks/startup.py [RUNS]
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
EXAMPLE = ROOT / "examples" / "01-vl7b-grpo-2xA800-80g"
ANSWER = "--cmd launch.sh --log train.log --versions versions.txt --gpu A800-80G --gpus 2 --lang en"

COMMANDS: dict[str, list[str]] = {
    "python -c pass": [sys.executable, "-c", "pass"],
    'python -c "import typer"': [sys.executable, "-c", "import typer"],
    "diagnose --version": [str(BIN / "diagnose"), "--version"],
    "diagnose explain cuda-oom": [str(BIN / "diagnose"), "explain", "cuda-oom"],
    "diagnose --help": [str(BIN / "diagnose"), "--help"],
    "whole answer, founding example": [str(BIN / "diagnose"), *ANSWER.split()],
}


def measure(runs: int) -> dict[str, list[float]]:
    """Time every command `runs` times, taking turns, bytecode cached, seconds."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    seconds: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for turn in range(runs + 1):
        for name, command in COMMANDS.items():
            start = time.perf_counter()
            subprocess.run(
                command, cwd=EXAMPLE, env=environment, check=True, stdout=subprocess.DEVNULL
            )
            if turn:  # the first turn fills the caches
                seconds[name].append(time.perf_counter() - start)
    return seconds


def main(runs: int) -> None:
    """Print a line per command."""
    seconds = measure(runs)
    peer = statistics.median(seconds['python -c "import typer"'])
    print(f"{'':32} {'median ms':>10} {'x import typer':>15}")
    for name, found in seconds.items():
        middle = statistics.median(found)
        print(f"{name:32} {middle * 1e3:10.0f} {middle / peer:15.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)
