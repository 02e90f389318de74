"""Fitted weights and priors: what the fit shifts, how far, and what stays as judged."""

from __future__ import annotations

import math

import entries
import msgspec
import pytest
from entries import vote

from trainrx.knowledge.ranking import LEAST, with_fit
from trainrx.model.fitted import Fitted
from trainrx.model.knowledge import Cause


def cause() -> Cause:
    return entries.cause(
        "too-big",
        [vote("for", 2.0, {"fact": "for", "eq": 1})],
        [vote("against", 1.0, {"fact": "against", "eq": 1})],
        priors=[{"when": {"fact": "x", "eq": 1}, "prior": 0.4}],
    )


def fitted(slope: float = 1.0, intercept: float = 0.0, **shifts: object) -> Fitted:
    own = {"cases": 3, "right": 1} | shifts
    entry = {
        "schema": 1,
        "cases": 10,
        "pairs": 30,
        "prior_sd": 1.0,
        "weight_sd": 1.0,
        "slope": slope,
        "intercept": intercept,
        "causes": {"too-big": own},
    }
    return msgspec.convert(entry, Fitted)


def numbers(item: Cause) -> tuple[float, float, float, float]:
    evidence = item.evidence
    first = (item.prior, item.priors[0].prior)
    return (*first, evidence.supports[0].weight, evidence.contradicts[0].weight)


def test_without_a_fit_the_judgement_stands() -> None:
    assert with_fit({"too-big": cause()}, None) == {"too-big": cause()}


def test_a_shift_of_the_prior_moves_its_log_odds() -> None:
    found = with_fit({"too-big": cause()}, fitted(shift=math.log(2)))["too-big"]

    assert numbers(found) == pytest.approx((0.25 * 2 / 1.5, 4 / 3 / (1 + 4 / 3), 2.0, 1.0))


def test_votes_move_by_their_signed_shift() -> None:
    shifts = {"for": (-0.5, 3), "against": (-0.5, 2)}

    found = with_fit({"too-big": cause()}, fitted(votes=shifts))["too-big"]

    assert numbers(found)[2:] == pytest.approx((1.5, 1.5))


def test_a_vote_never_changes_sides() -> None:
    shifts = {"for": (-9.0, 3), "against": (9.0, 2)}

    found = with_fit({"too-big": cause()}, fitted(votes=shifts))["too-big"]

    assert numbers(found)[2:] == pytest.approx((LEAST, LEAST))


def test_the_calibration_scales_every_term_of_the_score() -> None:
    found = with_fit({"too-big": cause()}, fitted(slope=0.5, intercept=-0.3))["too-big"]

    odds = [math.log(p / (1 - p)) for p in numbers(found)[:2]]
    assert odds == pytest.approx([-0.3 + 0.5 * math.log(0.25), -0.3 + 0.5 * math.log(2 / 3)])
    assert numbers(found)[2:] == pytest.approx((1.0, 0.5))


def test_a_cause_without_cases_is_calibrated_only() -> None:
    stranger = msgspec.structs.replace(cause(), id="stranger")

    found = with_fit({"stranger": stranger}, fitted(slope=0.5, shift=1.0))["stranger"]

    assert numbers(found)[2:] == pytest.approx((1.0, 0.5))
