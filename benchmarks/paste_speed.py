"""Speed at which a long paste is taken apart, beside a Markdown parser on the same text.

    python benchmarks/paste_speed.py [--mib 10] [--seed 7] [--runs 3]

The paste has a question and a command, then a log in a fence, then a sentence. The peer,
markdown-it-py, only finds the fence; the splitter also tells command, words and log apart. Compare
the ratios: absolute figures depend on the machine. What stands at the ends must be found, else this
exits 1.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable

from markdown_it import MarkdownIt
from scan_logs import MIB, Made

from trainrx.inputs.files import read_stdin

ASKED = "Why does it stop after some steps, what can I do?\n"
COMMAND = "swift sft --model Qwen/Qwen2.5-7B-Instruct --train_type full"
ANSWERED = "It was fine with the version before, I think.\n"


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--mib", type=int, default=10)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--runs", type=int, default=3)
    said = parser.parse_args()
    text = paste(said.mib * MIB, said.seed)
    data = text.encode()
    mine = seconds(lambda: read_stdin(data), said.runs)
    peer = seconds(lambda: MarkdownIt("commonmark").parse(text), said.runs)
    print(f"paste of {said.mib} MiB, {text.count(chr(10))} lines, median of {said.runs} runs")
    print(f"{'split':16}{mine:8.2f} s CPU")
    print(f"{'markdown-it-py':16}{peer:8.2f} s CPU{peer / mine:10.1f} x")
    return 0 if is_whole(data) else 1


def paste(size: int, seed: int) -> str:
    """Make a post around a log of a size."""
    rows: list[str] = []
    made = Made(seed).lines()
    length = 0
    while length < size:
        rows.append(next(made))
        length += len(rows[-1]) + 1
    log = "\n".join(rows)
    return f"{ASKED}\n```bash\n{COMMAND}\n```\n\n```\n{log}\n```\n{ANSWERED}"


def seconds(work: Callable[[], object], runs: int) -> float:
    """Give the median of the CPU time of some runs."""
    took = []
    for _ in range(runs):
        before = time.process_time()
        work()
        took.append(time.process_time() - before)
    return statistics.median(took)


def is_whole(data: bytes) -> bool:
    """Tell whether command, words and log were found."""
    found = {item.kind: item.text or "" for item in read_stdin(data)[0]}
    words = found.get("note", "")
    said = ASKED.strip() in words and ANSWERED.strip() in words
    return said and COMMAND in found.get("script", "") and "'loss'" in found.get("log", "")


if __name__ == "__main__":
    sys.exit(main())
