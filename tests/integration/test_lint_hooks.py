"""The hook of pre-commit and the GitHub action start the command with options it has."""

from __future__ import annotations

import json
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


def step(path, **inputs):
    """Run the step as a runner does."""
    (held,) = [one for one in ACTION["runs"]["steps"] if one.get("id") == "lint"]
    given = {name: word["default"] for name, word in ACTION["inputs"].items()} | inputs
    names = {key: value.split("inputs.")[1].split()[0] for key, value in held["env"].items()}
    env = {key: given[name] for key, name in names.items()}
    return call(["bash", "-e", "-o", "pipefail", "-c", held["run"]], path, **env)


def test_the_hook_fails_on_a_misspelt_argument_only(folder):
    path, wrong = folder

    done = call([*HOOK["entry"].split(), "launch.sh", "other.yaml"], path)

    assert done.returncode == int(wrong), done.stderr
    assert ("--lora_rank?" in done.stdout) == wrong


def test_the_hook_is_silent_on_files_that_are_no_launch(tmp_path):
    files = {
        "build.sh": "#!/bin/bash\nset -e\nmake build\n",
        "ci.yaml": "name: ci\non: push\n",
        "broken.yaml": "key: [\n",
        "compose.yaml": "services:\n  db:\n    image: postgres\n",
        "empty.sh": "",
        "big.sh": "# much\n" * (1 << 18),
        "serve.sh": "python -m http.server\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)

    done = call([*HOOK["entry"].split(), *files], tmp_path)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("versions", ["", "ms-swift==3.2.1"])
def test_the_step_of_the_action_annotates_the_line(folder, versions):
    path, wrong = folder
    done = step(path, versions=versions)

    assert done.returncode == int(wrong), done.stderr
    assert ("::error file=" in done.stdout) == wrong


def test_the_action_writes_what_it_uploads(folder):
    path, wrong = folder

    done = step(path, sarif="found.sarif")

    results = json.loads((path / "found.sarif").read_text())["runs"][0]["results"]
    assert [one["ruleId"] for one in results] == ["misspelt-argument"] * wrong
    assert done.returncode == int(wrong)
    (upload,) = [one for one in ACTION["runs"]["steps"] if "upload-sarif" in one.get("uses", "")]
    assert upload["with"]["sarif_file"] == "${{ inputs.sarif }}"
