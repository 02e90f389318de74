"""Sets of data whose truth was seen in the real frameworks: each fault is found, and no other."""

from pathlib import Path

import pytest

from trainrx.api import lint
from trainrx.knowledge.yaml12 import read_yaml

HERE = Path(__file__).parent
TRUTH = read_yaml(HERE / "truth.yaml")
VERSIONS = {"swift": ("ms-swift", "3.2.1"), "llamafactory": ("llamafactory", "0.9.3")}


def found_in(name: str) -> set[str]:
    launches = (HERE / name / file for file in ("launch.sh", "train.yaml"))
    launch = next(path for path in launches if path.is_file())
    package, version = VERSIONS.get(name.partition("-")[0], ("trl", "0.16.0"))
    findings = lint(launch, versions={package: version}, data="")
    return {item.rule for item in findings if item.rule.startswith("data-")}


def test_every_set_has_its_truth() -> None:
    folders = {path.name for path in HERE.iterdir() if path.is_dir() and path.name[0] not in "._"}

    assert folders == set(TRUTH)


@pytest.mark.parametrize("name", sorted(TRUTH))
def test_exactly_the_fault_of_a_set_is_found(name: str) -> None:
    found = found_in(name)

    assert found == set(TRUTH[name].get("rules", ()))
