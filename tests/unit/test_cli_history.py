import json
from pathlib import Path

import pytest
from fleet_answers import failed, fleet

from trainrx.cli import main
from trainrx.fleet.history.store import Store

NODES = tuple(f"gpu-{number:02}" for number in range(20))


@pytest.fixture(name="_history")
def _kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "fleet.db"
    with Store.open(path) as store:
        store.add(fleet(600, NODES, 5, bad="gpu-17"))
        store.add([failed("mine", family="oom", ended=1_000_000_000.0)])
    monkeypatch.setenv("TRAINRX_HISTORY", str(path))
    return path


@pytest.mark.usefixtures("_history")
def test_what_people_say_helped_is_reported_and_exported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fleet", "confirm", "mine", "--worked", "--by", "--lr=1e-5"]) == 0
    assert main(["fleet", "export", str(tmp_path / "cases"), "--lang", "zh"]) == 0
    said = capsys.readouterr().out

    assert "mine: remembered of lr" in said
    assert "已将 1 个案例写入" in said
    assert len(list((tmp_path / "cases").glob("*.yaml"))) == 1


@pytest.mark.usefixtures("_history")
@pytest.mark.parametrize("form", ["text", "json", "jsonl", "html", "prometheus", "markdown"])
def test_a_report_goes_to_the_screen_or_into_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    words = ["fleet", "report", "--format", form, "--group-by", "node"]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert main([*words, "-o", str(tmp_path / "report")]) == 0

    length = len((tmp_path / "report").read_text())
    assert capsys.readouterr().out == ""
    assert abs(length - len(shown)) < 0.02 * length
    assert ("gpu-17" in shown) == (form != "prometheus")


@pytest.mark.usefixtures("_history")
def test_a_report_since_then_leaves_older_jobs_out(capsys: pytest.CaptureFixture[str]) -> None:
    main(["fleet", "report", "--since", "2010-01-01", "--format", "jsonl"])
    newer = [json.loads(line)["key"] for line in capsys.readouterr().out.splitlines()]

    assert len(newer) == 600
    assert "mine" not in newer


def test_runs_in_folders_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = "OSError: [Errno 28] No space left on device\n"
    for name, packing, text in (("good", "false", ""), ("bad", "true", log)):
        for number in range(2):
            folder = tmp_path / f"{name}-{number}"
            folder.mkdir()
            launch = f"swift sft --model Qwen/Qwen2.5-7B-Instruct --seed {number}"
            (folder / "launch.sh").write_text(f"{launch} --packing {packing}\n")
            (folder / "train.log").write_text(f"{{'loss': 1.0}}\n{text}")

    good = [str(tmp_path / "good-0"), str(tmp_path / "good-1")]
    status = main(["fleet", "compare", *good, "--bad", str(tmp_path / "bad-*")])

    said = capsys.readouterr().out
    assert status == 0
    assert "1 settings and versions tell 2 bad runs from 2 good ones" in said
    assert "packing" in said


@pytest.mark.usefixtures("_history")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["confirm", "mine"], "--worked or --failed"),
        (["confirm", "nobody", "--worked"], "has no such job"),
        (["report", "--format", "parquet"], "--output FILE"),
        (["report", "--since", "yesterday"], "expected a span"),
        (["report", "--history", "/nowhere.db"], "there is no such history"),
    ],
)
def test_a_wrong_use_is_said(
    capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert main(["fleet", *words]) == 2
    assert message in capsys.readouterr().err
