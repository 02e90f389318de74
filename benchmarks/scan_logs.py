"""Logs of training runs, from a seed, with planted failures: mixed, and of costly shapes.

Lines and their proportions are guessed from real runs.
"""

from __future__ import annotations

import gzip
import random
import shutil
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

MIB = 1 << 20
PLANTED_PER_MIB = 2
COLOURED = 0.1
LONG = 80_000
"""Characters of a long line."""
STORM = 5
"""Every so many lines of an error storm are the same failure."""
BARS = 200
"""Draws of a progress bar between two line ends, in a storm of them."""

Sample = tuple[str, str]
"""A signature, and a line that it matches."""


class Made:
    """Lines of a training run, from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 (a log, not a secret)
        self.step = 0

    def lines(self) -> Iterator[str]:
        """Give lines without end, in proportions guessed from real runs."""
        kinds = (self.metrics, self.bars, self.nccl, self.deepspeed, self.vllm, self.words)
        weights = (30, 10, 20, 15, 10, 15)
        while True:
            yield self.random.choices(kinds, weights)[0]()

    def metrics(self) -> str:
        """Give a logged step of ms-swift."""
        self.step += 1
        pick = self.random.random
        return (
            f"{{'loss': {pick() + 0.01:.6f}, 'grad_norm': {pick():.6f}, 'memory(GiB)': "
            f"{40 + pick():.2f}, 'train_speed(iter/s)': {pick() + 0.01:.6f}, "
            f"'global_step/max_steps': '{self.step}/900000', 'elapsed_time': '1h 2m 3s'}}"
        )

    def bars(self) -> str:
        """Give a progress bar drawn several times."""
        first = self.random.randrange(900)
        return "".join(
            f"\rTrain:  {n // 10}%|{'█' * (n // 100):<10}| {n}/1000"
            f" [00:10<01:20, {self.random.random():.2f}s/it]"
            for n in range(first, first + 6)
        )

    def nccl(self) -> str:
        """Give a line of NCCL."""
        pick = self.random.randrange
        return (
            f"node-{pick(8)}:{pick(9999)}:{pick(9999)} [{pick(8)}] NCCL INFO Channel"
            f" {pick(24):02}/0 : {pick(64)}[{pick(8)}] -> {pick(64)}[{pick(8)}] via P2P/CUMEM/read"
        )

    def deepspeed(self) -> str:
        """Give a line of DeepSpeed."""
        pick = self.random.randrange
        return (
            f"[2025-11-20 10:{pick(60):02}:{pick(60):02},{pick(999):03}] [INFO] [utils.py:782:"
            f"see_memory_usage] MA {pick(60)}.5 GB         Max_MA {pick(70)}.1 GB"
        )

    def vllm(self) -> str:
        """Give a coloured line of vLLM."""
        pick = self.random.randrange
        return (
            f"\x1b[32mINFO\x1b[0m 11-20 10:{pick(60):02}:{pick(60):02} [loggers.py:111] Engine 000:"
            f" Avg generation throughput: {pick(4999)}.1 tokens/s, Running: {pick(256)} reqs"
        )

    def words(self) -> str:
        """Give a line in Chinese."""
        pick = self.random.randrange
        return f"[INFO:swift] 已保存到：/nas/实验/run-{pick(99)}，第 {pick(9999)} 步，{pick(99)} 秒"


SHAPES = ("mixed", "long-lines", "bar-storm", "error-storm", "gz")


def ordinary(made: Made, shape: str, samples: Sequence[Sample]) -> Iterator[str]:
    """Give the lines of a shape without end, but for the planted ones."""
    if shape == "long-lines":
        lines = made.lines()
        while True:
            yield " ".join(islice(lines, LONG // 200))[:LONG].replace("\r", " ")
    if shape == "bar-storm":
        while True:
            yield "".join(made.bars() for _ in range(BARS // 6))
    for number, line in enumerate(made.lines()):
        yield samples[0][1] if shape == "error-storm" and number % STORM == 0 else line


def write_log(
    path: Path, size: int, seed: int, samples: Sequence[Sample], shape: str = "mixed"
) -> list[tuple[str, int]]:
    """Write a log of about `size` bytes; gives signature and line of every planted failure."""
    made = Made(seed)
    pick = made.random
    places = sorted(pick.randrange(size) for _ in range(size // MIB * PLANTED_PER_MIB))
    planted: list[tuple[str, int]] = []
    written = number = 0
    with path.open("wb") as out:
        for usual in ordinary(made, shape, samples):
            line = usual
            number += 1
            if places and written >= places[0]:
                places.pop(0)
                name, text = pick.choice(samples)
                planted.append((name, number))
                line = _coloured(text, pick)
            data = (line + "\n").encode()
            out.write(data)
            written += len(data)
            if written >= size:
                return planted
    return planted


def packed(log: Path) -> Path:
    """Pack a log with gzip."""
    place = log.with_name(log.name + ".gz")
    with log.open("rb") as plain, gzip.open(place, "wb", compresslevel=6) as out:
        shutil.copyfileobj(plain, out)
    return place


def _coloured(text: str, pick: random.Random) -> str:
    middle = text.find(" ", len(text) // 3)
    if pick.random() >= COLOURED or middle < 0:
        return text
    return f"{text[:middle]} \x1b[1;31m{text[middle + 1 :]}\x1b[0m"
