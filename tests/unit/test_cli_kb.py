from __future__ import annotations

import pytest

from trainrx.cli import main
from trainrx.kb.load import read_entry
from trainrx.model.knowledge import Cause, Symptom


def test_the_list_names_entries_that_hold_all_words(capsys):
    status = main(["kb", "list", "oom", "cause", "--lang", "en", "--width", "120"])

    said = capsys.readouterr().out.splitlines()
    assert status == 0
    assert any(line.startswith("activations-exceed-memory") for line in said)
    assert not any(line.startswith("cuda-oom ") for line in said)
    assert said[-1].endswith("entries")


def test_the_list_can_be_of_one_family(capsys):
    status = main(["kb", "list", "--family", "slow", "--lang", "en"])

    rows = capsys.readouterr().out.splitlines()[:-1]
    assert status == 0
    assert all(" slow " in row for row in rows)


def test_an_unknown_family_is_refused(capsys):
    assert main(["kb", "list", "--family", "bogus"]) == 2
    assert "the families are oom, host_oom" in capsys.readouterr().err


@pytest.mark.parametrize(("kind", "record"), [("cause", Cause), ("symptom", Symptom)])
def test_a_new_entry_is_valid(kind, record, tmp_path, capsys):
    status = main(["kb", "new", kind, "some-new-thing", "--family", "hang", "--kb", str(tmp_path)])

    entry = read_entry(tmp_path / f"{kind}s" / "hang" / "some-new-thing.yaml", record)
    assert status == 0
    assert entry.id == "some-new-thing"
    assert entry.family == "hang"
    assert "diagnose kb check" in capsys.readouterr().out


def test_a_new_cause_has_a_test_with_the_three_verdicts(tmp_path):
    main(["kb", "new", "cause", "some-new-thing", "--family", "oom", "--kb", str(tmp_path)])

    text = (tmp_path / "causes/oom/some-new-thing.test.yaml").read_text(encoding="utf-8")

    for verdict in ("present", "absent", "unknown"):
        assert f"verdict: {verdict}" in text


def test_a_taken_id_is_refused_and_the_file_kept(tmp_path, capsys):
    argv = ["kb", "new", "cause", "some-new-thing", "--family", "oom", "--kb", str(tmp_path)]
    main(argv)
    path = tmp_path / "causes/oom/some-new-thing.yaml"
    path.write_text("mine", encoding="utf-8")

    status = main(argv)

    assert status == 2
    assert path.read_text(encoding="utf-8") == "mine"
    assert "exists already" in capsys.readouterr().err


@pytest.mark.parametrize("ident", ["Bad", "a b", "../up", "a--b", "-a", "x" * 200, ""])
def test_an_id_that_is_no_slug_is_refused(ident, tmp_path, capsys):
    status = main(["kb", "new", "cause", "--family", "oom", "--kb", str(tmp_path), "--", ident])

    assert status == 2
    assert "cannot be an id" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_missing_is_refused(tmp_path, capsys):
    gone = str(tmp_path / "gone")

    status = main(["kb", "new", "cause", "some-thing", "--family", "oom", "--kb", gone])

    assert status == 2
    assert "is not a folder" in capsys.readouterr().err


def test_check_tells_its_count_and_fails_only_on_problems(capsys):
    status = main(["kb", "check"])

    last = capsys.readouterr().out.splitlines()[-1]
    assert status == (0 if last.endswith(" 0 problems") else 1)


def test_check_refuses_a_folder_that_is_missing(tmp_path, capsys):
    status = main(["kb", "check", "--kb", str(tmp_path / "gone")])

    assert status != 0
    assert "is not a folder" in "".join(capsys.readouterr())
