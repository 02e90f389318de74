"""Take the evidence of a job on this machine into a bundle."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from trainrx.collect.bundle import SUFFIX, Bundle, TakenItem, masked_bundle, write_bundle
from trainrx.collect.commands import Runner, run_command
from trainrx.collect.files import output, recorders
from trainrx.collect.machine import machine
from trainrx.collect.processes import LiveJob
from trainrx.collect.ras import ras
from trainrx.collect.roles import LiveProcess
from trainrx.collect.runtime import runtime
from trainrx.collect.stacks import StackTaker, Taken
from trainrx.model import __version__
from trainrx.model.bundle import BundleGap, BundleManifest, BundleProcess, CollectReport
from trainrx.model.progress import advance, begin
from trainrx.sanitizer import Level

MOST_BYTES = 1 << 27
"""Characters that are taken in all."""


class TakeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How evidence is taken.

    Attributes:
        out: the file, or the folder it goes into; None keeps the bundle in memory.
        rounds: how often the stacks are taken, `interval` seconds apart.
        level: what is masked.
        run: runs a command within a time limit.
        py_spy: the binary; "" looks for it.
    """

    out: Path | None = None
    rounds: int = 2
    interval: float = 2.0
    level: Level = "secrets"
    run: Runner = run_command
    py_spy: str = ""


class Collected(msgspec.Struct, frozen=True, kw_only=True):
    """A bundle, and the file it was written to."""

    bundle: Bundle
    path: Path | None = None
    seconds: float = 0.0

    @property
    def report(self) -> CollectReport:
        """Say what was taken."""
        return CollectReport(
            manifest=self.bundle.manifest,
            path="" if self.path is None else str(self.path),
            size=0 if self.path is None else self.path.stat().st_size,
            seconds=self.seconds,
        )


def take(
    job: LiveJob, options: TakeOptions, report: Callable[[Taken], None] = lambda _: None
) -> Collected:
    """Take the evidence of a job; `report` is told of each item and of each gap.

    Raises:
        UsageError: the bundle cannot be written.
    """
    began = time.time()
    items: list[TakenItem] = []
    gaps: list[BundleGap] = list(job.gaps)
    for one in _limited(_taken(job, options), job.host):
        if isinstance(one, BundleGap):
            gaps.append(one)
        else:
            items.append(one)
        report(one)
    bundle = masked_bundle(_manifest(job, gaps, began), items, options.level, job.secrets)
    path = None if options.out is None else saved(bundle, options.out)
    return Collected(bundle=bundle, path=path, seconds=time.time() - began)


def _limited(taken: Iterator[Taken], host: str) -> Iterator[Taken]:
    """Leave out what would make a bundle too large."""
    left = MOST_BYTES
    for one in taken:
        if isinstance(one, TakenItem) and len(one.text) > left:
            name = one.item.path
            yield BundleGap(kind=one.item.kind, reason="too-large", name=name, host=host)
            continue
        left -= len(one.text) if isinstance(one, TakenItem) else 0
        yield one


def _taken(job: LiveJob, options: TakeOptions) -> Iterator[Taken]:
    stacks = StackTaker(job, options.run, options.py_spy or None)
    begin("collecting", options.rounds)
    for number in range(1, options.rounds + 1):
        began = time.monotonic()
        advance()
        yield from stacks.round(number)
        if number == 1:  # all else is taken between the rounds
            yield from _besides_stacks(job, options)
        if number < options.rounds:
            time.sleep(max(0.0, options.interval - (time.monotonic() - began)))


def _besides_stacks(job: LiveJob, options: TakeOptions) -> Iterator[Taken]:
    yield from ras(job, options.run)
    yield from recorders(job)
    yield from output(job)
    yield from runtime(job)
    yield from machine(job, options.run)


def _manifest(job: LiveJob, gaps: list[BundleGap], at: float) -> BundleManifest:
    return BundleManifest(
        tool=f"trainrx {__version__}",
        job=job.name,
        at=at,
        host=job.host,
        processes=tuple(_process(one, job.host) for one in job.processes),
        gaps=tuple(gaps),
    )


def _process(one: LiveProcess, host: str) -> BundleProcess:
    return BundleProcess(
        pid=one.pid,
        parent=one.parent,
        role=one.role,
        rank=one.rank,
        local_rank=one.local_rank,
        world_size=one.world_size,
        host=host,
        argv=one.argv,
        started=one.started,
    )


def saved(bundle: Bundle, out: Path) -> Path:
    """Write a bundle into a file, or into a folder under the name of its job.

    Raises:
        UsageError: it cannot be written.
    """
    path = out / f"trainrx-{bundle.manifest.job}{SUFFIX}" if out.is_dir() else out
    write_bundle(bundle, path)
    return path
