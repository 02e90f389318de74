import json
from pathlib import Path

import pytest

from trainrx.cli import main
from trainrx.fleet.history.store import Store

LAUNCH = "swift sft --model Qwen/Qwen2.5-VL-7B-Instruct --dataset d --train_type lora\n"
LOG = "OSError: [Errno 28] No space left on device\n"


@pytest.fixture
def jobs(tmp_path: Path) -> list[Path]:
    folders = [tmp_path / f"run-{number}" for number in range(3)]
    for folder in folders:
        folder.mkdir()
        (folder / "launch.sh").write_text(LAUNCH)
        (folder / "train.log").write_text(LOG)
    return folders


def _asked(capsys: pytest.CaptureFixture[str], *words: object) -> dict:
    assert main([*map(str, words), "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_an_answer_says_how_often_the_failure_was_remembered_and_what_worked(
    jobs: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    history = tmp_path / "h.db"
    for folder in (*jobs[:2], jobs[0]):
        _asked(capsys, folder, "--history", history, "--remember")
    with Store.open(history) as store:
        store.confirm("run-0", worked=True, by=(("output_dir", "/big"),))

    found = _asked(capsys, jobs[2], "--history", history)["history"]
    itself = _asked(capsys, jobs[0], "--history", history)["history"]

    assert found["count"] == 2
    assert found["solved"] == [{"param": "output_dir", "value": "/big", "worked": 1, "failed": 0}]
    assert (itself["count"], itself["solved"]) == (1, [])


def test_nothing_is_remembered_and_no_file_begun_unless_it_is_asked_for(
    jobs: list[Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    history = tmp_path / "h.db"
    monkeypatch.setenv("TRAINRX_HISTORY", str(history))

    answer = _asked(capsys, jobs[0])
    begun = history.exists()
    with Store.open(history) as store:
        _asked(capsys, jobs[0])
        kept = list(store.answers())

    assert "history" not in answer
    assert not begun
    assert kept == []


def test_what_is_kept_is_what_is_compared_across_jobs(
    jobs: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _asked(capsys, jobs[0], "--history", tmp_path / "h.db", "--remember")

    with Store.open(tmp_path / "h.db") as store:
        (kept,) = store.answers()

    assert (kept.name, kept.causes[0][0], kept.verdict) == ("run-0", "disk-full", "diagnosed")
    assert "train_type=lora" in kept.launch_lines
    assert kept.ended == (jobs[0] / "train.log").stat().st_mtime
    assert kept.fingerprint


def test_to_remember_takes_a_history(jobs: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(jobs[0]), "--remember"]) == 2
    assert "--remember needs a history" in capsys.readouterr().err
