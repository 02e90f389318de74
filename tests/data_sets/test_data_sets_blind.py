"""Data sets of somebody who had not read this program: each fault is found, and no other."""

import re
from pathlib import Path

import pytest

from trainrx.api import lint
from trainrx.knowledge.yaml12 import read_yaml

HERE = Path(__file__).parent / "blind"
TRUTH = read_yaml(HERE / "truth.yaml")
DATASETS = {"ms-swift==3.2.1": "3.2.0", "ms-swift==4.6.0": "4.8.4", "trl==1.16.0": "5.2.0"}
"""The releases of datasets the frameworks ran with."""


def test_every_set_has_its_truth() -> None:
    folders = {path.name for path in HERE.iterdir() if path.is_dir() and path.name[0] not in "._"}

    assert folders == set(TRUTH)
    assert sum("rule" in item for item in TRUTH.values()) >= 30
    assert all(("rule" in item) == ("fault" in item) for item in TRUTH.values())


@pytest.mark.parametrize("name", sorted(TRUTH))
def test_exactly_the_planted_fault_is_found(name: str) -> None:
    told = TRUTH[name]
    package, _, version = told["framework"].partition("==")
    versions = {package: version, "datasets": DATASETS.get(told["framework"], "3.6.0")}

    found = lint(HERE / name / "launch.sh", versions=versions, data="")

    of_data = [item for item in found if item.rule.startswith("data-")]
    assert {item.rule for item in of_data} == {told[key] for key in ("rule",) if key in told}
    if "row" in told:
        rows = re.compile(rf"(?:row|line) {told['row']}\b")
        assert all(rows.search(item.message) for item in of_data)
