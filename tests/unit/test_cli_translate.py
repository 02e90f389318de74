from __future__ import annotations

import subprocess
from pathlib import Path

import msgspec
import pytest

from trainrx.cli import main
from trainrx.model.translation import Translation
from trainrx.render.formats.json import FOLDER, schemas

SCRIPT = """\
#!/bin/bash
# mine
swift sft --model_type qwen2_5-7b-instruct --sft_type lora \\
    --dtype fp32
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "run.sh"
    path.write_text(SCRIPT)
    return path


def test_a_complete_translation_exits_with_0(
    script: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(["translate", str(script), "--to", "ms-swift==4.6", "--lang", "en"])

    shown = capsys.readouterr().out
    assert status == 0
    assert "Every argument has a counterpart in ms-swift 4.6.0." in shown
    assert "--tuner_type lora" in shown


def test_chinese(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["translate", str(script), "--to", "ms-swift==4.6", "--lang", "zh"])

    assert "每个参数在 ms-swift 4.6.0 中都有对应写法。" in capsys.readouterr().out


def test_what_a_person_must_decide_exits_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.sh"
    path.write_text("swift rlhf --rlhf_type grpo --model /m --vllm_device auto --use_vllm true\n")

    status = main(["translate", str(path), "--to", "ms-swift==4.6", "--lang", "en"])

    assert status == 1
    assert "--vllm_mode colocate" in capsys.readouterr().out


def test_the_diff_applies(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["translate", str(script), "--to", "ms-swift==4.6", "--diff"])
    diff = capsys.readouterr().out

    subprocess.run(
        ["patch", "-p1", str(script)],
        input=diff,
        text=True,
        check=True,
        cwd=script.parent,
        capture_output=True,
    )

    assert "--tuner_type lora" in script.read_text()
    assert "# mine\n" in script.read_text()


def test_writing_keeps_the_old_file(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["translate", str(script), "--to", "ms-swift==4.6", "--write", "--lang", "en"])

    assert status == 0
    assert "run.sh.bak" in capsys.readouterr().out
    assert script.with_name("run.sh.bak").read_text() == SCRIPT
    assert "--torch_dtype float32" in script.read_text()


def test_json_is_the_documented_record(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["translate", str(script), "--to", "ms-swift==4.6", "--format", "json"])

    answer = msgspec.json.decode(capsys.readouterr().out, type=Translation)
    assert answer.schema_version == 1
    assert answer.launches[0].target == "4.6.0"


def test_the_schema_is_the_committed_one() -> None:
    name = "translation.schema.json"

    assert (FOLDER / name).read_text(encoding="utf-8") == schemas()[name]


def test_secrets_are_masked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.sh"
    path.write_text("swift sft --model /m --hub_token hf_abcdefghijklmnopqrstuv\n")

    for form in ("text", "json"):
        main(["translate", str(path), "--to", "ms-swift==4.6", "--format", form])

    assert "hf_abcdefghijk" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "nothing to translate"),
        (["run.sh"], "--to"),
        (["run.sh", "--to", "4.6"], "expected a framework and a version"),
        (["run.sh", "--to", "ms-swift==99x"], "ms-swift"),
        (["missing.sh", "--to", "ms-swift==4.6"], "no such file"),
        (["run.sh", "--to", "ms-swift==4.6", "--diff", "--write"], "give one of them"),
    ],
)
def test_wrong_use_says_what_to_do(
    words: list[str],
    said: str,
    script: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(script.parent)

    status = main(["translate", *words]) if words else main(["translate", "--to", "ms-swift==4.6"])

    assert status == 2
    assert said in capsys.readouterr().err
