"""Every `*.test.yaml` beside a cause or a rule."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from trainrx.entries.tests import PreparedRules, read_cases
from trainrx.knowledge.load import load
from trainrx.knowledge.places import shipped

KB, RULES = shipped()
CAUSES = sorted(path.stem for path in (KB / "causes").rglob("*.yaml") if ".test" not in path.name)
# rules/lint judges launches: test_lint_rules.py
RULE_IDS = sorted(
    path.stem
    for path in RULES.rglob("*.yaml")
    if ".test" not in path.name and path.parent.name != "lint"
)


@pytest.fixture(scope="module")
def rules() -> Iterator[PreparedRules]:
    made = PreparedRules(load())
    yield made
    made.close()


def file_of(root: Path, ident: str) -> Path:
    return next(root.rglob(f"{ident}.test.yaml"))


def test_every_cause_keeps_its_expectations(rules: PreparedRules) -> None:
    causes = rules.knowledge.causes

    wrong = [
        line
        for ident in CAUSES
        for line in rules.cause(causes[ident], read_cases(file_of(KB / "causes", ident)))
    ]

    assert wrong == []


def test_every_rule_keeps_its_expectations(rules: PreparedRules) -> None:
    known = rules.knowledge.rules

    wrong = [
        line
        for ident in RULE_IDS
        for line in rules.rule(known[ident], read_cases(file_of(RULES, ident)))
    ]

    assert wrong == []


def test_all_conditions_can_be_decided_side_by_side(rules: PreparedRules) -> None:
    assert list(rules.together()) == []


def test_a_wrong_expectation_is_found(rules: PreparedRules) -> None:
    cause = rules.knowledge.causes["image-pixels-uncapped"]
    cases = read_cases(file_of(KB / "causes", cause.id))
    swapped = [case for case in cases if case.expect.verdict == "absent"]

    problems = list(rules.cause(cause, swapped))

    assert f"{cause.id}: no case expects present" in problems
