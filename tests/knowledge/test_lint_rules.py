from __future__ import annotations

from pathlib import Path

import pytest

from trainrx.entries.lint_tests import LintCase, case_problems, read_lint_cases
from trainrx.knowledge.lint import load_lint
from trainrx.knowledge.store import shipped
from trainrx.render.lint_rules import index_page

FOLDER = shipped()[1] / "lint"
RULES = sorted(path.name.removesuffix(".test.yaml") for path in FOLDER.glob("*.test.yaml"))
KNOWLEDGE = load_lint()


def _cases() -> list[tuple[str, LintCase]]:
    listed = ((rule, read_lint_cases(Path(FOLDER, f"{rule}.test.yaml"))) for rule in RULES)
    return [(rule, case) for rule, cases in listed for case in cases]


@pytest.mark.parametrize(("rule", "case"), _cases(), ids=lambda item: getattr(item, "name", item))
def test_rule_finds_what_stands_beside_it(rule: str, case: LintCase) -> None:
    assert list(case_problems(rule, case, KNOWLEDGE)) == []


def test_every_rule_has_launches_beside_it() -> None:
    assert set(RULES) == set(KNOWLEDGE.rules)


@pytest.mark.parametrize(("lang", "name"), [("en", "lint-rules.md"), ("zh", "lint-rules.zh.md")])
def test_the_index_of_rules_is_the_generated_one(lang: str, name: str) -> None:
    docs = Path(__file__).parents[2] / "docs" / name

    page = index_page(KNOWLEDGE, "zh" if lang == "zh" else "en")

    assert docs.read_text(encoding="utf-8") == page
