"""Every argument as the real framework wrote it, or listed with the reason why not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from comparison import HERE, compare, explained, launches

FOLDERS = tuple(launches())
TARGET = 0.98


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: f"{f.parent.name}/{f.name}")
def test_arguments_are_those_of_the_framework(folder: Path, tmp_path: Path) -> None:
    compared = compare(folder, tmp_path)

    unexplained = {*compared.unknown, *compared.different} - explained(folder).keys()
    assert not unexplained, {n: compared.different.get(n, "unknown") for n in unexplained}


@pytest.mark.parametrize("version", sorted({f.parent for f in FOLDERS}), ids=lambda f: f.name)
def test_few_arguments_need_an_explanation_and_every_one_is_needed(
    version: Path, tmp_path: Path
) -> None:
    differing: set[str] = set()
    equal = total = 0
    for i, folder in enumerate(f for f in FOLDERS if f.parent == version):
        compared = compare(folder, tmp_path / str(i))
        mine = {*compared.unknown, *compared.different}
        assert set(explained(folder)) - set(explained(version / "any")) <= mine
        differing |= mine
        equal += len(compared.equal)
        total += compared.compared

    assert set(explained(version / "any")) <= differing
    assert equal / total >= TARGET


def test_there_are_enough_launches_of_each_framework() -> None:
    wanted = {"ms-swift-2.6.1": 8, "ms-swift-3.2.1": 12, "ms-swift-4.6.0": 12}
    wanted["llamafactory-0.9.3"] = 8

    counts = {name: sum(f.parent.name == name for f in FOLDERS) for name in wanted}

    assert all(counts[name] >= number for name, number in wanted.items()), counts


MACHINE = re.compile(r"/(?:root|home|tmp|usr|work|opt)\b|site-packages")


@pytest.mark.parametrize("path", sorted(HERE.glob("*/*/expected.json")), ids=lambda p: p.parts[-2])
def test_records_name_no_machine(path: Path) -> None:
    assert not MACHINE.search(path.read_text())
