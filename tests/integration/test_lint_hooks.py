"""The hook of pre-commit and the GitHub action start the command with options it has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
HOOK = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))[0]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
LAUNCH = "swift sft --model m --dataset d {} 8\n"


@pytest.fixture(params=["--lora_rank", "--lora_rnak"])
def folder(request, tmp_path):
    (tmp_path / "other.yaml").write_text("a: 1\n")
    (tmp_path / "launch.sh").write_text(LAUNCH.format(request.param))
    return tmp_path, "rnak" in request.param


def call(words, cwd, **more):
    env = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", **more}
    return subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, check=False)


def test_the_hook_fails_on_a_misspelt_argument_only(folder):
    path, wrong = folder

    done = call([*HOOK["entry"].split(), "launch.sh", "other.yaml"], path)

    assert done.returncode == int(wrong), done.stderr
    assert ("--lora_rank?" in done.stdout) == wrong


@pytest.mark.parametrize("versions", ["", "ms-swift==3.2.1"])
def test_the_step_of_the_action_annotates_the_line(folder, versions):
    path, wrong = folder
    given = {name: word["default"] for name, word in ACTION["inputs"].items()}
    step = ACTION["runs"]["steps"][-1]
    names = {key: value.split("inputs.")[1].split()[0] for key, value in step["env"].items()}
    env = {key: {**given, "versions": versions}[name] for key, name in names.items()}

    done = call(["bash", "-e", "-o", "pipefail", "-c", step["run"]], path, **env)

    assert done.returncode == int(wrong), done.stderr
    assert ("::error file=" in done.stdout) == wrong
