"""What was tried speaks for and against the causes whose fixes make that change."""

from __future__ import annotations

import entries
import pytest

from trainrx.model.facts import Facts, Scalar, fact
from trainrx.model.knowledge import Cause
from trainrx.reason.trials import FAILED, WORKED, trial_reasons

PACKING, BATCH = "train.packing", "train.micro_batch"


def cause(*fixes: dict[str, object]) -> Cause:
    words = {"title": entries.WORDS, "safety": "safe", "cost": entries.WORDS}
    made = [{"id": f"f{at}", **words, **fix} for at, fix in enumerate(fixes)]
    return entries.cause("it", [], fixes=made)


def weights(made: Cause, trial: str, value: Scalar, now: float | None = None) -> list[float]:
    known = [fact(trial, value), fact("note.trials", trial)]
    known += [] if now is None else [fact(BATCH, now)]
    return [reason.weight for reason in trial_reasons(made, Facts(known), "en")]


@pytest.mark.parametrize("fix", [{"unset": [PACKING]}, {"set": {PACKING: False}}])
def test_that_it_works_without_a_setting_speaks_for_what_takes_it_away(
    fix: dict[str, object],
) -> None:
    assert weights(cause(fix), f"note.works_with.{PACKING}", "none") == [WORKED]


@pytest.mark.parametrize(
    "fix", [{"unset": ["train.streaming"]}, {"set": {PACKING: True}}, {"steps": entries.WORDS}]
)
def test_a_trial_says_nothing_of_a_cause_whose_fixes_do_not_make_that_change(
    fix: dict[str, object],
) -> None:
    assert weights(cause(fix), f"note.works_with.{PACKING}", "none") == []


def test_a_change_in_vain_speaks_against_a_cause_by_the_share_of_its_fixes() -> None:
    only = cause({"unset": [PACKING]})
    half = cause({"unset": [PACKING]}, {"set": {"train.streaming": True}})

    assert weights(only, f"note.fails_also_with.{PACKING}", "none") == [-FAILED]
    assert weights(half, f"note.fails_also_with.{PACKING}", "none") == [-FAILED / 2]


@pytest.mark.parametrize(
    ("tried", "now", "counts"),
    [(1, 4, True), (8, 4, False), (1, None, True), (2, None, False)],
)
def test_a_lower_value_in_vain_counts_where_it_is_known_to_be_lower(
    tried: int, now: float | None, counts: bool
) -> None:
    halve = cause({"set": {BATCH: {"times": 0.5}}})

    assert bool(weights(halve, f"note.fails_also_with.{BATCH}", tried, now)) is counts


def test_without_trials_nothing_is_said() -> None:
    assert list(trial_reasons(cause({"unset": [PACKING]}), Facts(), "en")) == []
