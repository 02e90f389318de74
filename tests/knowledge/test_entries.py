"""Every `*.test.yaml` beside a cause or a rule."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from trainrx.entries.tests import PreparedRules, read_cases
from trainrx.knowledge.load import load
from trainrx.knowledge.store import shipped
from trainrx.reason.select import EngineName

KB, RULES = shipped()
CAUSES = sorted(path.stem for path in (KB / "causes").rglob("*.yaml") if ".test" not in path.name)
# rules/lint judges launches: test_lint_rules.py
RULE_IDS = sorted(
    path.stem
    for path in RULES.rglob("*.yaml")
    if ".test" not in path.name and path.parent.name != "lint"
)


@pytest.fixture(scope="module", params=["durable", "reference"])
def bench(request: pytest.FixtureRequest) -> Iterator[PreparedRules]:
    engine: EngineName = request.param
    made = PreparedRules(load(), engine)
    yield made
    made.close()


def file_of(root: Path, ident: str) -> Path:
    return next(root.rglob(f"{ident}.test.yaml"))


@pytest.mark.parametrize("ident", CAUSES)
def test_a_cause_keeps_its_expectations(bench: PreparedRules, ident: str) -> None:
    cases = read_cases(file_of(KB / "causes", ident))

    assert list(bench.cause(bench.knowledge.causes[ident], cases)) == []


@pytest.mark.parametrize("ident", RULE_IDS)
def test_a_rule_keeps_its_expectations(bench: PreparedRules, ident: str) -> None:
    cases = read_cases(file_of(RULES, ident))

    assert list(bench.rule(bench.knowledge.rules[ident], cases)) == []


def test_all_conditions_can_be_decided_side_by_side(bench: PreparedRules) -> None:
    assert list(bench.together()) == []


def test_a_wrong_expectation_is_found(bench: PreparedRules) -> None:
    cause = bench.knowledge.causes["image-pixels-uncapped"]
    cases = read_cases(file_of(KB / "causes", cause.id))
    swapped = [case for case in cases if case.expect.verdict == "absent"]

    problems = list(bench.cause(cause, swapped))

    assert f"{cause.id}: no case expects present" in problems
