"""What moved before the first NaN is said, and that nothing did."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from trainrx.evidence.series.history import Mark
from trainrx.evidence.series.onset import onset
from trainrx.evidence.series.points import Point
from trainrx.model.facts import Origin

Made = Callable[[int], Point]


def steady(step: int) -> Point:
    return Point(line=step, step=step, loss=1.0, grad_norm=0.5, learning_rate=1e-5 / (step + 1))


def mark(made: Made, steps: int = 20) -> Mark:
    before = tuple(made(step) for step in range(steps))
    return Mark(origin=Origin(source="train.log", line=99), step=steps, order=steps, before=before)


def rising_gradient(step: int) -> Point:
    return Point(line=step, loss=1.0, grad_norm=0.5 if step < 17 else 0.5 * 10 ** (step - 16))


def infinite_gradient(step: int) -> Point:
    return Point(line=step, loss=1.0, grad_norm=0.5 if step < 19 else float("inf"))


def rising_loss(step: int) -> Point:
    return Point(line=step, loss=1.0 if step < 18 else 6.0, grad_norm=0.5)


def warm_up(step: int) -> Point:
    return Point(line=step, loss=1.0, grad_norm=0.5, learning_rate=1e-5 * step)


def long_sample(step: int) -> Point:
    return Point(line=step, loss=0.0, rewarded=True, length=200.0 if step < 19 else 900.0)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (rising_gradient, "gradient-rose"),
        (infinite_gradient, "gradient-rose"),
        (rising_loss, "loss-rose"),
        (warm_up, "rate-at-its-peak"),
        (long_sample, "long-sample"),
        (steady, "nothing"),
    ],
)
def test_what_moved_before_is_named(made: Made, expected: str) -> None:
    assert onset(mark(made)) == expected


def test_nothing_can_go_before_the_first_steps() -> None:
    assert onset(mark(rising_gradient, steps=1)) == "first-steps"


def test_steps_that_loss_scaling_skipped_go_before_all() -> None:
    assert onset(mark(rising_gradient), skipped=4) == "overflow"
