"""`diagnose estimate` from the command line to the exit status."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import trainrx
from trainrx import estimate
from trainrx.cli import main
from trainrx.model.errors import UsageError
from trainrx.render.estimate_words import TERM
from trainrx.render.formats.json import FOLDER

LORA = """\
swift sft --model Qwen/Qwen2.5-7B-Instruct --train_type lora --dataset d \\
  --max_length 2048 --per_device_train_batch_size 1 --torch_dtype bfloat16
"""
FULL = """\
NPROC_PER_NODE=2 swift sft --model Qwen/Qwen2.5-7B-Instruct --train_type full --dataset d \\
  --max_length 2048 --torch_dtype bfloat16
"""
VERSION = ("--versions", "ms-swift==3.2.1")


@pytest.fixture
def lora(tmp_path):
    path = tmp_path / "lora.sh"
    path.write_text(LORA, encoding="utf-8")
    return str(path)


@pytest.fixture
def full(tmp_path):
    path = tmp_path / "full.sh"
    path.write_text(FULL, encoding="utf-8")
    return str(path)


def run(capsys, *argv):
    status = main(["estimate", *argv])
    said = capsys.readouterr()
    return status, said.out, said.err


def read(capsys, *argv):
    status, out, _ = run(capsys, *argv, "--format", "json")
    return status, json.loads(out)


def test_a_small_job_fits_a_large_card(lora, capsys):
    status, out, err = run(capsys, lora, *VERSION, "--gpu", "A100-80G", "--gpus", "1")

    assert (status, err) == (0, "")
    assert out.startswith("FITS  A100-SXM4-80GB: ")


def test_a_large_job_does_not_fit_a_small_card(full, capsys):
    status, out, _ = run(capsys, full, *VERSION, "--gpu", "24GiB", "--lang", "zh")

    assert status == 1
    assert out.startswith("放不下  24GiB：")
    assert "从哪里入手" in out


def test_without_a_card_there_is_no_verdict(lora, capsys):
    status, answer = read(capsys, lora, *VERSION)

    assert status == 0
    assert answer["verdict"] is None
    assert answer["cards"] == []
    assert answer["card"]["low"] <= answer["card"]["gib"] <= answer["card"]["high"]


def test_a_card_whose_name_leaves_the_size_open_gives_no_verdict(lora, capsys):
    status, answer = read(capsys, lora, *VERSION, "--gpu", "A100")

    assert status == 0
    assert answer["verdict"] is None
    assert any("say which" in item["reason"] for item in answer["unread"])


@pytest.mark.parametrize("fail_on", ["none", "tight", "does-not-fit"])
def test_the_exit_status_follows_fail_on(fail_on, full, capsys):
    status, _, _ = run(capsys, full, *VERSION, "--gpu", "24GiB", "--fail-on", fail_on)

    assert status == (fail_on != "none")


def test_of_several_cards_one_that_will_do_is_enough(lora, capsys):
    status, answer = read(capsys, lora, *VERSION, "--gpu", "8GiB", "--gpu", "H200")

    assert status == 0
    assert answer["verdict"] == "does-not-fit"
    assert [card["verdict"] for card in answer["cards"]] == ["does-not-fit", "fits"]


def test_several_cards_none_of_which_will_do(full, capsys):
    status, _, _ = run(capsys, full, *VERSION, "--gpu", "8GiB", "--gpu", "12GiB")

    assert status == 1


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_a_model_that_is_not_known_is_asked_for(form, tmp_path, capsys):
    script = tmp_path / "a.sh"
    script.write_text(LORA.replace("Qwen/Qwen2.5-7B-Instruct", "acme/strange-model"), "utf-8")

    status, out, _ = run(capsys, str(script), *VERSION, "--format", form)

    assert status == 2
    assert "acme/strange-model" in out
    assert "--model-config" in out
    if form == "json":
        answer = json.loads(out)
        assert answer["refusal"]["kind"] == "unknown"
        assert answer["allocated"] is None


def test_a_layout_that_cannot_run_is_a_finding(tmp_path, capsys):
    script = tmp_path / "a.sh"
    script.write_text(
        LORA.replace("--per_device_train_batch_size 1", "--per_device_train_batch_size -4"), "utf-8"
    )

    status, answer = read(capsys, str(script), *VERSION)

    assert status == 1
    assert answer["refusal"]["kind"] == "impossible"
    assert answer["refusal"]["evidence"][0]["line"] in (1, 2)


def test_json_follows_the_schema(lora, capsys):
    schema = json.loads((FOLDER / "estimate.schema.json").read_text(encoding="utf-8"))

    _, answer = read(capsys, lora, *VERSION, "--gpu", "A100-80G")

    assert list(Draft202012Validator(schema).iter_errors(answer)) == []
    assert answer["job"]["framework"] == "ms-swift"
    assert answer["peak"] in {phase["phase"] for phase in answer["phases"]}


def test_each_phase_is_the_sum_of_its_terms(full, capsys):
    _, answer = read(capsys, full, *VERSION)

    for phase in answer["phases"]:
        total = sum(term["gib"] for term in phase["terms"])
        assert abs(total - phase["gib"]) <= 0.01 * (1 + len(phase["terms"]))


def test_a_script_comes_in_on_standard_input(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LORA.encode())))

    status, out, _ = run(capsys, "-", *VERSION, "--gpu", "A100-80G")

    assert status == 0
    assert out.startswith("FITS")


def test_a_config_of_llamafactory_is_a_launch(tmp_path, capsys):
    config = tmp_path / "train.yaml"
    config.write_text(
        "model_name_or_path: Qwen/Qwen2.5-7B-Instruct\nstage: sft\nfinetuning_type: lora\n"
        "dataset: d\ncutoff_len: 2048\nbf16: true\noutput_dir: o\n",
        encoding="utf-8",
    )

    status, answer = read(capsys, "--cmd", str(config), "--gpu", "A100-80G")

    assert status == 0
    assert answer["job"]["framework"] == "llamafactory"


def test_a_config_json_stands_in_for_an_unknown_model(tmp_path, capsys):
    script, config = tmp_path / "a.sh", tmp_path / "config.json"
    script.write_text(LORA.replace("Qwen/Qwen2.5-7B-Instruct", "acme/strange-model"), "utf-8")
    sizes = {"num_hidden_layers": 4, "hidden_size": 512, "num_attention_heads": 8}
    more = {"intermediate_size": 1024, "vocab_size": 32000, "model_type": "llama"}
    config.write_text(json.dumps({**sizes, **more, "num_key_value_heads": 8}), encoding="utf-8")

    status, answer = read(capsys, str(script), *VERSION, "--model-config", str(config))

    assert status == 0
    assert 0 < answer["allocated"]["gib"] < 5


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["nowhere.sh"], "no such file"),
        ([], "nothing to estimate"),
        (["LORA", "--gpus", "0"], "--gpus"),
        (["LORA", "--gpu", "???"], "--gpu"),
        (["LORA", "--plot", "out.pdf"], ".svg or .png"),
        (["LORA", "--data", "nowhere.jsonl"], "nowhere.jsonl"),
        (["LORA", "--model-config", "nowhere.json"], "nowhere.json"),
        (["LORA", "--fail-on", "sometimes"], "--fail-on"),
    ],
)
def test_wrong_use_is_status_2_with_a_message(argv, said, lora, capsys):
    argv = [lora if word == "LORA" else word for word in argv]
    status, out, err = run(capsys, *argv) if argv else run(capsys, "--lang", "en")

    assert status == 2
    assert out == ""
    assert said in err
    assert "defect of trainrx" not in err


def test_short_samples_need_less_than_the_limit(lora, tmp_path, capsys):
    data = tmp_path / "train.jsonl"
    sample = {
        "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "a"}]
    }
    data.write_text((json.dumps(sample) + "\n") * 20 + "no json\n", encoding="utf-8")

    _, capped = read(capsys, lora, *VERSION)
    status, measured = read(capsys, lora, *VERSION, "--data", str(data))

    assert status == 0
    assert measured["length"]["how"] == "data"
    assert measured["allocated"]["gib"] < capped["allocated"]["gib"] - 1
    assert any(item["source"] == str(data) for item in measured["unread"])


def test_exact_without_its_packages_says_what_to_install(lora, capsys):
    if find_spec("torch") is not None:
        pytest.skip("torch is installed here")

    status, out, err = run(capsys, lora, *VERSION, "--exact")

    assert (status, out) == (2, "")
    assert "pip install 'trainrx[exact]'" in err


def test_a_file_without_a_launch_says_what_was_expected(tmp_path, capsys):
    script = tmp_path / "a.sh"
    script.write_text("#!/bin/bash\nls -l\n", encoding="utf-8")

    status, _, err = run(capsys, "--cmd", str(script))

    assert status == 2
    assert "no launch found" in err


def test_a_plot_is_written_beside_the_answer(lora, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    path = tmp_path / "out.svg"

    status, out, _ = run(capsys, lora, *VERSION, "--gpu", "A100-80G", "--plot", str(path))

    assert status == 0
    assert out.startswith("FITS")
    assert "<svg" in path.read_text(encoding="utf-8")


def test_a_second_training_command_is_named_as_not_judged(tmp_path, capsys):
    script = tmp_path / "a.sh"
    script.write_text(LORA + FULL, encoding="utf-8")

    _, answer = read(capsys, str(script), *VERSION)

    assert any("was not judged" in item["reason"] for item in answer["unread"])


def test_python_gives_the_same_answer(lora, capsys):
    _, answer = read(capsys, lora, *VERSION, "--gpu", "A100-80G")

    found = estimate(lora, versions={"ms-swift": "3.2.1"}, gpu="A100-80G")

    assert found.verdict == answer["verdict"]
    assert found.card.gib == answer["card"]["gib"]
    assert trainrx.estimate is estimate


def test_too_many_cards_are_refused(lora):
    with pytest.raises(UsageError, match="at most 16"):
        estimate(lora, gpu=[f"{size}GiB" for size in range(1, 40)])


def test_text_imports_neither_a_drawing_library_nor_the_rule_engine(lora):
    code = (
        f"import sys; from trainrx.cli import main; main(['estimate', {lora!r}])\n"
        "print(sorted({'matplotlib', 'torch', 'durable_rules_engine', 'hyperscan', 'numpy', 'rich'}"
        " & set(sys.modules)))"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )

    assert done.stdout.endswith("[]\n")


@pytest.mark.parametrize("script", sorted(Path("examples").rglob("launch*.sh")))
def test_every_example_is_answered(script, capsys):
    status, answer = read(capsys, str(script), "--gpu", "A100-80G")

    assert status in (0, 1)
    assert answer["refusal"] is None
    assert answer["verdict"] is not None
    terms = {term["name"] for phase in answer["phases"] for term in phase["terms"]}
    terms |= {term["name"] for term in answer["host"]["terms"]}
    assert terms <= set(TERM)


def test_the_page_says_which_launch_and_which_configurations_it_used(tmp_path, capsys):
    (tmp_path / "configs").mkdir()
    (tmp_path / "scripts").mkdir()
    (tmp_path / "setup.py").touch()
    (tmp_path / "configs" / "zero3.json").write_text('{"zero_optimization": {"stage": 3}}')
    path = tmp_path / "scripts" / "run.sh"
    path.write_text(
        "\naccelerate launch --config_file gone.yaml sft.py --deepspeed configs/zero3.json \\\n"
        "  --model_name_or_path Qwen/Qwen2.5-7B-Instruct --max_length 2048\n"
    )

    _, out, _ = run(capsys, str(path), "--gpu", "A100-80G")
    _, refused, _ = run(capsys, str(path), "--lang", "zh")
    _, answer = read(capsys, str(path))

    said = " ".join(out.split())
    assert f"Launch {path}:2" in said
    assert f"Config {tmp_path}/configs/zero3.json, gone.yaml (not at hand)" in said
    assert f"启动命令 {path}:2" in " ".join(refused.split())
    assert answer["place"]["line"] == 2
    assert [(one["name"], bool(one["found"])) for one in answer["configs"]] == [
        ("configs/zero3.json", True),
        ("gone.yaml", False),
    ]


def test_a_file_of_one_argument_that_is_not_at_hand_is_named_and_hides_only_its_own(
    tmp_path, capsys
):
    path = tmp_path / "run.sh"
    path.write_text(
        "deepspeed --num_gpus 4 train.py --deepspeed ds_z3.json --max_length 2048 "
        "--model_name_or_path Qwen/Qwen2.5-7B-Instruct\n"
    )

    _, answer = read(capsys, str(path), "--gpu", "A100-80G")

    assert [(one["name"], one["found"]) for one in answer["configs"]] == [("ds_z3.json", "")]
    assert answer["length"]["high"] == 2048
