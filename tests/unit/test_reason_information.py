"""What an observation is expected to say: none where all causes expect the same of it."""

from __future__ import annotations

import itertools
import math

import pytest
from entries import cause
from hypothesis import given
from hypothesis import strategies as st

from trainrx.reason.information import NOBODY, information, shares
from trainrx.reason.score import Scored, logit

NAMES = ("a", "b", "c")
NOW = {"a": 0.5, "b": 0.3, NOBODY: 0.2}
SHIFT = st.floats(-6, 6, allow_nan=False)
OUTCOMES = st.lists(st.dictionaries(st.sampled_from(NAMES), SHIFT), min_size=1, max_size=4)
WEIGHTS = st.lists(st.floats(0.01, 1), min_size=3, max_size=3)


def scored(ident: str, probability: float) -> Scored:
    score = logit(probability)
    return Scored(cause=cause(ident, []), prior=0.1, score=score, reasons=(), supported=False)


def entropy(now: dict[str, float]) -> float:
    return -math.fsum(share * math.log2(share) for share in now.values())


def test_the_shares_sum_to_one_and_leave_room_for_what_nobody_wrote_down() -> None:
    part = shares([scored("a", 0.6), scored("b", 0.3)])

    assert math.fsum(part.values()) == pytest.approx(1)
    assert part["a"] == pytest.approx(2 * part["b"])
    assert part[NOBODY] > 0


@given(st.floats(-6, 6), st.integers(1, 4))
def test_an_observation_on_which_all_causes_agree_tells_nothing(shift: float, count: int) -> None:
    same = [dict.fromkeys(NOW, shift * at) for at in range(count)]

    assert information(NOW, same) == pytest.approx(0, abs=1e-12)


def test_what_tells_the_causes_apart_better_tells_more() -> None:
    weak, strong = ([{"a": at}, {"b": at}] for at in (0.5, 3.0))

    assert 0 < information(NOW, weak) < information(NOW, strong) < entropy(NOW)


def test_an_outcome_that_one_cause_alone_expects_splits_it_from_the_rest() -> None:
    now = {"a": 0.5, "b": 0.5}

    assert information(now, [{"a": 40.0}, {"b": 40.0}]) == pytest.approx(1)


@given(WEIGHTS, OUTCOMES)
def test_it_lies_between_nothing_and_all_there_is_to_know(
    weights: list[float], outcomes: list[dict[str, float]]
) -> None:
    whole = sum(weights)
    now = {name: weight / whole for name, weight in zip(NAMES, weights, strict=True)}

    assert 0 <= information(now, outcomes) <= entropy(now) + 1e-9


@given(OUTCOMES)
def test_the_order_of_causes_and_outcomes_changes_nothing(
    outcomes: list[dict[str, float]],
) -> None:
    found = {
        information(dict(now), list(order))
        for now in itertools.permutations(NOW.items())
        for order in itertools.islice(itertools.permutations(outcomes), 6)
    }

    assert max(found) - min(found) < 1e-12
