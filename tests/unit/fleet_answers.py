"""Answers to jobs of a fleet, as tests need them."""

from __future__ import annotations

import random
from collections.abc import Sequence

import msgspec

from trainrx.fleet.record import JobAnswer, JobSite

DAY = 86_400.0
MONDAY = 1_789_977_600.0  # 2026-09-21 08:00 UTC


def failed(key: str, cause: str = "pixels-not-capped", **changed: object) -> JobAnswer:
    """Give the answer to a job that failed."""
    answer = JobAnswer(
        key=key,
        name=key,
        outcome="answered",
        verdict="diagnosed",
        causes=((cause, 0.9),),
        symptoms=("cuda-oom",),
        framework="ms-swift",
        site=JobSite(stage="train", frame="swift/trainers.py:step"),
        changes=(("MAX_PIXELS", "602112"),),
        started=MONDAY,
        ended=MONDAY + 3600,
        gpu_hours=8.0,
        inputs_digest=f"inputs of {key}",
        knowledge_serial="1",
    )
    return msgspec.structs.replace(answer, **changed)


def healthy(key: str, **changed: object) -> JobAnswer:
    """Give the answer to a job that ran well."""
    well = failed(key, verdict="healthy", causes=(), symptoms=(), changes=(), site=JobSite())
    return msgspec.structs.replace(well, **changed)


def fleet(
    jobs: int, nodes: Sequence[str], seed: int, *, bad: str = "", rate: float = 0.2
) -> list[JobAnswer]:
    """Give jobs that fail alike wherever they run, but for those on a bad node: two thirds."""
    rng = random.Random(seed)  # noqa: S311
    found = []
    for number in range(jobs):
        used = tuple(rng.sample(list(nodes), rng.choice((1, 1, 1, 2))))
        fails = rng.random() < (0.67 if bad in used else rate)
        changed: dict[str, object] = {
            "user": f"user-{rng.randrange(12)}",
            "nodes": used,
            "launch_digest": f"launch-{number}",
            "versions": {"torch": rng.choice(("2.4.0", "2.5.1"))},
            "image": rng.choice(("train:1", "train:2", "train:3")),
        }
        cause = rng.choice(("pixels-not-capped", "port-taken", "rank-killed", "loss-nan"))
        key = f"job-{number}"
        found.append(failed(key, cause, **changed) if fails else healthy(key, **changed))
    return found
