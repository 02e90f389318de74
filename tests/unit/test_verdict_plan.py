"""The headline plan is what `diagnose fix` proves, or says why there is none."""

from __future__ import annotations

import shlex
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

import command_line
from trainrx import diagnose
from trainrx.knowledge.yaml12 import read_yaml
from trainrx.model.fixing import FixAnswer
from trainrx.model.result import Diagnosis, ProvedPlan

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FOLDERS = sorted(path.parent.name for path in EXAMPLES.glob("*/expect.yaml"))
PORT_TAKEN = Path(__file__).resolve().parents[1] / "cases" / "ms-swift-port-taken" / "train.log"
TOO_LARGE = (
    "swift sft --model Qwen/Qwen2.5-72B-Instruct --train_type full --torch_dtype bfloat16 "
    "--dataset a.jsonl\n"
)


@cache
def answers(name: str) -> tuple[Diagnosis, FixAnswer]:
    """Run both commands in the folder of an example; the second is the one the first names."""
    words = msgspec.convert(read_yaml(EXAMPLES / name / "expect.yaml")["args"], list[str])
    said = command_line.run([*words, "--format", "json", "--lang", "en"], EXAMPLES / name)
    answer = msgspec.json.decode(said.out, type=Diagnosis)
    assert answer.plan is not None
    command = shlex.split(answer.plan.command)[1:]
    fixed = command_line.run([*command, "--format", "json"], EXAMPLES / name)
    return answer, msgspec.json.decode(fixed.out, type=FixAnswer)


@pytest.mark.parametrize("name", FOLDERS)
def test_the_plan_of_an_example_is_the_one_its_command_proves(name: str) -> None:
    answer, fixed = answers(name)

    plan = answer.plan
    assert plan is not None
    first = fixed.proposals[0]
    assert (plan.changes, plan.predicted) == (first.changes, first.predicted)
    assert plan.proved is (first.refused == first.lacks == ())
    assert plan.lacks == first.lacks
    assert plan.safety == first.safety


@pytest.mark.parametrize("name", FOLDERS)
def test_the_plan_of_an_example_fits_its_card(name: str) -> None:
    plan = answers(name)[0].plan

    assert plan is not None
    if plan.predicted is None:
        assert plan.fits is None
    else:
        assert plan.fits is True
        assert plan.predicted.after_gib <= plan.predicted.limit_gib


def plan_of(text: str, folder: Path, **given: Any) -> ProvedPlan | None:
    script = folder / "launch.sh"
    script.write_text(text, encoding="utf-8")
    return diagnose(cmd=script, **given).plan


def test_a_job_nothing_makes_fit_is_told_so(tmp_path: Path) -> None:
    plan = plan_of(TOO_LARGE, tmp_path, versions={"ms-swift": "3.2.1"}, gpu="4GiB", gpus=1)

    assert plan is not None
    assert (plan.changes, plan.fits, plan.proved) == ((), False, False)
    assert plan.reason.startswith("no change of settings is predicted to fit: ")


def test_a_launch_nothing_is_wrong_with_has_no_plan(tmp_path: Path) -> None:
    text = TOO_LARGE.replace("72B", "0.5B").replace("a.jsonl", "a.jsonl --max_length 512")

    assert plan_of(text, tmp_path, versions={"ms-swift": "3.2.1"}, gpu="A100-80G") is None


def test_without_a_launch_the_plan_is_the_remedy_as_it_is_known() -> None:
    answer = diagnose(logs=PORT_TAKEN)

    plan, first = answer.plan, answer.causes[0].fixes[0]
    assert answer.verdict == "diagnosed"
    assert plan is not None
    assert (plan.proved, plan.command) == (False, "")
    assert (plan.changes, plan.steps) == (first.changes, first.steps)


def test_that_a_newer_release_may_do_is_no_proof(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    lines = (
        "Traceback (most recent call last):",
        '  File "/opt/lib/python3.11/site-packages/swift/llm/train/sft.py", line 90, in run',
        "    train_dataset.features",
        "ValueError: not enough values to unpack (expected 2, got 1)",
    )
    log.write_text("\n".join(lines), encoding="utf-8")

    plan = plan_of(
        "swift sft --model /models/a --dataset a.jsonl\n",
        tmp_path,
        logs=log,
        versions={"ms-swift": "3.2.1"},
    )

    assert plan is not None
    assert [change.param for change in plan.changes] == ["ms-swift"]
    assert not plan.proved
