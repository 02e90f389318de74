from __future__ import annotations

from pathlib import Path

import pytest

from trainrx.linter.settings import (
    Settings,
    baseline_of,
    chooser,
    find_settings,
    new_ones,
    read_baseline,
    settings_from,
)
from trainrx.model.errors import UsageError
from trainrx.model.findings import Finding

KNOWN = {"a-rule": "shell", "b-rule": "shell", "c-rule": "guards"}


def _chosen(**settings: object) -> set[str]:
    chosen = chooser(settings_from(settings, "test"), KNOWN)
    return {name for name, group in KNOWN.items() if chosen(name, group)}


def test_all_rules_are_chosen_by_default() -> None:
    assert _chosen() == set(KNOWN)


def test_rules_and_groups_are_selected_and_ignored() -> None:
    assert _chosen(select=["shell"]) == {"a-rule", "b-rule"}
    assert _chosen(ignore=["shell"]) == {"c-rule"}
    assert _chosen(select=["shell"], ignore=["a-rule"]) == {"b-rule"}
    assert _chosen(**{"select": ["guards"], "extend-select": ["a-rule"]}) == {"a-rule", "c-rule"}


def test_an_unknown_name_is_refused_with_what_is_near() -> None:
    with pytest.raises(UsageError, match="did you mean a-rule"):
        _chosen(select=["a-rulee"])


def test_an_unknown_setting_is_refused() -> None:
    with pytest.raises(UsageError, match="Known settings: select"):
        settings_from({"selct": []}, "trainrx.toml")


def test_settings_of_the_nearest_folder_count(tmp_path: Path) -> None:
    inner = tmp_path / "jobs" / "deep"
    inner.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text(
        '[tool.trainrx]\nignore = ["shell"]\n[tool.trainrx.versions]\nms-swift = "3.2.1"\n'
    )

    outer, place = find_settings(inner)
    (tmp_path / "jobs" / "trainrx.toml").write_text('fail-on = "error"\n')
    nearer, _ = find_settings(inner)

    assert outer == Settings(ignore=("shell",), versions={"ms-swift": "3.2.1"})
    assert place == tmp_path / "pyproject.toml"
    assert nearer == Settings(fail_on="error")


def test_a_pyproject_without_our_table_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.ruff]\n")

    assert find_settings(tmp_path)[0] == Settings()


def test_broken_toml_is_told(tmp_path: Path) -> None:
    (tmp_path / "trainrx.toml").write_text("a = = 1\n")

    with pytest.raises(UsageError, match="is no TOML"):
        find_settings(tmp_path)


def _finding(line: int) -> Finding:
    return Finding(rule="r", severity="error", message="m", file="f", line=line)


def test_a_baseline_holds_findings_whose_lines_have_moved() -> None:
    before = {3: "  --flag 1", 4: "other"}
    after = {7: "--flag  1", 8: "new"}
    held = read_baseline(baseline_of([_finding(3)], lambda _, n: before.get(n or 0, "")), "b")

    fresh, gone = new_ones([_finding(7), _finding(8)], held, lambda _, n: after.get(n or 0, ""))

    assert [item.line for item in fresh] == [8]
    assert gone == 1


def test_a_file_that_is_no_baseline_is_refused() -> None:
    with pytest.raises(UsageError, match="is no baseline"):
        read_baseline("[]", "b.json")


def test_a_baseline_holds_no_secret():
    line = "export HF_TOKEN=hf_" + "aB3dE5gH7jK9mN1pQ3sT5v"
    finding = Finding(rule="secret-in-script", severity="warning", message="", file="a.sh", line=1)

    written = baseline_of([finding], lambda _file, _line: line)

    assert "HF_TOKEN=***" in written
    assert new_ones([finding], read_baseline(written, "b"), lambda _file, _line: line) == ([], 1)
