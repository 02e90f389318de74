from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from trainrx.cli import main
from trainrx.lsp.actions import all_fixes, quick_fixes
from trainrx.lsp.desk import Desk, Document, Sight, Wishes, wishes_from
from trainrx.model.errors import UsageError
from trainrx.model.findings import Edit, FindingFix

BAD = "swift sft --model m \\\n    --lora_rnak 8 \\\n    --dataset d\n"


@pytest.fixture(scope="module")
def desk() -> Desk:
    made = Desk("en")
    made.wishes = Wishes(versions="ms-swift==3.2.1")
    return made


def look(desk: Desk, text: str, name: str = "launch.sh", language: str = "shellscript") -> Sight:
    return desk.look(Document(text, Path("/nowhere") / name, language))


def altered(sight: Sight, **fix) -> Sight:
    (item,) = sight.findings
    held = msgspec.structs.replace(item.fix, **fix)
    return sight._replace(findings=(msgspec.structs.replace(item, fix=held),))


def test_what_changes_results_is_offered_but_not_preferred(desk):
    sight = altered(look(desk, BAD), safety="changes-results")

    first = next(quick_fixes(sight, 2, 2, desk.knowledge))

    assert first.title == "Replace --lora_rnak with --lora_rank (changes results)"
    assert not first.preferred


def test_what_a_person_must_do_is_not_offered(desk):
    sight = altered(look(desk, BAD), safety="manual")

    assert [a.title for a in quick_fixes(sight, 2, 2, desk.knowledge)] == [
        "Ignore misspelt-argument here"
    ]


def test_a_fix_that_makes_things_worse_is_not_offered(desk):
    sight = look(desk, BAD)
    (edit,) = sight.findings[0].fix.edits
    worse = msgspec.structs.replace(edit, text="--lora_rnak --lora_rnk")

    titles = [a.title for a in quick_fixes(altered(sight, edits=(worse,)), 2, 2, desk.knowledge)]

    assert titles == ["Ignore misspelt-argument here"]


def test_an_edit_of_another_file_is_not_offered(desk):
    sight = look(desk, BAD)
    (edit,) = sight.findings[0].fix.edits
    other = msgspec.structs.replace(edit, file="other.sh")

    titles = [a.title for a in quick_fixes(altered(sight, edits=(other,)), 2, 2, desk.knowledge)]

    assert titles == ["Ignore misspelt-argument here"]


def test_other_lines_offer_nothing(desk):
    assert list(quick_fixes(look(desk, BAD), 3, 3, desk.knowledge)) == []


def test_a_comment_that_is_there_takes_the_rule_in(desk):
    text = "# diagnose: ignore=unknown-argument our fork\n" + BAD.replace("m \\", "m --zzqqx 1 \\")

    (action,) = [a for a in quick_fixes(look(desk, text), 3, 3, desk.knowledge) if not a.preferred]

    (edit,) = action.edits
    assert (edit.line, edit.text) == (1, ",misspelt-argument")


def test_line_ends_are_the_editors_own(desk):
    sight = look(desk, BAD.replace("--lora_rnak", "--lora_rank").replace("\n", "\r\n"))

    titles = [a.title for a in quick_fixes(sight, 1, 9, desk.knowledge)]

    assert [item.rule for item in sight.findings] == ["crlf-line-ends"]
    assert not any(title.startswith("Mend") for title in titles)
    assert all_fixes(sight) is None


def test_json_takes_no_comment(desk):
    text = '{"model": "m", "dataset": ["d"], "train_type": "lora",\n "lora_rnak": 8}\n'
    sight = look(desk, text, "train.json", "json")

    actions = list(quick_fixes(sight, 1, 2, desk.knowledge))

    assert [item.rule for item in sight.findings] == ["misspelt-argument"]
    assert [a.title for a in actions] == ["Replace lora_rnak with lora_rank"]


def test_a_text_without_a_file_is_judged(desk):
    made = desk.look(Document(BAD, None, "shellscript", "Untitled-1"))

    assert [(item.rule, item.file) for item in made.findings] == [
        ("misspelt-argument", "Untitled-1")
    ]


def test_options_of_another_type_are_told():
    with pytest.raises(UsageError, match=r"gpus.*Known options: lang, versions"):
        wishes_from({"gpus": "eight"})


def test_unknown_options_are_left_alone():
    assert wishes_from({"trace": "off", "extendSelect": ["all"]}).extend_select == ("all",)


def test_a_fix_of_several_lines_bears_the_title_of_its_rule(desk):
    sight = look(desk, BAD)
    edits = (
        Edit(file="/nowhere/launch.sh", line=2, column=7, end_line=2, end_column=16, text="lora_"),
        Edit(file="/nowhere/launch.sh", line=2, column=16, end_line=2, end_column=16, text="rank"),
    )
    (item,) = sight.findings
    two = msgspec.structs.replace(item, fix=FindingFix(safety="safe", edits=edits))

    first = next(quick_fixes(sight._replace(findings=(two,)), 2, 2, desk.knowledge))

    assert first.title == f"Mend: {desk.knowledge.rules['misspelt-argument'].title.en}"


def test_a_baseline_of_the_project_counts(desk, tmp_path, monkeypatch):
    script = tmp_path / "launch.sh"
    script.write_text(BAD)
    (tmp_path / "trainrx.toml").write_text('baseline = "old.json"\n')
    document = Document(BAD, script, "shellscript")
    monkeypatch.chdir(tmp_path)
    before = [item.rule for item in desk.look(document).findings]
    main(["lint", "launch.sh", "--versions", "ms-swift==3.2.1", "--write-baseline", "old.json"])

    assert before == ["misspelt-argument"]
    assert desk.look(document).findings == ()
    worse = document._replace(text=BAD.replace("--dataset d", "--dataset d --lora_aplha 2"))
    assert [item.rule for item in desk.look(worse).findings] == ["misspelt-argument"]


def test_a_file_that_is_no_baseline_is_told(desk, tmp_path):
    (tmp_path / "trainrx.toml").write_text('baseline = "old.json"\n')
    (tmp_path / "old.json").write_text("[]")

    with pytest.raises(UsageError, match="is no baseline"):
        desk.look(Document(BAD, tmp_path / "launch.sh", "shellscript"))
