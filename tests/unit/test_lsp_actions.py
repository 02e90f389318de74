from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from trainrx.cli import main
from trainrx.lsp.actions import all_fixes, quick_fixes
from trainrx.lsp.workspace import (
    EditorOptions,
    LintedDocument,
    OpenDocument,
    Workspace,
    options_from,
)
from trainrx.model.errors import UsageError
from trainrx.model.findings import Edit, FindingFix

BAD = "swift sft --model m \\\n    --lora_rnak 8 \\\n    --dataset d\n"


@pytest.fixture(scope="module")
def workspace() -> Workspace:
    made = Workspace("en")
    made.options = EditorOptions(versions="ms-swift==3.2.1")
    return made


def look(
    workspace: Workspace, text: str, name: str = "launch.sh", language: str = "shellscript"
) -> LintedDocument:
    return workspace.look(OpenDocument(text, Path("/nowhere") / name, language))


def altered(linted: LintedDocument, **fix) -> LintedDocument:
    (item,) = linted.findings
    held = msgspec.structs.replace(item.fix, **fix)
    return linted._replace(findings=(msgspec.structs.replace(item, fix=held),))


def test_what_changes_results_is_offered_but_not_preferred(workspace):
    linted = altered(look(workspace, BAD), safety="changes-results")

    first = next(quick_fixes(linted, 2, 2, workspace.knowledge))

    assert first.title == "Replace --lora_rnak with --lora_rank (changes results)"
    assert not first.preferred


def test_what_a_person_must_do_is_not_offered(workspace):
    linted = altered(look(workspace, BAD), safety="manual")

    assert [a.title for a in quick_fixes(linted, 2, 2, workspace.knowledge)] == [
        "Ignore misspelt-argument here"
    ]


def test_a_fix_that_makes_things_worse_is_not_offered(workspace):
    linted = look(workspace, BAD)
    (edit,) = linted.findings[0].fix.edits
    worse = msgspec.structs.replace(edit, text="--lora_rnak --lora_rnk")

    titles = [
        a.title for a in quick_fixes(altered(linted, edits=(worse,)), 2, 2, workspace.knowledge)
    ]

    assert titles == ["Ignore misspelt-argument here"]


def test_an_edit_of_another_file_is_not_offered(workspace):
    linted = look(workspace, BAD)
    (edit,) = linted.findings[0].fix.edits
    other = msgspec.structs.replace(edit, file="other.sh")

    titles = [
        a.title for a in quick_fixes(altered(linted, edits=(other,)), 2, 2, workspace.knowledge)
    ]

    assert titles == ["Ignore misspelt-argument here"]


def test_other_lines_offer_nothing(workspace):
    assert list(quick_fixes(look(workspace, BAD), 3, 3, workspace.knowledge)) == []


def test_a_comment_that_is_there_takes_the_rule_in(workspace):
    text = "# diagnose: ignore=unknown-argument our fork\n" + BAD.replace("m \\", "m --zzqqx 1 \\")

    (action,) = [
        a for a in quick_fixes(look(workspace, text), 3, 3, workspace.knowledge) if not a.preferred
    ]

    (edit,) = action.edits
    assert (edit.line, edit.text) == (1, ",misspelt-argument")


def test_line_ends_are_the_editors_own(workspace):
    linted = look(workspace, BAD.replace("--lora_rnak", "--lora_rank").replace("\n", "\r\n"))

    titles = [a.title for a in quick_fixes(linted, 1, 9, workspace.knowledge)]

    assert [item.rule for item in linted.findings] == ["crlf-line-ends"]
    assert not any(title.startswith("Mend") for title in titles)
    assert all_fixes(linted) is None


def test_json_takes_no_comment(workspace):
    text = '{"model": "m", "dataset": ["d"], "train_type": "lora",\n "lora_rnak": 8}\n'
    linted = look(workspace, text, "train.json", "json")

    actions = list(quick_fixes(linted, 1, 2, workspace.knowledge))

    assert [item.rule for item in linted.findings] == ["misspelt-argument"]
    assert [a.title for a in actions] == ["Replace lora_rnak with lora_rank"]


def test_a_text_without_a_file_is_judged(workspace):
    made = workspace.look(OpenDocument(BAD, None, "shellscript", "Untitled-1"))

    assert [(item.rule, item.file) for item in made.findings] == [
        ("misspelt-argument", "Untitled-1")
    ]


def test_options_of_another_type_are_told():
    with pytest.raises(UsageError, match=r"gpus.*Known options: lang, versions"):
        options_from({"gpus": "eight"})


def test_unknown_options_are_left_alone():
    assert options_from({"trace": "off", "extendSelect": ["all"]}).extend_select == ("all",)


def test_a_fix_of_several_lines_bears_the_title_of_its_rule(workspace):
    linted = look(workspace, BAD)
    edits = (
        Edit(file="/nowhere/launch.sh", line=2, column=7, end_line=2, end_column=16, text="lora_"),
        Edit(file="/nowhere/launch.sh", line=2, column=16, end_line=2, end_column=16, text="rank"),
    )
    (item,) = linted.findings
    two = msgspec.structs.replace(item, fix=FindingFix(safety="safe", edits=edits))

    first = next(quick_fixes(linted._replace(findings=(two,)), 2, 2, workspace.knowledge))

    assert first.title == f"Mend: {workspace.knowledge.rules['misspelt-argument'].title.en}"


def test_a_baseline_of_the_project_counts(workspace, tmp_path, monkeypatch):
    script = tmp_path / "launch.sh"
    script.write_text(BAD)
    (tmp_path / "trainrx.toml").write_text('baseline = "old.json"\n')
    document = OpenDocument(BAD, script, "shellscript")
    monkeypatch.chdir(tmp_path)
    before = [item.rule for item in workspace.look(document).findings]
    main(["lint", "launch.sh", "--versions", "ms-swift==3.2.1", "--write-baseline", "old.json"])

    assert before == ["misspelt-argument"]
    assert workspace.look(document).findings == ()
    worse = document._replace(text=BAD.replace("--dataset d", "--dataset d --lora_aplha 2"))
    assert [item.rule for item in workspace.look(worse).findings] == ["misspelt-argument"]


def test_a_file_that_is_no_baseline_is_told(workspace, tmp_path):
    (tmp_path / "trainrx.toml").write_text('baseline = "old.json"\n')
    (tmp_path / "old.json").write_text("[]")

    with pytest.raises(UsageError, match="is no baseline"):
        workspace.look(OpenDocument(BAD, tmp_path / "launch.sh", "shellscript"))
