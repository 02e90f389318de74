"""`diagnose fix` on launches whose names or values belong to another release."""

from __future__ import annotations

import json

import pytest

from trainrx.cli import main

OLD = """\
model_name_or_path: Qwen/Qwen2.5-7B-Instruct
stage: dpo
do_train: true
finetuning_type: lora
dpo_beta: 0.1  # as before
dataset: d
template: qwen
output_dir: out
"""
REFUSED = "ValueError: Some keys are not used by the HfArgumentParser: ['dpo_beta']\n"


@pytest.fixture
def renamed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "launch.sh").write_text("llamafactory-cli train train.yaml\n", encoding="utf-8")
    (tmp_path / "train.yaml").write_text(OLD, encoding="utf-8")
    (tmp_path / "train.log").write_text(REFUSED, encoding="utf-8")
    return tmp_path


def read(capsys, *argv):
    status = main(["fix", *argv, "--format", "json"])
    return status, json.loads(capsys.readouterr().out)


@pytest.mark.usefixtures("renamed")
def test_a_key_with_another_name_today_is_renamed_and_keeps_its_value(capsys):
    words = ("launch.sh", "--log", "train.log", "--versions", "llamafactory==0.9.3")
    status, answer = read(capsys, *words)

    assert (status, answer["verdict"]) == (0, "proved")
    assert "+pref_beta: 0.1  # as before" in answer["proposals"][0]["diff"]


@pytest.mark.usefixtures("renamed")
def test_the_version_to_install_is_one_that_takes_the_script(capsys):
    words = ("launch.sh", "--log", "train.log", "--versions", "llamafactory==0.9.3")
    _, answer = read(capsys, *words)
    installs = [item for item in answer["proposals"] if item["commands"] and not item["diff"]]

    assert [item["commands"] for item in installs] == [['pip install "llamafactory==0.7.1"']]


def test_no_version_is_named_where_no_release_takes_the_name(renamed, capsys):
    (renamed / "train.yaml").write_text(OLD.replace("dpo_beta", "dpo_temper"), encoding="utf-8")
    (renamed / "train.log").write_text(REFUSED.replace("dpo_beta", "dpo_temper"), encoding="utf-8")
    words = ("launch.sh", "--log", "train.log", "--versions", "llamafactory==0.9.3")
    _, answer = read(capsys, *words)

    assert all(not item["commands"] for item in answer["proposals"])


@pytest.mark.usefixtures("renamed")
def test_a_name_that_transformers_changed_is_renamed_too(renamed, capsys):
    text = OLD.replace("dpo_beta: 0.1", "evaluation_strategy: steps") + "val_size: 0.1\n"
    (renamed / "train.yaml").write_text(text, encoding="utf-8")
    said = REFUSED.replace("dpo_beta", "evaluation_strategy")
    (renamed / "train.log").write_text(said, encoding="utf-8")
    words = ("launch.sh", "--log", "train.log", "--versions", "llamafactory==0.9.3")
    _, answer = read(capsys, *words)

    assert "+eval_strategy: steps  # as before" in answer["proposals"][0]["diff"]
