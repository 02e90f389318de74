"""One word on a launch that has not run, and that it is what lint and the estimate say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from trainrx import diagnose, estimate, lint
from trainrx.cli.diagnose import failing
from trainrx.model.findings import Finding
from trainrx.model.memory import Refusal
from trainrx.render import render
from trainrx.render.document import View
from trainrx.verdict.preflight import Foreseen, preflight

TESTS = Path(__file__).resolve().parents[1]
EXAMPLES = sorted(TESTS.parent.glob("examples/*/launch*.sh"))
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


def test_a_launch_nobody_can_say_the_memory_of_is_not_called_free_of_problems(
    tmp_path: Path,
) -> None:
    text = (
        "torchrun --nproc_per_node 8 train.py --model_name_or_path Qwen/Qwen2.5-7B-Instruct "
        "--zero $8 --per_device_train_batch_size 4 --bf16 True --num_train_epochs 1\n"
    )

    answer = judged(text, tmp_path, gpu="A100-80G")

    assert answer.verdict == "unknown"
    assert "whether it fits cannot be said" in " ".join(
        render(answer, "text", View("en", 80)).split()
    )
    assert judged(text, tmp_path).verdict == "no_problem_foreseen"


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


class JudgedLaunch(msgspec.Struct, frozen=True):
    """A launch the real framework has ruled on."""

    id: str
    framework: str
    version: str
    files: dict[str, str]
    verdict: str


LAUNCHES = [
    msgspec.json.decode(line, type=JudgedLaunch)
    for line in (TESTS / "lint" / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()
][::40]


def agreed(script: Path, given: Any) -> Any:
    """Give the answer, once lint and the estimate are seen to say the same of the launch."""
    answer = diagnose(cmd=script, **given)

    found = lint(script, **given)
    fit = estimate(cmd=script, **given).verdict
    assert answer.findings == found
    errors = {item.rule for item in found if item.severity == "error"} - {"memory-exceeds-card"}
    if errors:
        assert answer.verdict == "will_fail"
    elif fit == "does-not-fit":
        assert answer.verdict == "will_not_fit"
    elif fit == "tight":
        assert answer.verdict == "at_risk"
    elif fit == "cannot-say":
        assert answer.verdict in ("at_risk", "unknown")
    else:
        assert answer.verdict in ("at_risk", "no_problem_foreseen")
    return answer


@pytest.mark.parametrize("item", LAUNCHES, ids=[item.id for item in LAUNCHES])
def test_a_launch_is_judged_as_lint_and_the_estimate_judge_it(
    item: JudgedLaunch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in item.files.items():
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    monkeypatch.chdir(tmp_path)

    answer = agreed(Path("launch.sh"), {"versions": {item.framework: item.version}, "gpu": "24GiB"})

    if item.verdict == "accepted":
        assert answer.verdict != "will_fail"


@pytest.mark.parametrize("script", EXAMPLES, ids=[path.parent.name for path in EXAMPLES])
@pytest.mark.parametrize("gpu", ["24GiB", "A100-80G", "H200"])
def test_an_example_is_judged_alike_on_every_card(script: Path, gpu: str) -> None:
    agreed(script, {"versions": script.with_name("versions.txt"), "gpu": gpu, "gpus": 8})
