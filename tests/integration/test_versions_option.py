"""`--versions` of the main command takes a file or the versions themselves."""

from __future__ import annotations

import json

import pytest

from trainrx.cli import main

LAUNCH = "swift sft --model Qwen/Qwen2.5-7B-Instruct --dataset d --train_type lora\n"


@pytest.mark.parametrize("written", [True, False], ids=["words", "file"])
def test_a_version_reaches_the_diagnosis(written, capsys, tmp_path):
    launch = tmp_path / "launch.sh"
    launch.write_text(LAUNCH)
    freeze = tmp_path / "freeze.txt"
    freeze.write_text("ms-swift==3.2.1\n")
    given = "ms-swift==3.2.1" if written else str(freeze)

    main(["--cmd", str(launch), "--versions", given, "--format", "json"])

    assert '"3.2.1"' in json.dumps(json.loads(capsys.readouterr().out)["job"])


@pytest.mark.parametrize("given", ["missing.txt", "ms-swift==", "==1"])
def test_what_is_neither_is_refused(given, capsys, tmp_path):
    launch = tmp_path / "launch.sh"
    launch.write_text(LAUNCH)

    assert main(["--cmd", str(launch), "--versions", given]) == 2
    assert given in capsys.readouterr().err
