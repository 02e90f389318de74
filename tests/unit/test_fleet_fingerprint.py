import msgspec
import pytest

from trainrx.fleet.fingerprint import ALGORITHMS, FailureKey, failure_of, fingerprint, fingerprints
from trainrx.fleet.record import JobAnswer, JobSite

HUNG = JobAnswer(
    key="job-1",
    outcome="answered",
    verdict="diagnosed",
    causes=(("rank-waits-at-store", 0.9), ("port-taken", 0.1)),
    symptoms=("collective-timeout",),
    framework="verl",
    site=JobSite(stage="train", frame="verl/workers/fsdp_workers.py:update_actor"),
)


def _but(**changed: object) -> JobAnswer:
    return msgspec.structs.replace(HUNG, **changed)


@pytest.mark.parametrize(
    "other",
    [
        _but(key="job-2", nodes=("gpu-17",), started=1.0, ended=2.0, user="b", gpu_hours=3.0),
        _but(causes=(("rank-waits-at-store", 0.4), ("cuda-oom", 0.3))),
        _but(versions={"torch": "2.5.1"}, launch_digest="f00", inputs_digest="bar"),
    ],
)
def test_the_same_failure_has_the_same_name_whatever_machine_time_and_inputs(
    other: JobAnswer,
) -> None:
    assert fingerprint(other) == fingerprint(HUNG)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("train_run3/rank_17.py:step", "train_run12/rank_4.py:step"),
        ("model.py:layers.31.forward", "model.py:layers.7.forward"),
        ("hook 0x7f3a9c01 of 'alice'", "hook 0x55d0aa12 of 'bob'"),
        ("tmp_9f8e7d6c5b/run.py:main", "tmp_0123456789/run.py:main"),
    ],
)
def test_numbers_addresses_and_quoted_names_of_a_place_do_not_count(one: str, other: str) -> None:
    named = [fingerprint(_but(site=JobSite(frame=frame))) for frame in (one, other)]

    assert named[0] == named[1]


@pytest.mark.parametrize(
    "other",
    [
        _but(causes=(("port-taken", 0.9),)),
        _but(framework="ms-swift"),
        _but(site=JobSite(stage="load", frame=HUNG.site.frame)),
        _but(site=JobSite(stage="train", frame="verl/trainer/main.py:run")),
    ],
)
def test_another_cause_framework_stage_or_place_is_another_failure(other: JobAnswer) -> None:
    assert fingerprint(other) != fingerprint(HUNG)


@pytest.mark.parametrize(
    "answer",
    [
        _but(verdict="healthy"),
        _but(outcome="unread", verdict=""),
        _but(outcome="killed", verdict=""),
        _but(causes=(), symptoms=()),
    ],
)
def test_a_job_that_did_not_fail_or_was_not_answered_has_no_name(answer: JobAnswer) -> None:
    assert fingerprint(answer) == ""


def test_a_failure_nobody_can_name_is_grouped_by_its_symptom() -> None:
    unknown = _but(outcome="unknown", verdict="unknown", causes=())

    failure = failure_of(unknown)

    assert failure is not None
    assert failure.cause == "symptom:collective-timeout"


def test_names_tell_the_way_they_were_made_and_the_newest_comes_last() -> None:
    failure = FailureKey("c", "f", "s", "p")
    ways = {**ALGORITHMS, 2: lambda failure: failure.cause}

    first, second = fingerprints(failure, ways)

    assert (first[:2], second[:2]) == ("1:", "2:")
    assert first == fingerprints(failure)[0]


def test_the_first_way_of_grouping_gives_what_it_gave_when_it_was_released() -> None:
    assert fingerprint(HUNG) == "1:c3ceee421e04dc61"
