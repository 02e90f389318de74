"""Lint against what the real frameworks said of the same launches; see README.md."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.linter.check import Linter
from trainrx.linter.files import lint_files
from trainrx.linter.jobs import RunContext
from trainrx.linter.run import groups, lint_file
from trainrx.linter.settings import Settings, chooser

VERDICTS = Path(__file__).with_name("verdicts.jsonl")
WANTED = 0.95
"""Share of the refused launches with one word wrong in which lint is to find an error."""
WANTED_OF_ALL = 0.95
"""The same with options that contradict each other, some of which only a loaded model shows."""
LEAST = {"launches": 300, "accepted": 60}


class Verdict(msgspec.Struct, frozen=True):
    """A launch, and what the framework of that version made of it."""

    id: str
    framework: str
    version: str
    kind: str
    files: dict[str, str]
    verdict: str
    message: str


def _read() -> list[Verdict]:
    lines = VERDICTS.read_text(encoding="utf-8").splitlines()
    return [msgspec.json.decode(line, type=Verdict) for line in lines]


@pytest.fixture(scope="module")
def verdicts() -> list[Verdict]:
    return _read()


@pytest.fixture(scope="module")
def errors(
    verdicts: list[Verdict], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[str]]:
    """Give the errors lint has on each launch, as rule and message."""
    loaded = LoadedKnowledge()
    linter = Linter(loaded.lint, chooser(Settings(), groups(loaded.lint)), "en")
    home = tmp_path_factory.mktemp("launches")
    with pytest.MonkeyPatch.context() as patch:
        return {item.id: _errors(item, loaded, linter, home, patch) for item in verdicts}


def _errors(
    item: Verdict,
    loaded: LoadedKnowledge,
    linter: Linter,
    home: Path,
    patch: pytest.MonkeyPatch,
) -> list[str]:
    folder = home / item.id
    folder.mkdir()
    for name, text in item.files.items():
        (folder / name).write_text(text, encoding="utf-8", newline="")
    patch.chdir(folder)
    beside = RunContext(loaded, {item.framework: item.version})
    files = lint_files(["launch.sh"], None, (), [])
    found = [x for file in files for x in lint_file(file, linter, beside, [])[0]]
    return [f"{x.rule}: {x.message}" for x in found if x.severity == "error"]


def test_launches_a_framework_takes_have_no_error(
    verdicts: list[Verdict], errors: dict[str, list[str]]
) -> None:
    accepted = [item for item in verdicts if item.verdict == "accepted"]

    wrong = {item.id: (item.kind, errors[item.id]) for item in accepted if errors[item.id]}

    assert wrong == {}


@pytest.mark.parametrize(("conflicts", "wanted"), [(False, WANTED), (True, WANTED_OF_ALL)])
def test_launches_a_framework_refuses_for_their_arguments_have_an_error(
    *, conflicts: bool, wanted: float, verdicts: list[Verdict], errors: dict[str, list[str]]
) -> None:
    refused = [item for item in verdicts if item.verdict == "rejected-arguments"]
    refused = [item for item in refused if conflicts or not item.kind.startswith("conflict")]

    missed = [item for item in refused if not errors[item.id]]

    share = 1 - len(missed) / len(refused)
    assert share >= wanted, [(item.id, item.kind, item.message[:80]) for item in missed]


@pytest.mark.parametrize("framework", ["ms-swift 2.6.1", "ms-swift 3.2.1", "ms-swift 4.6.0"])
def test_names_the_parser_does_not_know_are_all_found(
    framework: str, verdicts: list[Verdict], errors: dict[str, list[str]]
) -> None:
    unknown = [
        item
        for item in verdicts
        if f"{item.framework} {item.version}" == framework
        and "remaining_argv: ['--" in item.message
    ]

    assert unknown
    assert [item.id for item in unknown if not errors[item.id]] == []


def test_there_are_enough_launches_of_each_sort() -> None:
    counts = Counter(item.verdict for item in _read())

    assert sum(counts.values()) >= LEAST["launches"]
    assert counts["accepted"] >= LEAST["accepted"]


def test_records_name_no_folder_of_a_machine() -> None:
    named = [item.id for item in _read() if re.search(r"/tmp/|/home/|/root/", item.message)]  # noqa: S108 - sought

    assert named == []
