"""The benchmark that counts names nobody takes in upstream's own examples."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from packaging.version import Version

from trainrx.catalog.catalog import catalog

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "benchmarks" / "unknown_flags.py"
MISTAKES = PROGRAM.with_suffix(".jsonl").read_text("utf-8").splitlines()


def git(folder, *words):
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def run(folder, *words, tag="v3.5.0", package="ms-swift", files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "examples")
    git(folder, "tag", tag)
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(folder), "--package", package, *words],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    )
    return done.returncode, done.stdout


def test_a_name_nobody_explains_fails_and_is_shown(tmp_path):
    code, out = run(tmp_path, files={"run.sh": "swift sft --model m --modle_type x\n"})

    assert code == 1
    assert "--modle_type" in out
    assert out.endswith("unexplained: 1\n")


def test_a_listed_mistake_is_explained_at_its_releases_only(tmp_path):
    script = {"run.sh": "swift sft --model m --init_lora_weights olora\n"}

    (tmp_path / "in").mkdir()
    inside = run(tmp_path / "in", tag="v3.5.0", files=script)
    (tmp_path / "out").mkdir()
    outside = run(tmp_path / "out", tag="v4.6.0", files=script)

    assert inside[0] == 0
    assert "unknown 1 " in inside[1]
    assert outside[0] == 1


def test_documents_are_read_when_asked_for(tmp_path):
    text = "# Usage\n\n```bash\nswift sft --model m --wrong_name 1\n```\n"

    code, out = run(tmp_path, "--docs", files={"README.md": text})

    assert code == 1
    assert "README.md" in out


def test_the_configuration_of_a_recipe_is_found_beside_its_program(tmp_path):
    files = {
        "recipe/own/main_own.py": (
            '@hydra.main(config_path="config", config_name="own_trainer", version_base=None)\n'
            "def main(config):\n    pass\n"
        ),
        "recipe/own/config/own_trainer.yaml": "defaults:\n  - ppo_trainer\n  - _self_\nown: 1\n",
        "recipe/own/run.sh": "python3 -m recipe.own.main_own own=2 trainer.nnodes=1 theirs=3\n",
    }

    code, out = run(tmp_path, tag="v0.6.0", package="verl", files=files)

    assert code == 1
    assert "--theirs" in out
    assert out.endswith("unexplained: 1\n")


@pytest.mark.parametrize("line", MISTAKES)
def test_a_listed_mistake_names_a_span_of_releases_and_its_proof(line):
    entry = msgspec.json.decode(line)
    known = catalog(entry["package"])

    assert set(entry) == {"package", "command", "name", "since", "until", "proof"}
    assert Version(entry["since"]) <= Version(entry["until"])
    assert known.has_command(entry["command"]) & known.of(f">={entry['since']},<={entry['until']}")
    assert len(entry["proof"]) > 30


@pytest.mark.parametrize("line", [line for line in MISTAKES if "*" not in line])
def test_a_listed_mistake_is_taken_by_no_release_of_its_span(line):
    entry = msgspec.json.decode(line)
    known = catalog(entry["package"])
    span = known.of(f">={entry['since']},<={entry['until']}")

    assert not [
        option
        for option in known.find(entry["name"], entry["command"])
        if known.bits(option) & span
    ]
