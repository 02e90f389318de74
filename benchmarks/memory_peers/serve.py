"""The loop every adapter shares: jobs in on stdin, answers out on stdout, one JSON a line.

With `--time` there is one answer: how many jobs a second it does, of those it has a number for.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

GIB = 2.0**30
Job = dict[str, Any]


def serve(package: str, estimate: Callable[[Job], dict[str, float] | None]) -> None:
    """Answer each job with GiB per GPU by figure; no answer where `estimate` gives None.

    An estimator that raises on a job has no number for it: the reason goes to stderr.
    """
    installed = version(package)
    jobs = [json.loads(line) for line in sys.stdin]
    if sys.argv[1:] == ["--time"]:
        with contextlib.redirect_stdout(sys.stderr):
            speed, number = _speed(jobs, estimate)
        print(json.dumps({"version": installed, "jobs": number, "per_second": speed}))
        return
    for job in jobs:
        said = _said(job, estimate, package)
        if said is not None:
            gib = {name: round(value, 3) for name, value in said.items()}
            print(json.dumps({"version": installed, "row": job["row"], "gib": gib}))


def _said(
    job: Job, estimate: Callable[[Job], dict[str, float] | None], package: str = ""
) -> dict[str, float] | None:
    try:
        with contextlib.redirect_stdout(sys.stderr):
            return estimate(job)
    except (AssertionError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        if package:
            print(f"{package}: {job['row']}: {error!r}", file=sys.stderr)
        return None


def _speed(
    jobs: list[Job], estimate: Callable[[Job], dict[str, float] | None]
) -> tuple[float, int]:
    covered = [job for job in jobs if _said(job, estimate) is not None]
    best = 0.0
    for _ in range(3 if covered else 0):
        start = time.process_time()
        for job in covered:
            estimate(job)
        best = max(best, len(covered) / (time.process_time() - start))
    return round(best, 1), len(covered)


def plain(job: Job) -> bool:
    """Tell whether nothing but data parallelism spreads the job, and all of it is on the card."""
    alone = job["tensor"] == job["pipeline"] == 1 and not job["other_parallel"]
    return bool(alone and not job["offload"])
