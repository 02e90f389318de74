"""Memory is told by what makes it rise."""

from __future__ import annotations

import msgspec
import pytest

from trainrx.evidence.series.shapes import grows, shape_of
from trainrx.model.curves import Curve


def curve(values: list[float], evaluations: tuple[float, ...] = ()) -> Curve:
    places = tuple(range(len(values)))
    return Curve(
        quantity="memory",
        source="train.log",
        at=tuple(map(float, places)),
        values=tuple(values),
        lines=places,
        evaluations=evaluations,
    )


@pytest.mark.parametrize(
    ("values_", "trend"),
    [
        ([40.0] * 50, "flat"),
        ([40 + n * 0.5 for n in range(60)], "linear"),
        ([40.0] * 10 + [50.0] * 10 + [58.0] * 10 + [60.0] * 70, "staircase"),
        ([40.0] * 60 + [60.0] * 20, "jump"),
        ([40.0, 60.0] + [60.0] * 50, "flat"),
        ([40.0, 41.0], None),
    ],
)
def test_the_shape_of_memory_is_named(values_: list[float], trend: str | None) -> None:
    assert shape_of(curve(values_)) == trend


@pytest.mark.parametrize(
    ("values_", "growing"),
    [
        ([40 + n * 0.5 for n in range(60)], True),
        ([40.0] * 20 + [46.0] * 20 + [50.0] * 30 + [54.0] * 20, True),
        ([40.0] * 10 + [60.0] * 90, False),
        ([40.0, 55.0, 60.0] + [60.0] * 60, False),
        ([40 + n * 0.01 for n in range(60)], False),
    ],
)
def test_memory_grows_when_it_still_rises_late_in_the_run(
    values_: list[float], growing: bool
) -> None:
    assert grows(curve(values_)) is growing


def test_what_rises_where_evaluations_begin_is_their_work() -> None:
    values = [40.0 + 4 * (n // 25) for n in range(100)]

    assert shape_of(curve(values, evaluations=(24.5, 49.5, 74.5))) == "evaluation"
    assert shape_of(curve(values, evaluations=(10.5, 40.5, 90.5))) != "evaluation"


def test_reserved_memory_that_tensors_do_not_fill_is_fragmentation() -> None:
    reserved = curve([40 + 0.2 * n for n in range(100)])
    used = msgspec.structs.replace(reserved, values=tuple(35.0 + n % 3 for n in range(100)))
    filled = msgspec.structs.replace(reserved, values=tuple(v - 1 for v in reserved.values))

    assert shape_of(reserved, used) == "fragmentation"
    assert shape_of(reserved, filled) == "linear"


def test_what_swings_around_a_higher_level_at_last_grew() -> None:
    swings = [40.0 + n % 2 for n in range(120)] + [60.0 + n % 2 for n in range(60)]

    assert shape_of(curve(swings)) == "jump"


def test_what_falls_back_each_epoch_is_level() -> None:
    assert shape_of(curve([40 + 0.4 * (n % 40) for n in range(200)])) == "flat"
