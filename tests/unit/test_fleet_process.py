"""The process that answers jobs: what ends it is told, and the next job is answered."""

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from trainrx.fleet.process import AnswerProcess
from trainrx.fleet.record import FleetJob, JobFile, JobLimits

LOG = b"OSError: [Errno 28] No space left on device\n"


def _job(*files: JobFile) -> FleetJob:
    return FleetJob(key="k", name="n", source="kubernetes", files=files)


FULL_DISK = _job(JobFile(name="train.log", data=LOG))


@pytest.fixture(scope="module")
def process() -> Iterator[AnswerProcess]:
    opened = AnswerProcess(JobLimits())
    yield opened
    opened.close()


def test_a_process_that_is_killed_is_told_and_replaced(process: AnswerProcess):
    before = process.answer(FULL_DISK)
    process._process.kill()

    killed = process.answer(FULL_DISK)
    after = process.answer(FULL_DISK)

    assert (killed.outcome, killed.said) == ("killed", "its process was ended by SIGKILL")
    assert before.outcome == after.outcome == "answered"
    assert before.causes == after.causes


def test_a_job_that_takes_too_long_is_given_up():
    process = AnswerProcess(JobLimits(seconds=0.001))

    found = process.answer(FULL_DISK)

    assert (found.outcome, found.said) == ("timed-out", "took more than 0.001 s")
    assert process._process is None


def test_a_job_that_takes_too_much_memory_is_given_up(process: AnswerProcess):
    process.answer(FULL_DISK)
    used = int(Path(f"/proc/{process._process.pid}/statm").read_text().split()[0])
    least = used * resource.getpagesize() + (8 << 20)
    resource.prlimit(process._process.pid, resource.RLIMIT_AS, (least, least))

    found = process.answer(_job(JobFile(name="train.log", data=LOG * 2_000_000)))

    assert found.outcome == "killed"
    assert process._process is None
