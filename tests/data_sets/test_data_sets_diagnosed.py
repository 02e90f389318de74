"""Runs of real frameworks that ended at their data: the fault of it leads, where it is read."""

import json
import subprocess
from pathlib import Path

import pytest

from trainrx.api import diagnose, fix_launch
from trainrx.knowledge.yaml12 import read_yaml

HERE = Path(__file__).parent
TRUTH = read_yaml(HERE / "truth.yaml")
ENDED = sorted(path.parent.name for path in HERE.glob("*/train.log"))
VERSIONS = {"swift": {"ms-swift": "3.2.1"}, "llamafactory": {"llamafactory": "0.9.3"}}


def launch_of(name: str) -> Path:
    files = (HERE / name / file for file in ("launch.sh", "train.yaml"))
    return next(path for path in files if path.is_file())


@pytest.mark.parametrize("name", ENDED)
def test_the_fault_of_the_data_leads_with_the_line_of_the_log(name: str) -> None:
    found = diagnose(
        cmd=launch_of(name),
        logs=HERE / name / "train.log",
        versions=VERSIONS[name.partition("-")[0]],
        data="",
        top=3,
    )

    best = found.causes[0]
    assert best.id in TRUTH[name]["rules"]
    assert best.verdict == "likely"
    assert any(at.line for reason in best.reasons for at in reason.evidence)


def test_a_job_that_died_reading_its_data_gets_a_little_of_it_read_unasked() -> None:
    found = diagnose(
        cmd=launch_of("swift-columns"),
        logs=HERE / "swift-columns" / "train.log",
        versions=VERSIONS["swift"],
        top=3,
    )

    assert found.causes[0].id == "data-columns-missing"


def test_data_that_is_not_at_hand_is_no_evidence(tmp_path: Path) -> None:
    launch = tmp_path / "launch.sh"
    launch.write_text(Path(launch_of("swift-columns")).read_text())

    found = diagnose(
        cmd=launch, logs=HERE / "swift-columns" / "train.log", versions=VERSIONS["swift"], top=3
    )

    assert not any(cause.id.startswith("data-") for cause in found.causes)
    assert not any(item.rule == "data-file-missing" for item in found.findings)


def test_a_job_that_trained_did_not_die_of_its_columns(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(
        "{'loss': 1.5, 'learning_rate': 0.0001, 'epoch': 0.5, 'global_step/max_steps': '1/3'}\n"
        + (HERE / "swift-columns" / "train.log").read_text()
    )

    found = diagnose(
        cmd=launch_of("swift-columns"), logs=log, versions=VERSIONS["swift"], data="", top=3
    )

    assert not any(cause.id.startswith("data-") for cause in found.causes)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("llamafactory-no-tags", '"tags": {"role_tag": "role", "content_tag": "content"'),
        ("llamafactory-columns", '"prompt": "instruction",   "response": "output"'),
    ],
)
def test_the_list_of_data_sets_is_to_say_what_the_rows_show(name: str, written: str) -> None:
    found = fix_launch(
        cmd=launch_of(name), logs=HERE / name / "train.log", versions=VERSIONS["llamafactory"]
    )

    best = found.proposals[0]
    assert found.verdict == "proved"
    assert written in best.diff.replace("\n+", "")
    assert [line for line in best.diff.splitlines() if line.startswith("+++")] == [
        f"+++ b{HERE / name / 'dataset_info.json'}"
    ]


@pytest.mark.parametrize("text", ['{"own": {"file_name": "train.jsonl"}}', None])
def test_a_list_of_data_sets_keeps_its_line_ends(tmp_path: Path, text: str | None) -> None:
    for file in (HERE / "llamafactory-no-tags").iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    index = tmp_path / "dataset_info.json"
    before = index.read_bytes().replace(b"\n", b"\r\n") if text is None else text.encode()
    index.write_bytes(before)

    found = fix_launch(
        cmd=tmp_path / "train.yaml",
        logs=tmp_path / "train.log",
        versions=VERSIONS["llamafactory"],
    )

    edited = subprocess.run(
        ["git", "apply", "--unsafe-paths", "-p1", "--directory", "/"],
        input=found.proposals[0].diff.encode(),
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert edited.returncode == 0, edited.stderr
    after = index.read_bytes()
    assert json.loads(after)["own"]["tags"]["role_tag"] == "role"
    assert after.endswith(before[-1:])
