"""Runs that went well, recorded from the real frameworks, and launches in the shape of the official
examples: nothing may be found in them."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from trainrx import diagnose, estimate
from trainrx.knowledge.lint import load_lint
from trainrx.knowledge.yaml12 import read_yaml
from trainrx.model.result import Diagnosis
from trainrx.render import render
from trainrx.render.document import View

HERE = Path(__file__).parent
FOLDERS = sorted(path.name for path in HERE.iterdir() if path.is_dir() and path.name[0] not in "._")
LAUNCHES = [name for name in FOLDERS if name.startswith("launch-")]
RUNS = [name for name in FOLDERS if name not in LAUNCHES]
HARDWARE = msgspec.convert(read_yaml(HERE / "hardware.yaml"), dict[str, dict[str, Any]])
BY_MEMORY = {
    "does-not-fit": "will_not_fit",
    "tight": "at_risk",
    "fits": "no_problem_foreseen",
    None: "no_problem_foreseen",
}
WHO = re.compile(r"(?P<framework>[a-z-]+)-(?P<version>\d+(?:\.\d+)+)-")


@cache
def answer(name: str) -> Diagnosis:
    """Diagnose a folder, with the hardware a launch is meant for."""
    return diagnose([HERE / name], **HARDWARE.get(name, {}))


def alarms(result: Diagnosis) -> list[str]:
    """Name all that a person would take for trouble, but for the memory the job may take."""
    rules = load_lint().rules
    found = [
        item.rule
        for item in result.findings
        if item.severity == "error" or (item.severity == "warning" and item.rule in rules)
        if item.rule not in ("memory-exceeds-card", "memory-may-exceed-card")
    ]
    causes = [cause.id for cause in result.causes]
    return [*causes, *[seen.id for seen in result.symptoms], *result.warnings, *found]


def test_there_are_enough_of_them_to_trust_a_silence() -> None:
    assert len(FOLDERS) >= 40
    assert set(HARDWARE) == set(LAUNCHES)


@pytest.mark.parametrize("name", RUNS)
def test_a_healthy_run_has_no_cause_and_no_warning(name: str) -> None:
    result = answer(name)

    assert alarms(result) == []
    assert result.verdict == "healthy"


@pytest.mark.parametrize("name", LAUNCHES)
def test_the_first_screen_names_the_memory_a_verdict_rests_on(name: str) -> None:
    result = answer(name)

    screen = render(result, "text", View("en"))

    assert ("GiB per GPU" in screen) is (result.verdict in ("at_risk", "will_not_fit"))


@pytest.mark.parametrize("name", LAUNCHES)
def test_a_launch_as_the_makers_show_it_has_no_cause_and_no_warning(name: str) -> None:
    assert alarms(answer(name)) == []


@pytest.mark.parametrize("name", LAUNCHES)
def test_a_launch_as_the_makers_show_it_is_judged_by_its_memory_alone(name: str) -> None:
    fit = estimate([HERE / name], **HARDWARE[name]).verdict

    assert answer(name).verdict == BY_MEMORY[fit]


@pytest.mark.parametrize(
    "name", [n for n in RUNS if "folder" not in n and not n.startswith("trl-")]
)
def test_the_framework_and_its_version_are_known(name: str) -> None:
    result = answer(name)

    said = WHO.match(name)
    assert said is not None
    assert (result.job.framework, result.job.framework_version) == said.groups()
