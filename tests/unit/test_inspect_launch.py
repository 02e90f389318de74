"""`inspect` and `diff` from the command line, on real launches and on mistaken inputs."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from bad_inputs import BINARY, BROKEN_CONFIGS, ENV, LAUNCH, OOM, SECRETS, put

import trainrx
from trainrx.cli import main

EXAMPLE = Path(__file__).parents[2] / "examples" / "05-two-nodes-one-gpu-full"
DEFECT = ("Traceback (most recent", "defect of trainrx")
TWO = "swift sft --model a/b --max_length 8\nswift infer --model a/b\n"


@pytest.fixture
def ask(capsys, tmp_path, monkeypatch):
    """Run the command line in a folder of its own; give status, answer and complaint."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("LC_ALL", "C")

    def run(*words: str) -> tuple[int, str, str]:
        status = main(words)
        said = capsys.readouterr()
        assert not [word for word in DEFECT if word in said.err]
        return status, said.out, said.err

    return run


def test_a_launch_is_shown_with_value_and_origin(ask):
    status, out, err = ask(
        "inspect", str(EXAMPLE / "launch_3x.sh"), "--versions", "ms-swift==3.1.1"
    )

    assert (status, err) == (0, "")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "max_length 2048 launch_3x.sh:35" in lines
    assert "per_device_eval_batch_size 1 ms-swift 3.1.1 default" in lines
    assert "samples per step 32 derived" in lines
    assert "Framework ms-swift 3.1.1, as given" in lines


def test_all_shows_the_arguments_nobody_gave(ask):
    _, some, _ = ask("inspect", str(EXAMPLE / "launch_3x.sh"), "--versions", "ms-swift==3.1.1")
    _, every, _ = ask(
        "inspect", str(EXAMPLE / "launch_3x.sh"), "--versions", "ms-swift==3.1.1", "--all"
    )

    assert "adalora_tinit" not in some
    assert "adalora_tinit" in every


def test_json_holds_every_argument(ask):
    _, out, _ = ask("inspect", str(EXAMPLE / "launch_3x.sh"), "--format", "json")

    answer = json.loads(out)

    assert answer["schema_version"] == 1
    arguments = {item["name"]: item for item in answer["jobs"][0]["arguments"]}
    assert len(arguments) > 200
    assert arguments["lora_rank"]["value"] == 8
    assert arguments["lora_rank"]["origins"][0]["line"] == 20


def test_json_is_the_same_on_a_second_run(ask):
    words = ("inspect", str(EXAMPLE / "launch_3x.sh"), "--format", "json")

    assert ask(*words) == ask(*words)


def test_each_launch_of_a_file_is_a_job(ask, tmp_path):
    put(tmp_path, "two.sh", TWO)

    _, out, _ = ask("inspect", "two.sh", "--format", "json")

    assert [job["command"] for job in json.loads(out)["jobs"]] == ["sft", "infer"]


def test_the_python_call_gives_the_same_job():
    answer = trainrx.inspect_launch(EXAMPLE / "launch_3x.sh", versions={"ms-swift": "3.1.1"})

    assert [(job.framework, job.command, job.version) for job in answer.jobs] == [
        ("ms-swift", "sft", "3.1.1")
    ]


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("more", [(), ("--all",)])
def test_no_form_shows_a_secret(form, lang, more, ask, tmp_path):
    exports = "".join(f"export {line}\n" for line in ENV.splitlines())
    put(tmp_path, "a.sh", exports + LAUNCH.rstrip() + f" --hub_token {SECRETS[0]}\n")
    put(tmp_path, "env.txt", ENV)
    words = ("a.sh", "--env", "env.txt", "--format", form, "--lang", lang, *more)

    status, out, err = ask("inspect", *words)

    assert status == 0
    assert not [secret for secret in SECRETS if secret in out + err]


@pytest.mark.parametrize("command", ["inspect", "diff"])
@pytest.mark.parametrize("kind", ["missing", "empty", "pipe", "device", *BINARY])
def test_what_cannot_be_read_is_status_2_and_one_sentence(command, kind, ask, tmp_path):
    put(tmp_path, "a.sh", LAUNCH)
    if kind == "pipe":
        os.mkfifo(kind)
    elif kind == "device":
        kind = os.devnull
    elif kind != "missing":
        Path(kind).write_bytes(BINARY.get(kind, b""))

    status, out, err = ask(command, *(("a.sh",) if command == "diff" else ()), kind)

    assert (status, out) == (2, "")
    assert f"{kind}: " in err
    assert len(err.splitlines()) <= 4


@pytest.mark.parametrize("text", ["ls -la\n", "echo hello\n", OOM, BROKEN_CONFIGS["tabs"]])
def test_without_a_launch_it_says_so(text, ask, tmp_path):
    put(tmp_path, "f", text)

    status, out, err = ask("inspect", "f")

    assert (status, out) == (2, "")
    assert err.startswith("diagnose: no launch found in f")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("inspect", "--gpus", "2"), "nothing to inspect"),
        (("inspect", "a.sh", "--format", "xml"), "--format"),
        (("inspect", "a.sh", "--versions", "nowhere.txt"), "nowhere.txt"),
        (("inspect", "a.sh", "--versions", "ms-swift=banana"), "--versions"),
        (("inspect", "a.sh", "--versions", "==3"), "--versions"),
        (("inspect", "a.sh", "--model-config", "a.sh"), "config.json"),
        (("inspect", "a.sh", "--nonsense"), "--nonsense"),
        (("inspect", "-", "-"), "stands twice"),
        (("diff", "a.sh"), "BAD"),
        (("diff", "-", "-"), "stands twice"),
        (("diff", "a.sh", "a.sh", "--versions-bad", "x=="), "--versions-bad"),
    ],
)
def test_a_wrong_use_is_status_2_and_names_the_option(words, said, ask, tmp_path):
    put(tmp_path, "a.sh", LAUNCH)

    status, out, err = ask(*words)

    assert (status, out) == (2, "")
    assert said in err


@pytest.mark.parametrize("command", ["inspect", "diff"])
def test_help_shows_an_example(command, ask):
    status, out, _ = ask(command, "--help")

    assert status == 0
    assert f"diagnose {command} " in out


def test_the_two_launches_of_the_founding_example_differ_in_the_pixel_cap(ask):
    status, out, _ = ask(
        "diff",
        str(EXAMPLE / "launch_2x.sh"),
        str(EXAMPLE / "launch_3x.sh"),
        *("--versions-good", "ms-swift==2.6.1"),
        *("--versions-bad", str(EXAMPLE / "versions.txt")),
    )

    assert status == 1
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "MAX_PIXELS 602112 None" in lines
    assert "pixels per image, at most 602112 12845056" in lines
    assert "lora_alpha 16 32" in lines
    renamed = out.partition("Renamed, same value")[2]
    for pair in ("sft_type -> train_type", "dtype -> torch_dtype", "model_id_or_path -> model"):
        assert pair in renamed


def test_defaults_that_changed_between_two_releases_are_found(ask, tmp_path):
    bare = "swift sft --{} a/Qwen2-VL-7B-Instruct --dataset d\n"
    put(tmp_path, "old.sh", bare.format("model_id_or_path"))
    put(tmp_path, "new.sh", bare.format("model"))

    _, out, _ = ask(
        *("diff", "old.sh", "new.sh", "--format", "json"),
        *("--versions-good", "ms-swift==2.6.1", "--versions-bad", "ms-swift==3.2.1"),
    )

    pairs = {pair["canonical"]: pair for pair in json.loads(out)["changes"]}
    assert pairs["freeze.vision"]["good"]["value"] is False
    assert pairs["freeze.vision"]["bad"]["value"] is True
    assert pairs["train.max_length"]["good"]["value"] == 2048


def test_a_launch_and_itself_are_the_same(ask):
    launch = str(EXAMPLE / "launch_3x.sh")

    status, out, _ = ask("diff", launch, launch)

    assert status == 0
    assert out.startswith("SAME")


def test_the_python_call_compares(tmp_path):
    good = put(tmp_path, "good.sh", LAUNCH)
    bad = put(tmp_path, "bad.sh", LAUNCH.replace("8192", "16384"))

    answer = trainrx.compare_launches(good, bad)

    assert answer.verdict == "differs"
    assert [(p.name, p.good.value, p.bad.value) for p in answer.changes if p.good and p.bad] == [
        ("max_length", 8192, 16384)
    ]


def test_a_name_only_the_knowledge_has_is_not_said_to_be_unknown(ask, tmp_path):
    (tmp_path / "params").mkdir()
    (tmp_path / "params" / "train.new_thing.yaml").write_text(
        "schema: 1\nid: train.new_thing\ntype: bool\ntitle:\n  en: A thing\n  zh: 新\nspelled:\n"
        "  ms-swift:\n    - versions: '>=4.7'\n      arg: new_thing\n      source: x\n",
        encoding="utf-8",
    )
    script = tmp_path / "launch.sh"
    script.write_text("swift sft --model a/b --new_thing true --batchsize 3\n", encoding="utf-8")

    _, out, _ = ask(
        *("inspect", str(script), "--versions", "ms-swift==4.7.0", "--kb", str(tmp_path)),
        *("--width", "200", "--lang", "en"),
    )

    assert "new_thing true (launch.sh:1): kb/params has it for ms-swift >=4.7; the catalog" in out
    assert "batchsize 3 (launch.sh:1): no known release takes it" in out


def test_all_shows_the_canonical_names(ask):
    words = ("inspect", str(EXAMPLE / "launch_3x.sh"), "--versions", "ms-swift==3.1.1")

    _, some, _ = ask(*words, "--lang", "en")
    _, every, _ = ask(*words, "--lang", "en", "--all")

    assert "train.micro_batch" not in some
    row = every.partition("per_device_train_batch_size ")[2].partition("\n  gradient")[0]
    assert "· train.micro_batch" in row


LOOPS = """\
for model in a b c d e f g; do
  for lr in 1e-5 2e-5 5e-5; do
    llamafactory-cli train --model_name_or_path $model --learning_rate $lr --stage sft
  done
  llamafactory-cli export --model_name_or_path $model
done
"""


def test_of_a_command_in_nested_loops_the_first_rounds_are_resolved_and_the_rest_is_said(
    tmp_path,
):
    path = tmp_path / "sweep.sh"
    path.write_text(LOOPS)

    answer = trainrx.inspect_launch(path)

    rates = [
        (job.model, item.text)
        for job in answer.jobs
        for item in job.arguments
        if item.name == "learning_rate" and job.command == "train"
    ]
    assert len(rates) == 16
    assert rates[:4] == [("a", "1e-5"), ("a", "2e-5"), ("a", "5e-5"), ("b", "1e-5")]
    assert [job.model for job in answer.jobs if job.command == "export"] == list("abcdefg")
    assert [(one.line, one.reason) for one in answer.unread if "times" in one.reason] == [
        (3, "this command is started 21 times: the first 16 are resolved")
    ]
