"""Labelled public threads: each can be read, and none of these failures is called healthy."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from trainrx import diagnose
from trainrx.model.knowledge import Family
from trainrx.model.result import Kind

HERE = Path(__file__).parent / "threads"
CASES = sorted(HERE.glob("*/*.yaml"))
CONFIDENCE = ("confirmed", "maintainer", "reporter", "inferred")


def read(path: Path) -> dict[str, Any]:
    case: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return case


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_case_says_what_was_seen_and_what_worked(path: Path) -> None:
    case = read(path)

    assert case["id"] == path.stem
    assert case["symptom"] in get_args(Family)
    assert case["confidence"] in CONFIDENCE
    assert case["source"].startswith("https://")
    assert case["observed"].strip()
    assert case["fixes"]
    assert {fix["kind"] for fix in case["fixes"]} <= set(get_args(Kind))


@pytest.mark.parametrize(("folder", "least"), [("recent", 60), ("second", 57)])
def test_later_cases_are_dated(folder: str, least: int) -> None:
    dates = [str(read(path)["date"]) for path in CASES if path.parent.name == folder]

    assert len(dates) >= least
    assert all(len(date) == len("2025-09-01") for date in dates)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_failure_is_never_called_healthy(path: Path, tmp_path: Path) -> None:
    case = read(path)
    inputs: dict[str, Any] = {"note": case["observed"]}
    for name, key in (("launch.sh", "cmd"), ("train.log", "log")):
        if (case.get(key) or "").strip():
            (tmp_path / name).write_text(case[key], encoding="utf-8")
            inputs["cmd" if key == "cmd" else "logs"] = [tmp_path / name]

    assert diagnose(**inputs).verdict != "healthy"
