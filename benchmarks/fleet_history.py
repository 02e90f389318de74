"""A history of as many jobs as a cluster has in years: what it costs to write, resume and report.

Called by `python benchmarks/fleet.py --simulate 1000000`: answers of recorded runs are repeated
with other jobs, nodes, users and times, and written as a run of a fleet does, in batches.
"""

from __future__ import annotations

import json
import random
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec
import psutil

from trainrx.fleet.across.groups import grouped
from trainrx.fleet.across.suspects import Suspect, suspects
from trainrx.fleet.history.store import Store
from trainrx.fleet.record import JobAnswer
from trainrx.fleet.report.rows import rows, write_parquet
from trainrx.fleet.run import LARGEST_BATCH
from trainrx.fleet.sources.sacct import SacctSource

T = TypeVar("T")
NODES = [f"n{number:04}" for number in range(1000)]
BAD_NODE = "n0013"
VERSIONS = [{"torch": torch, "transformers": "4.51.3"} for torch in ("2.5.1", "2.6.0", "2.7.1")]
HARM = 0.8
FROM, SPAN = 1_760_000_000, 365 * 86400
LOOKED_UP = 20_000
LISTED = 20_000
WEEK = 20_000
"""Jobs of which a report is made at once: those of a week."""


def many(seeds: Sequence[JobAnswer], count: int) -> Iterator[JobAnswer]:
    """Give so many answers: those there are with other jobs, nodes, users, launches and times."""
    draw = random.Random(3)  # noqa: S311 - no secret is made of it
    bad = [one for one in seeds if one.verdict in ("diagnosed", "suspected", "unknown")]
    for number in range(count):
        nodes = tuple(sorted(draw.sample(NODES, draw.choice((1, 1, 2, 4)))))
        harmed = BAD_NODE in nodes and draw.random() < HARM
        seed = bad[0] if harmed else draw.choice(seeds)
        ended = FROM + SPAN * number / count
        yield msgspec.structs.replace(
            seed,
            key=f"cluster/{number}",
            name=f"job-{number}",
            inputs_digest=f"{number:020x}",
            nodes=nodes,
            user=f"user-{draw.randrange(400)}",
            image=f"registry.local/train:2026.{draw.randrange(12):02}",
            versions=draw.choice(VERSIONS),
            launch_digest=f"{draw.randrange(count):016x}",
            gpus=8 * len(nodes),
            gpu_hours=8.0 * len(nodes),
            started=ended - 3600,
            ended=ended,
        )


def measured(name: str, work: Callable[[], T], jobs: int) -> T:
    """Do something; print what it took of the processor, and what the process grew by."""
    before = psutil.Process().memory_info().rss
    began = time.process_time()
    found = work()
    took = time.process_time() - began
    grown = (psutil.Process().memory_info().rss - before) / jobs
    print(
        f"{name}: {took:.2f} s of a processor, {jobs / max(took, 1e-9):,.0f} jobs/s, "
        f"{max(0.0, grown):,.0f} bytes a job stay in memory"
    )
    return found


def simulate(seeds: Sequence[JobAnswer], count: int, folder: Path) -> int:
    """Write a history of so many jobs, ask it all there is to ask; give the exit status."""
    path = folder / "many.db"
    with Store.open(path) as store:
        measured("written", lambda: _written(store, many(seeds, count)), count)
        print(f"history: {path.stat().st_size / count:,.0f} bytes a job")
        looked = measured("looked up", lambda: _found(store, count), LOOKED_UP)
        found = _reported(store, count)
        parquet = folder / "many.parquet"
        measured("as Parquet", lambda: write_parquet(rows(store.summaries(), ()), parquet), count)
    _driver(folder)
    print("suspects:", ", ".join(f"{one.axis} {one.name}" for one in found[:4]))
    return int(looked != LOOKED_UP or not any(one.name == BAD_NODE for one in found))


def _reported(store: Store, count: int) -> tuple[Suspect, ...]:
    """Read all jobs and group them; suspects are those of the last of them, as of a week."""
    answers = measured("read", lambda: list(store.summaries()), count)
    for by in ("cause", "user", "framework", "node", "version"):
        measured(f"grouped by {by}", partial(grouped, answers, by), count)
    week = answers[-WEEK:]
    return measured("suspects", partial(suspects, week), len(week))


def _written(store: Store, answers: Iterator[JobAnswer]) -> None:
    batch: list[JobAnswer] = []
    for answer in answers:
        batch.append(answer)
        if len(batch) == LARGEST_BATCH:
            store.add(batch)
            batch.clear()
    store.add(batch)


def _found(store: Store, count: int) -> int:
    """Look jobs up as a run does that goes on."""
    serial = next(iter(store.newest(["cluster/0"]))).knowledge_serial
    draw = random.Random(5)  # noqa: S311 - no secret is made of it
    numbers = (draw.randrange(count) for _ in range(LOOKED_UP))
    return sum(store.has(f"cluster/{n}", f"{n:020x}", serial) for n in numbers)


def _driver(folder: Path) -> None:
    """Measure what the listing of a job takes in the driver."""
    job = {
        "cluster": "c",
        "name": "sft",
        "user": "ann",
        "nodes": "n[0001-0002]",
        "working_directory": "/scratch/runs/ann/sft",
        "state": {"current": ["FAILED"]},
        "time": {"start": FROM, "end": FROM + 3600},
    }
    listing = folder / "listing.json"
    listing.write_text(json.dumps({"jobs": [{**job, "job_id": n} for n in range(1, LISTED + 1)]}))
    tracemalloc.start()
    jobs = tuple(SacctSource(listing).jobs(None))
    now, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    print(f"driver: {now / len(jobs):,.0f} bytes a job listed, {peak / len(jobs):,.0f} at most")
