"""How many jobs a second the closed form predicts, on one core.

    python benchmarks/memory_speed.py [--peer-python [NAME=]PYTHON ...]

The jobs are models of the catalogue in all combinations of what is trained, sharded, recomputed,
batch and length, in an order that repeats nothing. Encoding the same workloads with msgspec is the
yardstick: about what it costs to touch every field once. Named peers do the ones they cover, each
in its own process. Time is that of the processor, so that what else runs here counts little.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence

import msgspec
from memory_peers import PeerError, ask, job_of, pythons_of

from trainrx.knowledge.load import load
from trainrx.memory.predict import predict
from trainrx.model.hardware import ModelShape
from trainrx.model.memory import Length, Prediction, Workload

ASKED = 20_000
JOBS = 6_000
ROUNDS = 5


def main() -> int:
    """Measure and print; 2 when the catalogue holds no model with a full shape."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--peer-python", action="append", default=[], metavar="[NAME=]PYTHON")
    said = parser.parse_args()
    jobs = workloads(JOBS)
    if not jobs:
        print("no model of the catalogue has layers, width and vocabulary", file=sys.stderr)
        return 2
    numbers = sum(isinstance(predict(job), Prediction) for job in jobs)
    speed = per_second(predict, jobs)
    print(f"{'jobs':>28s}: {len(jobs)}, {numbers} of them with a number")
    print(
        f"{'predict':>28s}: {speed:10,.0f} a second, asked {ASKED:,}"
        f" ({'met' if speed >= ASKED else 'missed'})"
    )
    encode = msgspec.json.Encoder().encode
    print(f"{'msgspec encode':>28s}: {per_second(encode, jobs):10,.0f} a second")
    for line in peer_lines(said.peer_python, jobs):
        print(line)
    return 0


def workloads(number: int) -> list[Workload]:
    """Give varied workloads over the catalogue's models, shuffled the same way each time."""
    shapes = [
        shape
        for shape in load().models
        if shape.layers and shape.hidden and shape.vocab and shape.params_b and shape.heads
    ]
    made = list(_combinations(shapes))
    random.Random(5).shuffle(made)  # noqa: S311  # an order, not a secret
    return made[:number]


def _combinations(shapes: Sequence[ModelShape]) -> Iterator[Workload]:
    tuned = (("full", None), ("lora", None), ("lora", 4))
    for shape, (tuner, bits), (world, stage), ckpt, batch, length in itertools.product(
        shapes,
        tuned,
        ((1, 0), (8, 2), (8, 3), (16, 3)),
        (True, False),
        (1, 2, 4),
        (1024, 3000, 8192, 32768),
    ):
        yield Workload(
            shape=shape,
            tuner="lora" if tuner == "lora" else "full",
            rank=16,
            targets=("q", "k", "v", "o", "gate", "up", "down") if tuner == "lora" else (),
            quant_bits=bits,
            quant_method="bnb" if bits else "",
            precision="deepspeed" if stage else "autocast",
            micro_batch=float(batch),
            length=Length(low=length / 4, typical=length / 2, high=length, how="cap"),
            checkpointing=ckpt,
            recompute="full" if ckpt else "none",
            world=world,
            data=world,
            zero_stage=stage,
            ranks_per_node=min(world, 8),
            card_gib=80.0,
        )


def per_second(work: Callable[[Workload], object], jobs: Sequence[Workload]) -> float:
    """Give the best of a few rounds over all jobs."""
    best = 0.0
    for _ in range(ROUNDS):
        start = time.process_time()
        for job in jobs:
            work(job)
        best = max(best, len(jobs) / (time.process_time() - start))
    return best


def peer_lines(pythons: Sequence[str], jobs: Sequence[Workload]) -> Iterator[str]:
    """Time the peers that have a python of their own or share the unnamed one."""
    told = [job_of(str(number), job) for number, job in enumerate(jobs)]
    covered = [job for job in told if job is not None]
    for peer, python in pythons_of(pythons).items():
        try:
            (found,) = ask(peer, python, covered, "--time")
        except PeerError as error:
            yield str(error)
            continue
        title = f"{peer} {found['version']}"
        yield f"{title:>28s}: {found['per_second']:10,.0f} a second on {found['jobs']} of them"


if __name__ == "__main__":
    raise SystemExit(main())
