"""Newer threads are judged by a fit of strictly older ones."""

from __future__ import annotations

from typing import Any

import pytest

from fit.collect import pairs
from fit.dated import CUTS, Block, judged, older_than, rolling, rows, within
from fit.logistic import PARTS, fit, left_out, table
from fit.pair import Pair
from fit.ranking import Fitting, fitted
from trainrx.knowledge.load import load
from trainrx.knowledge.loaded import LoadedKnowledge

OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
OLD, NEW = "2024-05-01", CUTS[-1]


def case(ident: str, date: str = "", **more: Any) -> dict[str, Any]:
    told = {"id": ident, "framework": "trl", "set": "x", "symptom": "oom", "log": OOM}
    fix = {"param": "per_device_train_batch_size", "action": "lower", "value": "1", "kind": "arg"}
    return {**told, "observed": "it runs out of memory", "fixes": [fix], "date": date, **more}


def pair(number: int, *, right: bool) -> Pair:
    return Pair(number, "c", 0.0, (("v", 1.0),), right, right)


def test_older_is_strictly_older_and_a_thread_without_a_date_is_the_oldest() -> None:
    cases = [case("a", "2026-01-01"), case("b", "2025-12-31"), case("c"), case("d", "2026-02-01")]
    found = [pair(number, right=True) for number in range(4)]

    older = older_than(found, cases, "2026-01-01")

    assert [cases[item.case]["id"] for item in older] == ["b", "c"]
    assert [item["id"] for item in within(cases, "2026-01-01", "2026-02-01")] == ["a"]


@pytest.fixture(scope="module")
def threads() -> list[dict[str, Any]]:
    return [case("a"), case("b", OLD), case("c", OLD), case("d", NEW)]


@pytest.fixture(scope="module")
def found(threads: list[dict[str, Any]]) -> list[Pair]:
    return list(pairs(threads, LoadedKnowledge()))


def said(found: list[Pair], cases: list[dict[str, Any]]) -> list[Block]:
    return list(rolling(found, cases, cases, load()))


def test_a_newer_thread_is_judged_by_what_older_ones_say_and_not_by_its_own_label(
    threads: list[dict[str, Any]], found: list[Pair]
) -> None:
    own = [p._replace(right=not p.right) if p.case == 3 else p for p in found]
    older = [p._replace(right=False) if p.case < 3 else p for p in found]

    plain, flipped, wrong = (said(listed, threads) for listed in (found, own, older))

    assert [(block.since, block.older) for block in plain] == [(NEW, 3)]
    assert [item.case for item in plain[0].outcomes] == ["d"]
    assert plain[0].outcomes == flipped[0].outcomes
    assert plain[0].outcomes[0].probability > wrong[0].outcomes[0].probability


def test_a_case_under_examination_is_asked_and_not_learnt_from(
    threads: list[dict[str, Any]], found: list[Pair]
) -> None:
    asked = [*threads, case("e", NEW, set="exam")]

    block = next(iter(rolling(found, threads, asked, load())))
    lines = list(rows([block], "exam"))

    assert block.older == 3
    assert [line[0] for line in lines] == [f"since {NEW}", "all of them", "of these, set `exam`"]
    assert [line[2] for line in lines] == ["2", "2", "1"]


def test_a_case_whose_input_is_refused_is_answered_with_nothing() -> None:
    refused = case("x", NEW, cmd="import torch\n\ndef main():\n    pass\n", log="", observed="")

    outcome = judged([refused], load(), None)[0]

    assert (outcome.verdict, outcome.likely, outcome.probability) == ("unknown", False, 0.0)


def test_no_pair_is_judged_by_a_fit_that_has_seen_its_part() -> None:
    found = [pair(number, right=number % 2 == 0) for number in range(2 * PARTS)]
    flipped = [p._replace(right=not p.right) if p.case % PARTS == 0 else p for p in found]

    one, other = (left_out(table(listed), 1.0, 0.5) for listed in (found, flipped))

    assert one[0] == pytest.approx(other[0])
    assert one[PARTS] == pytest.approx(other[PARTS])
    assert one[1] != pytest.approx(other[1])


def test_a_vote_that_counted_in_two_cases_is_not_written() -> None:
    rare = Pair(9, "c", 0.0, (("rare", 1.0),), True, True)
    found = [pair(number, right=True) for number in range(6)]
    found += [rare, rare._replace(case=10)]

    data = table(found)
    record = fitted(found, Fitting(data, fit(data, 1.0, 0.5), data.offset, 0.0, 1.0), 8)

    assert set(record.causes["c"].votes) == {"v"}
    assert (record.cases, record.pairs, record.causes["c"].right) == (8, 8, 8)
