"""What the accuracy benchmark counts, and how it splits cases by date."""

from __future__ import annotations

from typing import Any

import pytest
from accuracy import Names, judge
from accuracy_table import Outcome, figures, halving_date, table


def outcome(
    date: str = "", *, likely: bool = False, hit: bool = False, name: str = "ninth"
) -> Outcome:
    return Outcome(
        case="x",
        set=name,
        date=date,
        family="oom",
        named="oom",
        verdict="diagnosed",
        likely=likely,
        probability=0.8 if likely else 0.2,
        symptom=True,
        hit=(hit, hit),
        causes=(),
    )


def answer(word: str) -> dict[str, Any]:
    change = {"param": "per_device_train_batch_size", "action": "lower", "canonical": "", "to": "1"}
    cause = {"id": "c", "family": "oom", "probability": 0.4, "verdict": word}
    return {
        "verdict": "suspected",
        "symptoms": [],
        "causes": [cause | {"fixes": [{"changes": [change]}]}],
    }


def test_what_is_called_likely_is_what_the_answer_calls_so_whatever_its_probability() -> None:
    case = {"id": "x", "symptom": "oom", "date": "2026-08-10", "set": "tenth"}
    case["fixes"] = [{"param": "per_device_train_batch_size"}]

    found = [judge(case, answer(word), Names()) for word in ("likely", "possible")]

    assert [item.likely for item in found] == [True, False]
    assert [item.hit[0] for item in found] == [True, True]
    assert {(item.set, item.date) for item in found} == {("tenth", "2026-08-10")}


def test_precision_counts_only_what_was_called_likely() -> None:
    items = [
        outcome(likely=True, hit=True),
        outcome(likely=True),
        outcome(likely=True, hit=True),
        outcome(hit=True),
    ]

    found = figures(items)

    assert (found.likely, found.right, found.precision) == (3, 2, "0.667")
    assert found.brier == pytest.approx((2 * 0.2**2 + 2 * 0.8**2) / 4)


def test_where_nothing_was_called_likely_there_is_no_precision() -> None:
    assert figures([outcome(hit=True)]).precision == "-"


def test_cases_are_split_at_the_date_given_and_those_without_one_are_older() -> None:
    items = [outcome(), outcome("2025-01-01", likely=True), outcome("2026-08-10", hit=True)]

    lines = list(table(items, "2026-01-01"))

    older = next(line for line in lines if line.startswith("before 2026-01-01"))
    newer = next(line for line in lines if line.startswith("since 2026-01-01"))
    assert older.split()[2:4] == ["2", "1.000"]
    assert newer.split()[2:5] == ["1", "1.000", "1.000"]
    assert lines[-1] == "likely: 1 called, 0 right (0.000)"


def test_without_a_date_the_dated_cases_are_halved() -> None:
    items = [outcome(date) for date in ("", "2026-03-01", "2025-01-01", "2026-02-01", "2024-01-01")]

    assert halving_date(items) == "2026-02-01"


def test_cases_without_dates_are_not_split() -> None:
    assert not any(line.startswith(("before", "since")) for line in table([outcome()], None))


def test_several_sets_have_a_row_each() -> None:
    lines = list(table([outcome(name="ninth"), outcome(name="tenth")], None))

    assert [line.split()[1] for line in lines if line.startswith("set ")] == ["ninth", "tenth"]
