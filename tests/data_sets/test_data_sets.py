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

    assert folders - {"blind", "dry_run"} == set(TRUTH)


@pytest.mark.parametrize("name", sorted(TRUTH))
def test_exactly_the_fault_of_a_set_is_found(name: str) -> None:
    found = found_in(name)

    assert found == set(TRUTH[name].get("rules", ()))


PREFERENCES = '{"prompt": "a b", "chosen": "c", "rejected": "d"}\n'
CONFIG = "model_name_or_path: Qwen/Qwen2.5-0.5B\ndataset_name: ./pref.jsonl\nuse_peft: true\n"


@pytest.mark.parametrize(
    ("command", "rows", "columns"),
    [
        ("", PREFERENCES, set()),
        ("trl dpo --config dpo.yaml", PREFERENCES, set()),
        ("trl sft --config dpo.yaml", PREFERENCES, {"text"}),
        ("trl dpo --config dpo.yaml", '{"text": "a"}\n', {"chosen", "rejected"}),
    ],
)
def test_the_command_says_which_columns_a_configuration_needs(
    tmp_path: Path, command: str, rows: str, columns: set[str]
) -> None:
    (tmp_path / "pref.jsonl").write_text(rows)
    (tmp_path / "dpo.yaml").write_text(CONFIG)
    if command:
        (tmp_path / "run.sh").write_text(f"{command}\n")

    findings = lint(tmp_path, data="")

    missing = [item.message for item in findings if item.rule == "data-columns-missing"]
    assert {text.partition("column ")[2].partition(";")[0] for text in missing} == columns
