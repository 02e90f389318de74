"""Speed of the log scan beside ripgrep, grep and plain `re`, on a seeded log with planted failures.

    python benchmarks/scan.py [--mib 64] [--seed 7] [--runs 3]

Compare the ratios: absolute figures depend on the machine. The peers only name the lines that
match; the scan also counts per signature, reads what was captured, tells rank, phase, step, series.
Every planted failure must be found, else this exits 1.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from trainrx.evidence.detector import Detector
from trainrx.knowledge.load import load
from trainrx.model.job import Input
from trainrx.model.knowledge import Symptom

MIB = 1 << 20
SLICE = 2 * MIB
"""Bytes that `re`, pattern by pattern and line by line, is given: more would take minutes."""
PATIENCE = 60
PLANTED_PER_MIB = 2
COLOURED = 0.1


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


def write_log(
    path: Path, size: int, seed: int, samples: Sequence[tuple[str, str]]
) -> list[tuple[str, int]]:
    """Write a log of about `size` bytes; gives signature and line of every planted failure."""
    made = Made(seed)
    pick = made.random
    places = sorted(pick.randrange(size) for _ in range(size // MIB * PLANTED_PER_MIB))
    planted: list[tuple[str, int]] = []
    written = number = 0
    with path.open("wb") as out:
        for ordinary in made.lines():
            line = ordinary
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


def _coloured(text: str, pick: random.Random) -> str:
    middle = text.find(" ", len(text) // 3)
    if pick.random() >= COLOURED or middle < 0:
        return text
    return f"{text[:middle]} \x1b[1;31m{text[middle + 1 :]}\x1b[0m"


def timed(run: Callable[[], object], runs: int) -> float:
    """Give the median wall time of some runs, in seconds."""
    took = []
    for _ in range(runs):
        start = time.perf_counter()
        run()
        took.append(time.perf_counter() - start)
    return statistics.median(took)


class Peer(msgspec.Struct, frozen=True):
    """A tool to compare with: its command without the log, the patterns it is given, the log."""

    name: str
    command: tuple[str, ...]
    patterns: tuple[str, ...]
    log: Path


def peers(log: Path, part: Path, symptoms: Sequence[Symptom]) -> Iterator[Peer]:
    """Give the peers that are installed; grep with our regexes gets the slice only."""
    patterns = [pattern for symptom in symptoms for pattern in symptom.patterns]
    needles = tuple(dict.fromkeys(needle for pattern in patterns for needle in pattern.needles))
    if shutil.which("rg"):
        rust = tuple(f"(?-u:{p.regex})" if p.regex.isascii() else p.regex for p in patterns)
        yield Peer("rg -f, all regexes", ("rg", "-a", "-n", "--no-config", "-f"), rust, log)
    if shutil.which("grep"):
        plain = tuple(posix(pattern.regex) for pattern in patterns)
        yield Peer("grep -F -f, needles only", ("grep", "-F", "-a", "-n", "-f"), needles, log)
        yield Peer("grep -E -f, all regexes, slice", ("grep", "-E", "-a", "-n", "-f"), plain, part)


def posix(regex: str) -> str:
    r"""Write a Python regex for grep -E, which knows neither `\d` nor named groups."""
    plain = re.sub(r"\(\?P<\w+>|\(\?:", "(", regex).replace("(?i)", "")
    plain = re.sub(r"([*+?}])\?", r"\1", plain)
    return re.sub(r"\[([^\]]*)\\([.\-])", r"[\1\2", plain).replace(r"\d", "[0-9]")


def brute(log: Path, symptoms: Sequence[Symptom]) -> None:
    """Try every pattern on every line."""
    compiled = [re.compile(p.regex) for s in symptoms for p in s.patterns]
    data = log.read_bytes()
    for line in data.decode("utf-8", "replace").split("\n"):
        for pattern in compiled:
            pattern.search(line)


def peer_speed(peer: Peer, runs: int) -> float | None:
    """Give the speed of a peer in MB/s; None when it failed or took longer than a minute."""
    environment = {**os.environ, "LC_ALL": "C"}
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as listed:
        listed.write("\n".join(peer.patterns) + "\n")
        listed.flush()
        command = [*peer.command, listed.name, str(peer.log)]

        def run() -> None:
            subprocess.run(
                command, env=environment, capture_output=True, timeout=PATIENCE, check=False
            )

        try:
            subprocess.run(
                command, env=environment, capture_output=True, timeout=PATIENCE, check=True
            )
            return peer.log.stat().st_size / 1e6 / timed(run, runs)
        except subprocess.TimeoutExpired:
            print(f"{peer.name}: not done in {PATIENCE} s")
        except subprocess.CalledProcessError as error:
            print(
                f"{peer.name}: {error.stderr.decode(errors='replace').strip()[:200] or 'no match'}"
            )
        return None


def main() -> int:
    """Run the comparison; 1 when a planted failure was missed."""
    parser = argparse.ArgumentParser(description="speed of the log scan")
    parser.add_argument("--mib", type=int, default=64)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    symptoms = [s for s in load().symptoms.values() if s.role != "observation"]
    failures = [(s.id, line) for s in symptoms if s.role == "failure" for line in s.samples.match]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "train.log"
        planted = write_log(log, options.mib * MIB, options.seed, failures)
        return report(log, symptoms, planted, options.runs)


def report(log: Path, symptoms: list[Symptom], planted: list[tuple[str, int]], runs: int) -> int:
    """Time all and print the figures."""
    size = log.stat().st_size / 1e6
    inputs = [Input(kind="log", name="train.log", path=log)]
    detector = Detector(symptoms, engine="linear")
    start = time.perf_counter()
    found = detector.detect(inputs)
    first = time.perf_counter() - start
    ours = size / timed(lambda: detector.detect(inputs), runs)
    part = log.with_name("slice.log")
    part.write_bytes(log.read_bytes()[:SLICE])
    took = timed(lambda: brute(part, symptoms), 1)
    speeds = {"python re, all regexes, slice": part.stat().st_size / 1e6 / took}
    for peer in peers(log, part, symptoms):
        speed = peer_speed(peer, runs)
        speeds |= {} if speed is None else {peer.name: speed}
    print(f"{size:.0f} MB, {len(symptoms)} signatures, {found.lines} lines")
    print(f"first scan, compiling included: {first:.2f} s")
    print(f"trainrx: {ours:.0f} MB/s")
    for name, speed in speeds.items():
        print(f"{name}: {speed:.2f} MB/s, trainrx is {ours / speed:.1f}x")
    missed = {name for name, _ in planted} - {item.symptom for item in found.symptoms}
    print(f"planted failures: {len(planted)}, signatures missed: {sorted(missed) or 'none'}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
