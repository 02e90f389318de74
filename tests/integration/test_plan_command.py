"""`diagnose plan` from the command line to the table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from trainrx.api import diagnose, fix_launch, inspect_launch, lint, plan_job, retry
from trainrx.cli import main
from trainrx.cli.plan import counted
from trainrx.model.errors import UsageError
from trainrx.render.formats.json import FOLDER

LAUNCH = """\
NPROC_PER_NODE=2 swift sft --model Qwen/Qwen2.5-7B-Instruct --train_type lora --dataset d \\
    --max_length 4096 --per_device_train_batch_size 2 --gradient_accumulation_steps 4 \\
    --torch_dtype bfloat16 --deepspeed zero2
"""
SWIFT = ("--versions", "ms-swift==3.2.1,transformers==4.49.0,torch==2.5.1")


@pytest.fixture
def launch(tmp_path):
    path = tmp_path / "launch.sh"
    path.write_text(LAUNCH, encoding="utf-8")
    return str(path)


def run(capsys, *argv):
    status = main(["plan", *argv])
    said = capsys.readouterr()
    return status, said.out, said.err


def test_each_hardware_gets_a_row_in_the_order_asked(launch, capsys):
    status, out, _ = run(
        capsys, launch, *SWIFT, "--gpu", "2xA100-80G", "--gpu", "2x24GiB", "--format", "json"
    )
    answer = json.loads(out)
    rows = answer["hardware"]

    assert status == 0
    assert [(row["gpus"], row["verdict"]) for row in rows] == [(2, "fits"), (2, "plans")]
    assert rows[1]["plans"][0]["after"]["gib"] <= rows[1]["gib"]
    Draft202012Validator(json.loads((FOLDER / "plan.schema.json").read_text())).validate(answer)


def test_what_is_too_small_names_the_least_that_is_not(launch, capsys):
    status, out, _ = run(capsys, launch, *SWIFT, "--gpu", "2x6GiB", "--format", "json")
    row = json.loads(out)["hardware"][0]

    assert (status, row["verdict"]) == (1, "none")
    assert row["fewest"] is not None or row["smallest"] is not None


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("form", ["text", "markdown"])
def test_the_table_is_readable_in_both_languages(launch, lang, form, capsys):
    _, out, _ = run(capsys, launch, *SWIFT, "--gpu", "2x24GiB", "--lang", lang, "--format", form)

    assert "2 x " in out
    assert {"en": "with changes", "zh": "修改后可运行"}[lang] in out


def test_the_text_stays_within_eighty_columns(launch, capsys):
    _, out, _ = run(capsys, launch, *SWIFT, "--gpu", "2x24GiB", "--gpu", "2x6GiB", "--width", "80")

    assert all(len(line) <= 80 for line in out.splitlines())


def test_a_card_without_a_number_is_there_as_often_as_told():
    assert counted("24GiB", 8) == ("24GiB", 8)
    assert counted("8x24GiB", None) == ("24GiB", 8)
    assert counted("2 X A800-80G", 4) == ("A800-80G", 2)


def test_no_card_at_all_is_wrong_use(launch, capsys):
    with pytest.raises(UsageError, match="at least one card"):
        counted("0x24GiB", None)

    assert run(capsys, launch, "--gpu", "8x???")[0] == 2
    assert run(capsys, "--lang", "en")[0] == 2


def test_a_launch_that_is_none_is_wrong_use(tmp_path, capsys):
    path = Path(tmp_path / "launch.sh")
    path.write_text("echo hello\n", encoding="utf-8")

    status, _, err = run(capsys, str(path), "--gpu", "8x24GiB")

    assert status == 2
    assert "no launch" in err


def test_python_plans_every_card_it_is_given(launch):
    versions = {"ms-swift": "3.2.1", "transformers": "4.49.0", "torch": "2.5.1"}

    found = plan_job(launch, versions=versions, gpu=["A100-80G", "24GiB"], gpus=2)

    assert [row.gib for row in found.hardware] == [79.25, 23.64]


@pytest.mark.parametrize("function", [diagnose, fix_launch, inspect_launch, lint, retry])
def test_python_takes_one_card_where_nothing_compares_several(function, launch):
    with pytest.raises(UsageError, match="--gpu stands 2 times"):
        function(launch, gpu=["A100-80G", "24GiB"])
