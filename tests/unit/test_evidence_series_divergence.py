"""A loss that leaves its course is a symptom; noise, spikes and slow learning are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.evidence.series.history import Series
from trainrx.evidence.series.points import Point
from trainrx.evidence.series.symptoms import diverges, series_symptoms

LEARNING = [2.5 - 0.02 * step for step in range(60)]


def test_a_loss_that_climbs_and_stays_up_diverges() -> None:
    assert diverges([5.8, 5.5, 5.2, 5.1, 5.0] + [300.0 + step for step in range(40)])


def test_a_loss_that_was_learnt_and_then_lost_diverges() -> None:
    assert diverges(LEARNING + [9.5] * 20)


def test_a_short_run_diverges_where_it_gets_worse_than_guessing() -> None:
    assert diverges([5.7, 1515.7, 1558.1, 1307.9, 72.5, 855.9, 328.8, 184.7, 34.4, 56.8])


@pytest.mark.parametrize(
    "losses",
    [
        LEARNING,
        [*LEARNING[:30], 80.0, 40.0, *LEARNING[30:]],
        [1.0, 1.4] * 30,
        [12.0] * 30,
        [0.01] * 20 + [1.5] * 20,
        [1.0] * 10 + [90.0] * 5,
        [700.0, 640.0, 655.0, 610.0, 590.0, 600.0],
        [],
    ],
    ids=["learns", "spike", "noise", "stays high", "easy then hard", "too short", "summed", "none"],
)
def test_what_is_no_divergence(losses: list[float]) -> None:
    assert not diverges(losses)


@given(st.lists(st.floats(-1e6, 1e6), min_size=20, max_size=200))
def test_a_falling_loss_never_diverges(losses: list[float]) -> None:
    assert not diverges(sorted(losses, reverse=True))


def _kinds(*, rewarded: bool) -> list[str]:
    series = Series("train.log")
    for step in range(40):
        loss = 1.0 if step < 10 else 50.0
        series.add(Point(line=step + 1, step=step, loss=loss, rewarded=rewarded), "{'loss': ...}")
    return [item.symptom for item in series_symptoms([series], set())]


def test_the_symptom_comes_with_the_series_and_not_with_rewards() -> None:
    assert _kinds(rewarded=False) == ["loss-diverges"]
    assert _kinds(rewarded=True) == []


@pytest.mark.parametrize(
    ("gradients", "rewarded", "found"),
    [
        ([0.0] * 5, False, ["gradient-zero"]),
        ([0.0] * 5, True, ["gradient-zero"]),
        ([0.0] * 4 + [0.2], False, []),
        ([0.0] * 3, False, []),
        ([0.3] * 5, False, []),
    ],
    ids=["never", "equal rewards", "at last", "too few steps", "learns"],
)
def test_a_gradient_that_is_zero_throughout_is_a_symptom(
    gradients: list[float], rewarded: bool, found: list[str]
) -> None:
    series = Series("train.log")
    for step, norm in enumerate(gradients):
        point = Point(line=step + 1, step=step, loss=5.6, grad_norm=norm, rewarded=rewarded)
        series.add(point, "{'loss': 5.6, 'grad_norm': ...}")

    kinds = [item.symptom for item in series_symptoms([series], set())]

    assert kinds == found
