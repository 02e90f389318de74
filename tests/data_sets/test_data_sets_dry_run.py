"""Data sets whose truth is what the real frameworks did: what lint says without running any."""

from pathlib import Path

import pytest

from trainrx.api import lint
from trainrx.knowledge.yaml12 import read_yaml

HERE = Path(__file__).parent / "dry_run"
TRUTH = read_yaml(HERE / "truth.yaml")
DATASETS = {"ms-swift==3.2.1": "3.2.0", "ms-swift==4.6.0": "4.8.4", "trl==1.16.0": "5.2.0"}
"""The releases of datasets the frameworks ran with."""


def test_every_set_has_its_truth() -> None:
    assert {path.name for path in HERE.iterdir() if path.is_dir()} == set(TRUTH)
    assert sum("fault" not in item for item in TRUTH.values()) == 27


@pytest.mark.parametrize("name", sorted(TRUTH))
def test_lint_finds_what_it_knows_and_leaves_good_sets_in_peace(name: str) -> None:
    told = TRUTH[name]
    package, _, version = told["framework"].partition("==")
    versions = {package: version, "datasets": DATASETS.get(told["framework"], "3.6.0")}

    found = lint(HERE / name / "launch.sh", versions=versions, data="")

    of_data = {item.rule for item in found if item.rule.startswith("data-")}
    assert of_data == {told[key] for key in ("rule",) if key in told}
