"""An error of lint is a cause: likely where a refusal names it, never where the job trained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from trainrx import diagnose, fix_launch, retry
from trainrx.linter.places import FileLines
from trainrx.model.findings import Finding
from trainrx.model.result import CauseOut, Diagnosis
from trainrx.verdict.subjects import subject_of

VERSIONS = {"ms-swift": "3.2.1", "transformers": "4.49.0"}
GOOD = (
    "swift sft \\\n    --model Qwen/Qwen2.5-7B-Instruct \\\n    --train_type lora \\\n"
    "    --dataset a.jsonl \\\n    --max_steps 10\n"
)
WRONG_TYPE = GOOD.replace("--max_steps 10", "--max_steps 1,5")
CUT = GOOD.replace("lora \\\n", "lora \\ \n")
PARSING = (
    "Traceback (most recent call last):\n"
    '  File "/opt/venv/lib/python3.11/site-packages/transformers/hf_argparser.py", line 358, in '
    "parse_args_into_dataclasses\n"
)
NAMED = (
    "usage: sft.py [-h]\n"
    "sft.py: error: argument --max_steps/--max-steps: invalid int value: '1,5'\n"
)
UNNAMED = PARSING + "TypeError: '<' not supported between instances of 'str' and 'int'\n"
ELSEWHERE = 'Traceback (most recent call last):\n  File "a.py", line 1, in load\nValueError: no\n'
STEPS = "".join(f"{{'loss': 1.{n}, 'learning_rate': 1e-05, 'epoch': 0.{n}}}\n" for n in range(5))
OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"


def answer(script: str, log: str | None, folder: Path, **more: Any) -> Diagnosis:
    (folder / "launch.sh").write_text(script, encoding="utf-8")
    if log is not None:
        (folder / "train.log").write_text(log, encoding="utf-8")
        more["logs"] = folder / "train.log"
    return diagnose(cmd=folder / "launch.sh", versions=VERSIONS, **more)


def of_lint(found: Diagnosis) -> list[CauseOut]:
    return [c for c in found.causes if any(r.id == "lint-error" for r in c.reasons)]


def test_an_error_the_program_names_is_the_cause(tmp_path: Path) -> None:
    found = answer(WRONG_TYPE, NAMED, tmp_path)

    cause = found.causes[0]
    assert (found.verdict, cause.id, cause.verdict) == ("diagnosed", "wrong-type", "likely")
    cited = {(Path(o.source).name, o.line) for r in cause.reasons for o in r.evidence}
    assert cited == {("train.log", 2), ("launch.sh", 5)}
    assert found.plan is not None
    assert "launch.sh:5" in found.plan.title
    assert "Write a value of type" in found.plan.title
    assert found.plan.title.count("launch.sh:5") == 1


def test_an_error_no_line_names_is_suspected_where_arguments_were_read(tmp_path: Path) -> None:
    found = answer(WRONG_TYPE, UNNAMED, tmp_path)

    assert found.verdict == "suspected"
    assert [(c.id, c.verdict) for c in of_lint(found)] == [("wrong-type", "possible")]


def test_a_check_of_the_package_that_raised_is_suspected(tmp_path: Path) -> None:
    script = GOOD.replace("--train_type lora", "--train_type lora --lora_rank 0")
    raised = (
        "Traceback (most recent call last):\n"
        '  File "/venv/lib/python3.11/site-packages/peft/tuners/lora/layer.py", line 236, in '
        "update_layer\n"
        "ValueError: `r` should be a positive integer value but the value passed is 0\n"
    )

    assert of_lint(answer(script, raised, tmp_path))[0].id == "peft-rank-not-positive"
    assert not of_lint(answer(script, raised.replace("/peft/", "/numpy/"), tmp_path))


def test_text_in_the_place_of_a_number_is_suspected_wherever_it_is_met(tmp_path: Path) -> None:
    log = UNNAMED.replace("parse_args_into_dataclasses", "update_layer")

    found = answer(WRONG_TYPE, log, tmp_path)

    assert [(c.id, c.verdict) for c in of_lint(found)] == [("wrong-type", "possible")]


@pytest.mark.parametrize("log", [ELSEWHERE, STEPS + NAMED, STEPS + UNNAMED, OOM])
def test_a_job_that_got_past_its_arguments_did_not_die_of_them(log: str, tmp_path: Path) -> None:
    found = answer(WRONG_TYPE, log, tmp_path)

    assert of_lint(found) == []
    assert [item.rule for item in found.findings] == ["wrong-type"]


def test_an_error_that_is_known_as_a_cause_is_no_second_one(tmp_path: Path) -> None:
    script = GOOD.replace("--train_type", "--sft_type")

    found = answer(script, None, tmp_path)

    assert [cause.id for cause in of_lint(found)] == ["argument-of-another-version"]
    assert found.plan is not None
    assert [change.spelled for change in found.plan.changes] == ["--train_type lora"]
    assert found.plan.proved


def test_what_a_trap_of_the_shell_cuts_off_is_no_cause_beside_it(tmp_path: Path) -> None:
    found = answer(CUT, None, tmp_path)

    assert found.verdict == "will_fail"
    rules = {cause.id for cause in of_lint(found)}
    assert rules == {"space-after-backslash", "continuation-broken"}
    assert "swift-dataset-missing" in {item.rule for item in found.findings}


def test_a_dash_of_a_document_is_the_cause_of_the_error_that_names_its_word(
    tmp_path: Path,
) -> None:
    found = answer(GOOD.replace("--train_type", "\u2013-train_type"), None, tmp_path)

    assert found.causes[0].title.startswith("The flag begins with \u2013")
    (change, *_) = found.causes[0].fixes[0].changes
    assert change.to == "--train_type lora \\"
    assert not any("takes one value" in cause.title for cause in found.causes)


def test_an_edit_of_lint_is_proved_and_fix_makes_it(tmp_path: Path) -> None:
    found = answer(CUT, None, tmp_path)
    fixed = fix_launch(cmd=tmp_path / "launch.sh", versions=VERSIONS)

    assert found.plan is not None
    assert (found.plan.proved, found.plan.changes) == (True, fixed.proposals[0].changes)
    assert fixed.verdict == "proved"
    assert fixed.proposals[0].patched.files[0].after == GOOD


def test_a_likely_cause_gets_the_edit_of_lint_for_the_line_it_rests_on(tmp_path: Path) -> None:
    found = answer(CUT, "launch.sh: line 4: --dataset: command not found\n", tmp_path)

    assert found.causes[0].id == "flags-dropped-by-broken-continuation"
    assert found.causes[0].fixes[0].id in ("space-after-backslash", "continuation-broken")
    assert found.plan is not None
    assert [change.spelled for change in found.plan.changes] == ["--train_type lora \\"]
    assert found.plan.proved


def test_a_launch_that_is_refused_is_refused_again(tmp_path: Path) -> None:
    answer(WRONG_TYPE, NAMED, tmp_path)

    judged = retry(cmd=tmp_path / "launch.sh", logs=tmp_path / "train.log", versions=VERSIONS)

    assert judged.verdict == "deterministic"


def found_at(line: str, word: str, message: str) -> Any:
    column = line.index(word) + 1
    item = Finding(
        rule="x",
        severity="error",
        message=message,
        file="a.sh",
        line=1,
        column=column,
        end_column=column + len(word),
    )
    return subject_of(item, FileLines({"a.sh": line}))


@pytest.mark.parametrize(
    ("word", "line", "named"),
    [
        ("--lr_rate", "error: argument --lr-rate: expected one argument", True),
        ("--lr_rate", "ValueError: lr_rate must be positive", True),
        ("--lr_rate", "ValueError: my_lr_rate must be positive", False),
        ("--seed", "ValueError: remaining_argv: ['--seed', '1']", True),
        ("--seed", "RuntimeError: the seed of this generator is used", False),
        ("zero9", "ValueError: Expected a path. Received: zero9", True),
        ("zero9", "ValueError: Expected a path. Received: zero90", False),
        ("2", "ValueError: remaining_argv: ['2']", True),
        ("2", "ValueError: got 2 of them", False),
        ("two", "ValueError: batch_size should be an integer, but got batch_size=two", True),
        ("two", "ValueError: there were two of them", False),
        ("true", "ValueError: it is true that this fails", False),
    ],
)
def test_a_refusal_names_the_argument_or_quotes_the_value(
    word: str, line: str, named: bool
) -> None:
    subject = found_at(f"swift sft {word} more", word, "it is wrong")

    assert subject.stands_in(line) is named


UNUSED = (
    PARSING.replace("parse_args_into_dataclasses", "parse_dict")
    + "ValueError: Some keys are not used by the HfArgumentParser: ['--max_steps', '3']\n"
)


def test_an_option_behind_a_file_is_written_as_a_key_and_leaves_the_file_alone(
    tmp_path: Path,
) -> None:
    (tmp_path / "train.yaml").write_text("stage: sft\nmax_steps: 6\n", encoding="utf-8")
    script = tmp_path / "launch.sh"
    script.write_text("llamafactory-cli train train.yaml --max_steps 3\n", encoding="utf-8")
    log = tmp_path / "train.log"
    log.write_text(UNUSED, encoding="utf-8")

    versions = {"llamafactory": "0.9.3", "transformers": "4.52.4"}
    made = fix_launch(cmd=script, logs=log, versions=versions)

    first = made.proposals[0]
    assert [change.to for change in first.changes] == [
        "llamafactory-cli train train.yaml max_steps=3"
    ]
    assert [Path(file.name).name for file in first.patched.files] == ["launch.sh"]


def test_a_checkpoint_that_the_job_loaded_is_not_said_to_be_missing(tmp_path: Path) -> None:
    (tmp_path / "train.yaml").write_text(
        "stage: sft\nadapter_name_or_path: /data/adapters/faq\n", encoding="utf-8"
    )
    loading = (
        "Traceback (most recent call last):\n"
        '  File "/v/lib/python3.11/site-packages/peft/peft_model.py", line 9, in load_adapter\n'
        "RuntimeError: Error(s) in loading state_dict for PeftModelForCausalLM:\n"
        "\tsize mismatch for lora_A.default.weight: copying a param with shape torch.Size([8, 64])"
        " from checkpoint, the shape in current model is torch.Size([8, 32]).\n"
    )
    missing = loading[: loading.index("RuntimeError")] + (
        "ValueError: Can't find 'adapter_config.json' at '/data/adapters/faq'\n"
    )

    def causes(log: str) -> list[str]:
        script = "llamafactory-cli train train.yaml\n"
        found = answer(script, log, tmp_path)
        return [cause.id for cause in found.causes]

    assert "checkpoint-missing" not in causes(loading)
    assert "checkpoint-missing" in causes(missing)


def test_a_value_the_program_says_it_got_names_the_error_it_decides(tmp_path: Path) -> None:
    script = GOOD.replace("--train_type lora", "--train_type lora --lora_dropout {}")
    log = ELSEWHERE.replace("ValueError: no", "ValueError: between 0 and 1, but got {}")

    told = answer(script.format("5.0"), log.format("5.0"), tmp_path)
    other = answer(script.format("5.0"), log.format("6.5"), tmp_path)

    assert (told.verdict, told.causes[0].id) == ("diagnosed", "peft-dropout-out-of-range")
    assert not [c for c in of_lint(other) if c.verdict == "likely"]
