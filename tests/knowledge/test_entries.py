"""Every `*.test.yaml` beside a cause, a rule or a protocol."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from trainrx.entries.tests import PreparedRules, read_cases
from trainrx.knowledge.load import load
from trainrx.knowledge.places import shipped
from trainrx.model.knowledge import Family

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


def test_every_protocol_keeps_its_expectations(rules: PreparedRules) -> None:
    wrong = [
        line
        for ident, protocol in rules.knowledge.protocols.items()
        for line in rules.protocol(protocol, read_cases(file_of(KB, ident)))
    ]

    assert wrong == []


def test_every_kind_of_failure_that_does_not_name_its_cause_has_a_protocol(
    rules: PreparedRules,
) -> None:
    # what is refused says why, and two releases that clash are asked for by name
    said = {"config_error", "version_conflict"}

    followed = {f for one in rules.knowledge.protocols.values() for f in one.families}

    assert followed == set(get_args(Family)) - said


def test_all_conditions_can_be_decided_side_by_side(rules: PreparedRules) -> None:
    assert list(rules.together()) == []


def test_a_wrong_expectation_is_found(rules: PreparedRules) -> None:
    cause = rules.knowledge.causes["image-pixels-uncapped"]
    cases = read_cases(file_of(KB / "causes", cause.id))
    swapped = [case for case in cases if case.expect.verdict == "absent"]

    problems = list(rules.cause(cause, swapped))

    assert f"{cause.id}: no case expects present" in problems
