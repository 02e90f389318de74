"""Labelled public threads, each diagnosed once: how often rightly, and in every form."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest
import yaml
from accuracy import STRICT, Names, asked, judge

import first_screen
import trainrx.render
from trainrx import diagnose
from trainrx.model.knowledge import Family
from trainrx.model.result import Diagnosis, Kind
from trainrx.render import render
from trainrx.render.document import View

HERE = Path(__file__).parent / "threads"
SETS = sorted(path.name for path in HERE.iterdir() if path.is_dir())
FLOORS: dict[str, dict[str, int]] = yaml.safe_load(
    Path(__file__).with_name("accuracy.yaml").read_text(encoding="utf-8")
)
CONFIDENCE = (*STRICT, "inferred")
SCHEMA = jsonschema.validators.validator_for({})(
    json.loads(
        Path(trainrx.render.__file__).with_name("diagnosis.schema.json").read_text(encoding="utf-8")
    )
)


def cases(name: str) -> list[dict[str, Any]]:
    paths = sorted(HERE.joinpath(name).glob("*.yaml"))
    return [yaml.safe_load(path.read_text(encoding="utf-8")) | {"path": path} for path in paths]


def ask(case: dict[str, Any], folder: Path) -> Diagnosis:
    """Diagnose what `benchmarks/accuracy.py` gives to the command line."""
    return diagnose(**asked(case, folder), top=5)


def mistakes(answer: Diagnosis, written: dict[str, Any], folder: Path) -> Iterator[str]:
    """Say what is wrong with an answer, whatever its causes are."""
    if answer.verdict == "healthy":
        yield "a failure is called healthy"
    yield from (error.message[:200] for error in SCHEMA.iter_errors(written))
    yield from first_screen.mistakes(answer, folder)


@pytest.mark.parametrize("name", SETS)
def test_failures_are_answered_as_often_rightly_as_before(name: str, tmp_path: Path) -> None:
    names = Names()
    wrong: dict[str, list[str]] = {}
    outcomes = []
    for case in cases(name):
        folder = tmp_path / case["id"]
        folder.mkdir()

        answer = ask(case, folder)

        written = json.loads(render(answer, "json", View("en")))
        if found := list(mistakes(answer, written, folder)):
            wrong[case["id"]] = found
        if case["confidence"] in STRICT:
            outcomes.append(judge(case, written, names))

    assert wrong == {}
    reached = {
        "cases": len(outcomes),
        "symptom": sum(item.symptom for item in outcomes),
        "hit1": sum(item.hit[0] for item in outcomes),
        "hit3": sum(item.hit[1] for item in outcomes),
    }
    lost = [f"{item.case} {item.causes}" for item in outcomes if not item.hit[1]]
    assert {k: v for k, v in reached.items() if v < FLOORS[name][k]} == {}, (reached, lost)


@pytest.mark.parametrize("name", SETS)
def test_a_case_says_what_was_seen_and_what_worked(name: str) -> None:
    for case in cases(name):
        assert case["id"] == case["path"].stem
        assert case["symptom"] in get_args(Family), case["id"]
        assert case["confidence"] in CONFIDENCE, case["id"]
        assert case["source"].startswith("https://"), case["id"]
        assert case["observed"].strip(), case["id"]
        assert case["fixes"], case["id"]
        assert {fix["kind"] for fix in case["fixes"]} <= set(get_args(Kind)), case["id"]


@pytest.mark.parametrize(("name", "least"), [("recent", 60), ("second", 57)])
def test_later_cases_are_dated(name: str, least: int) -> None:
    dates = [str(case["date"]) for case in cases(name)]

    assert len(dates) >= least
    assert all(len(date) == len("2025-09-01") for date in dates)


def test_every_set_has_a_floor() -> None:
    assert set(FLOORS) == set(SETS)
