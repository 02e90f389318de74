"""One word on a launch that has not run, and that it is what lint and the estimate say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from trainrx import diagnose, estimate, lint
from trainrx.cli.diagnose import failing
from trainrx.model.findings import Finding
from trainrx.model.memory import Refusal
from trainrx.verdict.preflight import Foreseen, preflight

VERSIONS = {"ms-swift": "3.2.1"}
SFT = (
    "swift sft --model Qwen/Qwen2.5-7B-Instruct --train_type {how} --torch_dtype bfloat16 "
    "--max_length 2048 --per_device_train_batch_size 1 --gradient_checkpointing true "
    "--dataset a.jsonl{more}\n"
)
LORA, FULL = SFT.format(how="lora", more=""), SFT.format(how="full", more="")
REFUSED = SFT.format(how="full", more=" --sft_type full")
UNKNOWN = Refusal(kind="unknown", id="no-model", reason="no model")


def judged(text: str, folder: Path, **given: Any) -> Any:
    script = folder / "launch.sh"
    script.write_text(text, encoding="utf-8")
    return diagnose(cmd=script, **given)


@pytest.mark.parametrize(
    ("text", "gpu", "verdict", "status"),
    [
        (LORA, "A100-80G", "no_problem_foreseen", 0),
        (LORA, None, "no_problem_foreseen", 0),
        (LORA, "24GiB", "at_risk", 0),
        (FULL, "24GiB", "will_not_fit", 1),
        (REFUSED, None, "will_fail", 1),
        # the parser refuses it before any memory is taken
        (REFUSED, "24GiB", "will_fail", 1),
    ],
)
def test_the_verdict_on_a_launch_joins_lint_and_memory(
    text: str, gpu: str | None, verdict: str, status: int, tmp_path: Path
) -> None:
    answer = judged(text, tmp_path, versions=VERSIONS, gpu=gpu)

    assert answer.verdict == verdict
    assert failing(answer, "likely") == status


def test_a_note_makes_it_a_job_that_was_seen(tmp_path: Path) -> None:
    answer = judged(FULL, tmp_path, versions=VERSIONS, gpu="24GiB", note="CUDA out of memory")

    assert answer.verdict in ("diagnosed", "suspected")


def test_what_is_not_recognised_is_unknown(tmp_path: Path) -> None:
    config = tmp_path / "ds.json"
    config.write_text('{"zero_optimization": {"stage": 2}}', encoding="utf-8")

    assert diagnose(config=config).verdict == "unknown"


@pytest.mark.parametrize(
    ("rule", "severity", "verdict"),
    [
        ("wrong-choice", "error", "will_fail"),
        ("memory-exceeds-card", "error", "will_not_fit"),
        ("variable-misspelt", "warning", "at_risk"),
        ("secret-in-script", "warning", "no_problem_foreseen"),
        ("a-package-alters-it", "warning", "no_problem_foreseen"),
        ("memory-is-tight", "info", "no_problem_foreseen"),
    ],
)
def test_a_finding_weighs_as_much_as_the_run_may_suffer(
    rule: str, severity: Any, verdict: str
) -> None:
    found = Finding(rule=rule, severity=severity, message="", file="launch.sh")
    rules = {"wrong-choice", "variable-misspelt", "secret-in-script", "memory-exceeds-card"}

    assert preflight(Foreseen([found], rules, (), UNKNOWN, recognised=True)) == verdict


def test_findings_and_figures_are_those_of_lint_and_estimate(tmp_path: Path) -> None:
    answer = judged(REFUSED, tmp_path, versions=VERSIONS, gpu="24GiB")

    assert answer.findings == lint(tmp_path / "launch.sh", versions=VERSIONS, gpu="24GiB")
    fit = estimate(cmd=tmp_path / "launch.sh", versions=VERSIONS, gpu="24GiB")
    assert fit.verdict == "does-not-fit"
