"""A leak is carried on to where memory ends; nothing else is."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.evidence.series.forecast import forecast, slope_of
from trainrx.evidence.series.shapes import grows, shape_of
from trainrx.evidence.series.trend import line_through
from trainrx.model.curves import Curve


def curve(values: list[float], *, every: int = 1, by: str = "step") -> Curve:
    return Curve(
        quantity="memory",
        source="train.log",
        at=tuple(float(every * (i + 1)) for i in range(len(values))),
        values=tuple(values),
        lines=tuple(range(1, len(values) + 1)),
        by="second" if by == "second" else "step",
    )


def test_a_leak_is_carried_on_to_the_limit_with_an_interval() -> None:
    found = forecast(curve([20 + 0.1 * n for n in range(100)], every=5), limit=60)

    assert found is not None
    assert found.at == pytest.approx(2005, rel=0.02)
    assert found.low < found.at < found.high
    assert slope_of(curve([20 + 0.1 * n for n in range(100)], every=5)) == pytest.approx(0.02)


def test_outliers_do_not_bend_the_line() -> None:
    values = [20 + 0.1 * n for n in range(100)]
    values[30] = values[70] = 500.0

    found = line_through(range(100), values)

    assert found is not None
    assert found.slope == pytest.approx(0.1, rel=0.05)


def test_no_forecast_where_the_training_ends_before() -> None:
    leak = curve([20 + 0.1 * n for n in range(100)])

    assert forecast(leak, limit=40, end=150) is None
    assert forecast(leak, limit=40, end=250) is not None


def test_no_forecast_far_beyond_what_was_seen() -> None:
    assert forecast(curve([20 + 0.01 * n for n in range(100)]), limit=80) is None


@pytest.mark.parametrize(
    "values",
    [
        [40.0] * 100,
        [40.0] * 10 + [50.0] * 10 + [58.0] * 10 + [60.0] * 70,
        [40.0] * 60 + [60.0] * 20,
        [40 + 8 * ((n * 7) % 10) / 10 for n in range(200)],
        [40 + 0.4 * (n % 50) for n in range(200)],
    ],
    ids=["flat", "staircase", "jump", "swings", "epochs"],
)
def test_nothing_but_a_leak_is_carried_on(values: list[float]) -> None:
    assert forecast(curve(values), limit=80) is None


@given(st.integers(0, 10_000))
def test_noise_is_no_growth(seed: int) -> None:
    pick = random.Random(seed)  # noqa: S311 (a curve, not a secret)
    values = [40 + pick.gauss(0, 1.0) for _ in range(120)]

    assert shape_of(curve(values)) == "flat"
    assert not grows(curve(values))
    assert forecast(curve(values), limit=80) is None


def test_a_model_that_is_loaded_is_no_growth_over_time() -> None:
    loading = [0.4 * n for n in range(100)] + [40.0] * 20

    assert not grows(curve(loading, every=10, by="second"))
