from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.model.facts import Facts, Origin, fact
from trainrx.model.job import Defect, RawLaunch
from trainrx.model.memory import Figure, HostUse, Prediction, Refusal
from trainrx.model.result import Change
from trainrx.prove import recheck
from trainrx.prove.recheck import LaunchReading, same_value

HERE = Origin(source="launch.sh", line=3)
NO = Refusal(kind="unknown", id="no-model", reason="no model")


def launch(**more):
    return RawLaunch(framework="ms-swift", command="sft", args=(), env=(), origin=HERE, **more)


def reading(*facts, memory=NO, guards=None, findings=None, raw=True):
    return LaunchReading(
        launch=launch() if raw is True else raw,
        facts=Facts(facts),
        guards=guards or {},
        memory=memory,
        findings=findings,
    )


def prediction(gib, limit=24.0, need=None):
    figure = Figure(gib=gib, low=gib * 0.8, high=gib * 1.2)
    return Prediction(
        allocated=figure,
        reserved=figure,
        card=figure,
        need_gib=gib if need is None else need,
        peak="backward",
        phases=(),
        host=HostUse(resident=1.0, peak=1.0, terms=()),
        verdict="does-not-fit" if gib > limit else "fits",
        limit_gib=limit,
    )


def change(canonical="train.micro_batch", to="1", action="lower", kind="arg"):
    return Change(
        kind=kind,
        param="per_device_train_batch_size",
        canonical=canonical,
        action=action,
        to=to,
        spelled=f"--per_device_train_batch_size {to}",
    )


def test_a_value_that_reads_back_holds():
    after = reading(fact("train.micro_batch", 1, HERE))

    assert recheck.spelled([change()], after, {"train.micro_batch": 1}).holds


@pytest.mark.parametrize(
    "facts",
    [
        [],
        [fact("train.micro_batch", 2, HERE)],
        [fact("train.micro_batch", 1, HERE, how="default")],
    ],
)
def test_a_value_that_is_lost_wrong_or_only_a_default_fails(facts):
    check = recheck.spelled([change()], reading(*facts), {})

    assert not check.holds
    assert "per_device_train_batch_size" in check.detail


def test_what_a_plan_means_goes_before_what_is_spelled():
    after = reading(fact("parallel.deepspeed", "zero2", HERE))
    written = change("parallel.deepspeed", to="ds_z3.json")

    assert not recheck.spelled([written], after, {"parallel.deepspeed": "zero3"}).holds


def test_a_removed_argument_must_be_gone():
    gone = change(action="remove", to=None)

    assert recheck.spelled([gone], reading(), {}).holds
    assert not recheck.spelled([gone], reading(fact("train.micro_batch", 1, HERE)), {}).holds


def test_an_edit_that_adds_an_objection_is_told_from_one_that_leaves_it():
    before = reading(guards={"old": "Old"})

    assert recheck.standing(before, reading(guards={"old": "Old"})) == {"old": "Old"}
    assert recheck.standing(before, reading(guards={"old": "Old", "new": "New"})) is None


def test_a_refusal_fails_the_check_be_it_old_or_new():
    assert recheck.guards(reading()).holds
    assert not recheck.guards(reading(guards={"old": "Old"})).holds


def test_what_did_not_stop_the_job_is_void():
    after = reading(guards={"old": "Old"}, findings={"r": "r: bad"})

    assert recheck.guards(after, {"old"}).holds
    assert not recheck.lint(after, {"old"}).holds
    assert recheck.lint(after, {"old", "r"}).holds
    assert recheck.standing(after, after, {"old"}) == {"r": "r: bad"}


def test_without_a_linter_nothing_is_said_to_be_linted():
    assert recheck.lint(reading()) is None
    assert not recheck.lint(reading(findings={"r": "r: bad"})).holds


def test_a_guard_that_lint_tells_of_too_is_told_once():
    after = reading(guards={"g": "Guard"}, findings={"g": "g: bad"})

    assert recheck.lint(after).holds
    assert recheck.objections(after) == {"g": "Guard"}


def test_a_lost_launch_another_program_or_a_broken_continuation_fails():
    broken = Defect(id="x", source="launch.sh", line=1, text="", message="m")

    assert recheck.parsed(reading(), reading()).holds
    assert not recheck.parsed(reading(), reading(raw=None)).holds
    assert not recheck.parsed(reading(), reading(raw=launch(defects=(broken,)))).holds
    assert not recheck.parsed(reading(), reading(raw=launch(program="other.py"))).holds


def test_memory_must_fit_and_be_what_the_plan_said():
    assert recheck.memory(reading(memory=prediction(20.0))).holds
    assert recheck.memory(reading(memory=prediction(20.0)), 20.2).holds
    assert not recheck.memory(reading(memory=prediction(20.0)), 15.0).holds
    assert not recheck.memory(reading(memory=prediction(30.0))).holds


def test_what_the_log_showed_scales_the_model():
    after = reading(memory=prediction(20.0))

    assert not recheck.memory(after, scale=1.5).holds


def test_without_figures_nothing_is_claimed_of_memory():
    assert recheck.memory(reading()) is None
    assert recheck.batch(reading(), reading(), 8) is None


def test_the_batch_must_be_what_was_promised():
    before = reading(fact("batch.effective", 16, HERE))
    after = reading(fact("batch.effective", 48, HERE))

    assert recheck.batch(before, after, 48).detail == "16 -> 48"
    assert not recheck.batch(before, after, 16).holds


@given(st.one_of(st.booleans(), st.integers(-9, 9), st.text(max_size=3)))
def test_a_value_is_itself(value):
    assert same_value(value, value)


@given(st.integers(-9, 9))
def test_a_number_is_no_switch(value):
    assert not same_value(value, bool(value))
    assert same_value(value, float(value))
