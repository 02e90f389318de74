from __future__ import annotations

from pathlib import Path

import pytest

from trainrx.entries.launch_tests import case_problems, read_lint_cases
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.knowledge.places import shipped
from trainrx.render.lint import index_page

FOLDER = shipped()[1] / "lint"
RULES = sorted(path.name.removesuffix(".test.yaml") for path in FOLDER.glob("*.test.yaml"))
LOADED = LoadedKnowledge()


def test_each_rule_finds_what_stands_beside_it() -> None:
    wrong = [
        f"{rule}: {line}"
        for rule in RULES
        for case in read_lint_cases(Path(FOLDER, f"{rule}.test.yaml"))
        for line in case_problems(rule, case, LOADED)
    ]

    assert wrong == []


def test_every_rule_has_launches_beside_it() -> None:
    assert set(RULES) == set(LOADED.lint.rules)


@pytest.mark.parametrize(("lang", "name"), [("en", "lint-rules.md"), ("zh", "lint-rules.zh.md")])
def test_the_index_of_rules_is_the_generated_one(lang: str, name: str) -> None:
    docs = Path(__file__).parents[2] / "docs" / name

    page = index_page(LOADED.lint, "zh" if lang == "zh" else "en")

    assert docs.read_text(encoding="utf-8") == page
