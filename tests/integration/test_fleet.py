"""Fleets on the engines that are installed: Dask always, Ray where it is."""

import json
import os
import signal
import threading
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import msgspec
import pytest

from trainrx.cli import main
from trainrx.fleet.engines import EngineLostError, Finished, FleetEngine, dask, open_engine
from trainrx.fleet.history.store import Store
from trainrx.fleet.record import FleetJob, JobAnswer, JobLimits, answer_of
from trainrx.fleet.run import FleetRun, Listed
from trainrx.fleet.sources.folders import FolderSource
from trainrx.fleet.work import examine
from trainrx.model.errors import UsageError

LIMITS = JobLimits()
LOGS = (
    "OSError: [Errno 28] No space left on device\n",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n",
    "{'loss': 1.0, 'learning_rate': 1e-05}\n",
)
PACKAGES = {"dask": "distributed", "ray": "ray"}
INSTALLED = [kind for kind, package in PACKAGES.items() if find_spec(package)]


def work(jobs: tuple[FleetJob, ...], _limits: JobLimits) -> tuple[JobAnswer, ...]:
    """Do with a job what its name says, in the process of a worker."""
    for job in jobs:
        if job.name == "kills":
            os.kill(os.getpid(), signal.SIGKILL)
        if job.name == "raises":
            raise RuntimeError("no disk here")
    return tuple(answer_of(job, "answered") for job in jobs)


def too_slow(jobs: tuple[FleetJob, ...], _limits: JobLimits) -> tuple[JobAnswer, ...]:
    """Give jobs up."""
    return tuple(answer_of(job, "timed-out") for job in jobs)


def _job(name: str, at: int = 0) -> FleetJob:
    return FleetJob(key=f"{name}-{at}", name=name, source="folder", inputs_digest="d")


class _Named:
    """A source of jobs that are all there is to them."""

    at_once = 1

    def prepared(self, job: FleetJob) -> FleetJob:
        return job


def _listed(*jobs: FleetJob) -> list[Listed]:
    return [Listed(source=_Named(), jobs=jobs)]


def test_dask_is_installed_where_this_is_tested():
    assert "dask" in INSTALLED


@pytest.fixture(scope="module", params=INSTALLED)
def engine(request: pytest.FixtureRequest) -> Iterator[FleetEngine]:
    with pytest.MonkeyPatch.context() as patched:
        # workers find the functions above by the name of this module
        patched.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=os.pathsep)
        opened = open_engine(request.param, "", 2)
        yield opened
        opened.close()


def test_what_is_submitted_comes_back_and_what_is_lost_or_raises_is_told(engine: FleetEngine):
    def all_of(*batches):
        for batch in batches:
            engine.submit(work, batch, LIMITS)
        return {done.batch: done for done in engine.finished()}

    fine = [(_job("fine", at), _job("fine", -at)) for at in range(1, 6)]
    raises, kills = (_job("raises"),), (_job("kills"),)

    slots = engine.slots
    found = all_of(*fine, raises) | all_of(kills)
    after = all_of(*fine)

    assert slots == 2
    assert all([a.key for a in found[b].answers] == [j.key for j in b] for b in fine)
    assert (found[raises].lost, "no disk here" in found[raises].said) == (False, True)
    assert (found[kills].answers, found[kills].lost) == (None, True)
    assert all(done.answers for done in after.values())


def test_a_job_that_kills_its_worker_is_told_and_all_others_are_answered(
    engine: FleetEngine, tmp_path: Path
):
    jobs = (*(_job("fine", at) for at in range(40)), _job("kills"))
    with Store.open(tmp_path / "h.db") as store:
        found = list(FleetRun(lambda: engine, LIMITS, store, work).answers(_listed(*jobs)))
        again = FleetRun(lambda: engine, LIMITS, store, work)

        assert sorted(one.key for one in found) == sorted(job.key for job in jobs)
        assert [one.key for one in found if one.outcome == "killed"] == ["kills-0"]
        assert (list(again.answers(_listed(*jobs))), len(again.passed_over)) == ([], 41)


def test_a_job_is_done_again_only_where_its_inputs_or_its_limits_changed(
    engine: FleetEngine, tmp_path: Path
):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.log").write_text("x\n")
    source = FolderSource([tmp_path])
    listed = [Listed(source=source, jobs=tuple(source.jobs(None)))]

    with Store.open(tmp_path / "h.db") as store:

        def answered(limits: JobLimits, does=work) -> list[str]:
            return sorted(
                a.name for a in FleetRun(lambda: engine, limits, store, does).answers(listed)
            )

        first = answered(LIMITS)
        (tmp_path / "b/train.log").write_text("more\n")
        second = answered(LIMITS)
        longer = answered(JobLimits(seconds=90))
        (tmp_path / "a/train.log").write_text("more\n")
        given_up = answered(LIMITS, too_slow)
        same_limits, more_time = answered(LIMITS), answered(JobLimits(seconds=90))

    assert (first, second, longer) == (["a", "b"], ["b"], [])
    assert (given_up, same_limits, more_time) == (["a"], [], ["a"])


def test_every_engine_gives_the_rows_that_one_process_gives(engine: FleetEngine, tmp_path: Path):
    launch = "swift sft --model Qwen/Qwen2.5-7B-Instruct --seed {}\n"
    for at, log in enumerate(LOGS):
        (tmp_path / f"{at}").mkdir()
        (tmp_path / f"{at}/train.log").write_text(log)
        (tmp_path / f"{at}/launch.sh").write_text(launch.format(at))
    source = FolderSource([tmp_path])
    jobs = tuple(source.jobs(None))
    alone = [examine(source.prepared(job), LIMITS) for job in jobs]

    found = list(FleetRun(lambda: engine, LIMITS).answers([Listed(source=source, jobs=jobs)]))

    assert sorted(map(_lasting, found)) == sorted(map(_lasting, alone))
    assert len({answer.causes[:1] for answer in found}) == len(LOGS)


def _lasting(answer: JobAnswer) -> str:
    """Give of an answer all but what it took."""
    took = {"seconds": 0.0, "cpu_seconds": 0.0, "peak_mib": 0.0}
    return msgspec.json.encode(msgspec.structs.replace(answer, **took)).decode()


class _Broken:
    """An engine whose workers cannot do the work."""

    slots = 1

    def __init__(self) -> None:
        self._out: list[tuple[FleetJob, ...]] = []

    def submit(self, _work, batch, _limits) -> None:
        self._out.append(batch)

    def finished(self) -> Iterator[Finished]:
        while self._out:
            yield Finished(self._out.pop(), None, "ModuleNotFoundError: trainrx")

    def close(self) -> None:
        """Let go of nothing."""


class _Slow(_Named):
    """A source that asks others; counts how many jobs it prepares at the same time."""

    at_once = 4

    def __init__(self) -> None:
        self.meeting = threading.Barrier(4, timeout=30)

    def prepared(self, job: FleetJob) -> FleetJob:
        self.meeting.wait()
        return job


class _Here(_Broken):
    """An engine that answers at once, in this process."""

    def submit(self, does, batch, limits) -> None:
        self._out.append((batch, does(batch, limits)))

    def finished(self) -> Iterator[Finished]:
        while self._out:
            yield Finished(*self._out.pop())


def test_jobs_of_a_source_that_waits_for_others_are_prepared_several_at_once():
    jobs = tuple(_job("fine", at) for at in range(12))
    source = _Slow()

    found = FleetRun(_Here, LIMITS, None, work).answers([Listed(source=source, jobs=jobs)])

    assert sorted(one.key for one in found) == sorted(job.key for job in jobs)


def test_workers_that_cannot_answer_end_the_run_and_count_nothing_as_done(tmp_path: Path):
    jobs = [_job("fine", at) for at in range(100)]
    with Store.open(tmp_path / "h.db") as store:
        with pytest.raises(EngineLostError, match="ModuleNotFoundError"):
            list(FleetRun(_Broken, LIMITS, store, work).answers(_listed(*jobs)))

        assert list(store.answers()) == []


def test_the_command_answers_in_lines_of_json_and_keeps_them(tmp_path: Path, capsys):
    (tmp_path / "runs/a").mkdir(parents=True)
    (tmp_path / "runs/a/train.log").write_text("OSError: [Errno 28] No space left on device\n")
    words = ["fleet", str(tmp_path / "runs"), "--jobs", "1", "--history", str(tmp_path / "h.db")]

    assert main([*words, "--format", "jsonl"]) == 0

    (answer,) = map(json.loads, capsys.readouterr().out.splitlines())
    with Store.open(tmp_path / "h.db") as store:
        (kept,) = store.answers()
    assert (answer["name"], answer["causes"][0][0]) == ("a", "disk-full")
    assert kept.knowledge_serial == answer["knowledge_serial"] != ""


def test_a_scheduler_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(dask, "ANSWERS_WITHIN", 0.5)

    with pytest.raises(UsageError, match="no scheduler of Dask answers there"):
        open_engine("dask", "tcp://127.0.0.1:9", 1)
