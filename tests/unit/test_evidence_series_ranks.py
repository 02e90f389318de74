"""Ranks, or cards, that differ are named, with the order they stand in."""

from __future__ import annotations

import pytest

from trainrx.evidence.series.ranks import least_used, memory_spread, pattern, straggler
from trainrx.model.curves import Curve, Quantity


def curves(levels: list[float], quantity: Quantity = "memory", points: int = 12) -> list[Curve]:
    return [
        Curve(
            quantity=quantity,
            source="gpu.csv",
            at=tuple(map(float, range(points))),
            values=(level,) * points,
            lines=tuple(range(points)),
            unit="rank" if quantity == "step-time" else "card",
            number=number,
        )
        for number, level in enumerate(levels)
    ]


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ([70, 40, 41, 40], "first"),
        ([40, 41, 40, 70], "last"),
        ([40, 41, 70, 40], "one"),
        ([70, 71, 40, 70], "one-lower"),
        ([70, 60, 50, 42], "falling"),
        ([42, 50, 60, 70], "rising"),
        ([70, 70, 40, 41], "two-groups"),
        ([70, 40, 60, 50], "scattered"),
        ([70, 40], "first"),
    ],
)
def test_the_order_of_uneven_cards_is_named(levels: list[float], expected: str) -> None:
    assert pattern(levels) == expected


def test_the_fullest_and_the_emptiest_card_are_named() -> None:
    found = memory_spread(curves([70.0, 40.0, 41.0, 0.2]))

    assert found is not None
    assert (found.highest, found.lowest, found.difference) == (0, 1, 30.0)


def test_cards_that_hardly_differ_have_no_order() -> None:
    found = memory_spread(curves([40.0, 41.0, 40.5]))

    assert found is not None
    assert found.pattern == ""


def test_a_rank_that_takes_longer_in_nearly_all_steps_is_a_straggler() -> None:
    found = straggler(curves([1.0, 1.02, 1.4, 0.99], "step-time"))

    assert found is not None
    assert (found.number, round(found.factor, 2)) == (2, 1.4)


def test_ranks_of_one_pace_have_no_straggler() -> None:
    assert straggler(curves([1.0, 1.02, 1.05], "step-time")) is None
    assert straggler(curves([1.0, 1.5], "step-time", points=3)) is None


def test_a_card_that_computes_less_all_along_is_named() -> None:
    found = least_used(curves([98.0, 97.0, 30.0], "utilisation"))

    assert found is not None
    assert found.number == 2
    assert least_used(curves([98.0, 97.0, 90.0], "utilisation")) is None
