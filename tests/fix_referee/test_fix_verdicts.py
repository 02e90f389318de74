"""What real frameworks said of patched launches (`tools/referee/patched.py` records it)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from referee.patched import case_of, proposed

HERE = Path(__file__).parent
FOLDERS = sorted(path.parent for path in HERE.glob("launches/*/case.yaml"))
ROWS: list[dict[str, Any]] = [
    json.loads(line) for line in (HERE / "verdicts.jsonl").read_text("utf-8").splitlines()
]
PATCHED = [row for row in ROWS if row["plan"]]
SAID = ("verdict", "message", "at")
REFUSED_BEFORE = {"swift3-grpo-full", "swift3-grpo-lora", "swift4-sft-yaml"}
"""Launches with a defect that the case does not tell of: the default evaluation batch, --config."""


def name(row: dict[str, Any]) -> str:
    return str(row["id"])


def test_launches_of_every_framework_were_judged() -> None:
    versions = {f"{row['framework']}=={row['version']}" for row in ROWS}

    assert len(FOLDERS) >= 24
    assert {row["launch"] for row in ROWS} == {folder.name for folder in FOLDERS}
    assert versions == {
        "llamafactory==0.9.3",
        "ms-swift==2.6.1",
        "ms-swift==3.2.1",
        "ms-swift==4.6.0",
    }


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_what_was_judged_is_what_is_proposed_today(folder: Path) -> None:
    recorded = [
        {key: value for key, value in row.items() if key not in SAID}
        for row in ROWS
        if row["launch"] == folder.name
    ]

    assert list(proposed(folder)) == recorded


def test_real_frameworks_take_all_that_is_proposed() -> None:
    # rejected-other: a package or a card is not on the machine it was judged on
    refused = {name(row) for row in PATCHED if row["verdict"] == "rejected-arguments"}

    assert not refused


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_refused_launch_was_refused_for_its_arguments(folder: Path) -> None:
    as_it_is = next(row for row in ROWS if row["launch"] == folder.name and not row["plan"])

    refused = as_it_is["verdict"] == "rejected-arguments"

    assert refused == (bool(case_of(folder).get("reject")) or folder.name in REFUSED_BEFORE)
