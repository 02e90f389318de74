from __future__ import annotations

from trainrx.linter.finders.script import held_back, ignores
from trainrx.model.findings import Finding


def _finding(rule: str, line: int) -> Finding:
    return Finding(rule=rule, severity="error", message="m", file="f", line=line)


def test_a_comment_at_the_end_counts_for_its_line() -> None:
    comments = ignores("f", ["a  # diagnose: ignore=r1 known", "b"])

    kept, gone, idle = held_back([_finding("r1", 1), _finding("r1", 2)], comments)

    assert [item.line for item in kept] == [2]
    assert (gone, idle) == (1, [])


def test_a_comment_above_covers_the_continued_command() -> None:
    lines = ["# diagnose: ignore=r1", "swift sft \\", "  --a 1 \\", "  --b 2", "next"]

    kept, gone, _ = held_back([_finding("r1", n) for n in (2, 3, 4, 5)], ignores("f", lines))

    assert [item.line for item in kept] == [5]
    assert gone == 3


def test_a_comment_for_the_file_counts_everywhere() -> None:
    comments = ignores("f", ["a", "b", "# diagnose: ignore-file=r1, r2"])

    kept, gone, _ = held_back([_finding("r1", 1), _finding("r2", 2)], comments)

    assert (kept, gone) == ([], 2)


def test_another_rule_is_not_held_back_and_the_comment_is_idle() -> None:
    comments = ignores("f", ["a # diagnose: ignore=r1,r2"])

    kept, _, idle = held_back([_finding("r1", 1), _finding("r3", 1)], comments)

    assert [item.rule for item in kept] == ["r3"]
    assert [comment.ident for comment in idle] == ["r2"]
