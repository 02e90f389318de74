"""The fit of weights: on a leash, chosen by cases it has not seen, and calibrated."""

from __future__ import annotations

import numpy as np
import pytest

from fit.logistic import calibrated, chosen, expit, first_right, fit, left_out, log_loss, table
from fit.pair import Pair


def pair(
    case: int, cause: str, *votes: str, right: bool | None, holds: bool = False, prior: float = 0.0
) -> Pair:
    weighed = tuple((vote, 1.0) for vote in votes)
    return Pair(case, cause, prior, weighed, holds or right is not False, right)


def shift(pairs: list[Pair], cause: str, prior_sd: float = 1.0) -> float:
    data = table(pairs)
    found = fit(data, prior_sd, 0.1)
    return float(found.shifts[data.causes.index(cause)])


def test_a_cause_that_is_right_more_often_than_judged_moves_up_and_another_down() -> None:
    pairs = [pair(i, "good", right=True) for i in range(6)]
    pairs += [pair(i, "bad", right=False) for i in range(6)]

    assert shift(pairs, "good") > 0.5
    assert shift(pairs, "bad") < -0.5


def test_the_leash_holds_a_single_case_back() -> None:
    pairs = [pair(0, "seen-once", right=True)]

    assert shift(pairs, "seen-once", prior_sd=0.25) < shift(pairs, "seen-once", prior_sd=1.0) < 0.5


def test_a_judgement_that_is_borne_out_stays() -> None:
    pairs = [pair(i, "even", right=i % 2 == 0) for i in range(20)]

    assert shift(pairs, "even") == pytest.approx(0.0, abs=1e-3)


def test_what_is_said_of_a_case_does_not_come_from_it() -> None:
    one = [pair(0, "a", right=True), *(pair(i, "a", right=False) for i in (1, 2, 3))]
    other = [pair(0, "a", right=False), *one[1:]]

    said = [left_out(table(pairs), 1.0, 0.1)[0] for pairs in (one, other)]

    assert said[0] == pytest.approx(said[1])


def test_without_a_gain_the_tightest_leash_is_chosen() -> None:
    rng = np.random.default_rng(7)
    pairs = [pair(i, f"c{i % 6}", right=bool(rng.random() < 0.5)) for i in range(24)]

    best, _ = chosen(table(pairs))

    assert (best.prior_sd, best.weight_sd) == (0.25, 0.1)


def test_odds_that_are_right_are_left_as_they_are_and_bold_ones_are_tamed() -> None:
    rng = np.random.default_rng(3)
    odds = rng.normal(size=4000)
    right = (rng.random(4000) < expit(odds)).astype(float)

    assert calibrated(odds, right) == pytest.approx((0.0, 1.0), abs=0.1)
    assert calibrated(3.0 * odds, right)[1] == pytest.approx(1 / 3, abs=0.1)


def test_the_loss_of_a_coin_is_that_of_a_coin() -> None:
    assert log_loss(np.zeros(4), np.array([0.0, 1.0, 1.0, 0.0])) == pytest.approx(np.log(2))


def test_the_share_of_cases_with_a_right_cause_among_the_first() -> None:
    pairs = [
        pair(0, "a", right=False, prior=1.0),
        pair(0, "b", right=True, prior=0.0),
        pair(1, "a", right=True, prior=1.0),
    ]
    data = table(pairs)

    assert [first_right(data, data.offset, among) for among in (1, 2)] == [0.5, 1.0]


def test_a_cause_that_only_shares_the_fix_is_neither_right_nor_wrong() -> None:
    pairs = [pair(i, "shares", right=None) for i in range(9)]
    pairs += [pair(i, "explains", right=True) for i in range(9)]

    assert shift(pairs, "shares") == pytest.approx(0.0, abs=1e-6)
    assert shift(pairs, "explains") > 0.5


def test_what_worked_counts_as_found_whichever_cause_names_it() -> None:
    data = table([pair(0, "shares", right=None), pair(0, "explains", right=True)])

    assert first_right(data, np.array([1.0, 0.0]), 1) == 1.0


def test_pairs_left_out_move_no_shift() -> None:
    pairs = [pair(i, f"c{i % 3}", "vote", right=i % 4 == 0) for i in range(12)]
    more = [pair(i, f"c{i % 3}", "vote", right=None, prior=3.0) for i in range(12)]

    one, other = (fit(table(listed), 1.0, 0.5) for listed in (pairs, [*pairs, *more]))

    assert one.shifts == pytest.approx(other.shifts, abs=1e-4)
