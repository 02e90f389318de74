"""Works through the jobs of a fleet: what is done is not done again, what is lost is told."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice
from typing import Protocol

import msgspec

from trainrx.fleet.engines import Batch, EngineLostError, Finished, FleetEngine, Work
from trainrx.fleet.record import FleetJob, JobAnswer, JobLimits, JobOutcome, answer_of
from trainrx.fleet.sources import JobSource
from trainrx.fleet.work import answer_batch, knowledge_serial
from trainrx.model.progress import advance, begin

LARGEST_BATCH = 16
"""Jobs, a second or two of work: what is lost with a worker, and done again."""
AHEAD = 2
"""Batches that are out for each slot, so that none waits for the driver."""
GIVEN_UP: tuple[JobOutcome, ...] = ("killed", "timed-out", "error")
MOST_FAILED = 4
"""Batches that fail at the beginning, with none that does not, after which no more are tried."""
MIB = 1024 * 1024


class AnswerStore(Protocol):
    """What remembers answers."""

    def has(self, job_key: str, inputs_digest: str, knowledge_serial: str) -> bool:
        """Tell whether a job was answered from the same inputs by the same knowledge."""

    def add(self, answers: Iterable[JobAnswer]) -> None:
        """Keep answers; they are on the disk when it returns."""


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """Jobs with the source that knows how to get at them."""

    source: JobSource
    jobs: tuple[FleetJob, ...]


class FleetRun:
    """One pass over a fleet.

    Args:
        opened: opens what jobs are answered on, once there is one to answer.
        limits: of each.
        store: where answers go; None keeps nothing, so nothing is passed over.
        work: what is done with a batch.
    """

    def __init__(
        self,
        opened: Callable[[], FleetEngine],
        limits: JobLimits,
        store: AnswerStore | None = None,
        work: Work = answer_batch,
    ) -> None:
        self._opened, self._limits, self._store, self._work = opened, limits, store, work
        self._serial = knowledge_serial(limits)
        within = f"{limits.seconds:g} s, {limits.memory // MIB} MiB"
        self._serial_given_up = f"{self._serial} within {within}"
        self._out = 0
        self._failed: int | None = 0
        self._last: FleetJob | None = None
        self._alone: deque[FleetJob] = deque()
        self._suspects: deque[FleetJob] = deque()
        self.passed_over: list[str] = []

    def answers(self, listed: Sequence[Listed]) -> Iterator[JobAnswer]:
        """Answer jobs and keep each answer before it is given; they come in no order.

        Raises:
            EngineLostError: the engine is gone, or none of its workers can answer; what was given
                is kept.
        """
        total = sum(len(one.jobs) for one in listed)
        begin("answering", total)
        wanted = self._wanted(listed)
        first = next(wanted, None)
        if first is None:
            return
        engine = self._opened()
        # how fast it goes is said of what is answered now
        begin("answering", total - len(self.passed_over))
        batches = self._batches(chain((first,), wanted), engine, total)
        self._fill(engine, batches)
        while self._out:
            for done in engine.finished():
                self._out -= 1
                answers = tuple(self._kept(done))
                if self._store is not None:
                    # what could not be tried is not done
                    self._store.add([one for one in answers if one.knowledge_serial])
                advance(len(answers))
                yield from answers
                self._fill(engine, batches)

    def _wanted(self, listed: Sequence[Listed]) -> Iterator[FleetJob]:
        """Give the jobs that are not done, with all it takes to read them."""
        for one in listed:
            open_ones = (job for job in one.jobs if not (job.inputs_digest and self._is_done(job)))
            for job, ready in _prepared(one.source, open_ones):
                if job.inputs_digest or not self._is_done(ready):
                    yield ready

    def _is_done(self, job: FleetJob) -> bool:
        if self._store is None:
            return False
        serials = (self._serial, self._serial_given_up)
        done = any(self._store.has(job.key, job.inputs_digest, serial) for serial in serials)
        if done:
            self.passed_over.append(job.key)
            advance(1)
        return done

    def _batches(
        self, jobs: Iterator[FleetJob], engine: FleetEngine, total: int
    ) -> Iterator[Batch]:
        """Cut batches, small at first and in the end, so that all slots begin and end together.

        How many jobs are left is only known to be no more than those not looked at.
        """
        given = 0
        while True:
            slots = engine.slots * AHEAD
            left = total - len(self.passed_over) - given
            size = max(1, min(LARGEST_BATCH, 1 + given // (2 * slots), left // (2 * slots)))
            batch = tuple(islice(jobs, size))
            if not batch:
                return
            given += len(batch)
            yield batch

    def _fill(self, engine: FleetEngine, batches: Iterator[Batch]) -> None:
        """Keep all slots busy; jobs that were lost with others go first, each alone.

        A worker takes with it what waits there, so one that was lost alone is tried at the end,
        when nothing else is out.
        """
        slots = engine.slots * AHEAD
        while self._out < slots and (batch := self._next(batches)):
            engine.submit(self._work, batch, self._limits)
            self._out += 1

    def _next(self, batches: Iterator[Batch]) -> Batch:
        if self._alone:
            return (self._alone.popleft(),)
        batch = next(batches, ())
        if not batch and self._suspects and not self._out:
            self._last = self._suspects.popleft()
            return (self._last,)
        return batch

    def _kept(self, done: Finished) -> Iterator[JobAnswer]:
        """Give the answers of a batch; only a job that was lost with no other out is to blame.

        Raises:
            EngineLostError: the first batches all failed: so would the others.
        """
        if done.answers is not None:
            self._failed = None
            for answer in done.answers:
                given_up = answer.outcome in GIVEN_UP
                serial = self._serial_given_up if given_up else self._serial
                yield msgspec.structs.replace(answer, knowledge_serial=serial)
        elif not done.lost:
            self._refuse_all(done.said)
            yield from (answer_of(job, "error", done.said) for job in done.batch)
        elif len(done.batch) > 1:
            self._alone.extend(done.batch)
        elif done.batch[0] is not self._last:
            self._suspects.append(done.batch[0])
        else:
            answer = answer_of(done.batch[0], "killed", done.said)
            yield msgspec.structs.replace(answer, knowledge_serial=self._serial_given_up)

    def _refuse_all(self, said: str) -> None:
        if self._failed is None:
            return
        self._failed += 1
        if self._failed == MOST_FAILED:
            raise EngineLostError(f"the workers cannot answer: {said}")


def _prepared(source: JobSource, jobs: Iterator[FleetJob]) -> Iterator[tuple[FleetJob, FleetJob]]:
    """Give each job and the same ready to be read, in order; some are prepared ahead."""
    if source.at_once == 1:
        yield from ((job, source.prepared(job)) for job in jobs)
        return
    with ThreadPoolExecutor(source.at_once) as threads:
        coming: deque[tuple[FleetJob, Future[FleetJob]]] = deque()
        while True:
            for job in islice(jobs, source.at_once - len(coming)):
                coming.append((job, threads.submit(source.prepared, job)))
            if not coming:
                return
            job, ready = coming.popleft()
            yield job, ready.result()
