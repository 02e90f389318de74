from __future__ import annotations

import datetime as dt
from typing import get_args

import msgspec
import pytest
from knowledge_folders import findings

from trainrx.cli import main
from trainrx.knowledge.yaml12 import read_yaml
from trainrx.model.knowledge import Cause, FactEntry, Role, Rule, Symptom
from trainrx.model.levers import Guard
from trainrx.model.packages import PackageEntry
from trainrx.model.parts import Param
from trainrx.model.protocols import Protocol


def test_the_list_names_entries_that_hold_all_words(capsys):
    status = main(["kb", "list", "oom", "cause", "--lang", "en", "--width", "120"])

    said = capsys.readouterr().out.splitlines()
    assert status == 0
    assert any(line.startswith("activations-exceed-memory") for line in said)
    assert not any(line.startswith("cuda-oom ") for line in said)
    assert said[-1].endswith("entries")


@pytest.mark.parametrize(
    ("words", "listed"),
    [
        (["Got completion"], "nccl-ib-error"),
        (["symptom", "vendor_err=129"], "nccl-ib-error"),
        (["halve-micro-batch"], "halve-micro-batch"),
        (["activation-offloading"], "activation-offloading"),
        (["lint rule", "ambiguous-abb"], "ambiguous-abbreviation"),
    ],
)
def test_the_list_finds_lines_and_every_kind_that_explain_knows(words, listed, capsys):
    main(["kb", "list", *words, "--lang", "en"])

    assert any(line.startswith(listed) for line in capsys.readouterr().out.splitlines())
    assert main(["explain", listed]) == 0


def test_the_list_can_be_of_one_family(capsys):
    status = main(["kb", "list", "--family", "slow", "--lang", "en"])

    rows = capsys.readouterr().out.splitlines()[:-1]
    assert status == 0
    assert all(" slow " in row for row in rows)


def test_an_unknown_family_is_refused(capsys):
    assert main(["kb", "list", "--family", "bogus"]) == 2
    assert "the families are oom, host_oom" in capsys.readouterr().err


NEW = [
    ("cause", "hang/some-new-thing", "causes/hang/some-new-thing", Cause),
    ("symptom", "hang/some-new-thing", "symptoms/hang/some-new-thing", Symptom),
    ("symptom", "frame/some-new-thing", "symptoms/frame/some-new-thing", Symptom),
    ("symptom", "phase/some-new-thing", "symptoms/phase/some-new-thing", Symptom),
    ("symptom", "observation/some-new-thing", "symptoms/observation/some-new-thing", Symptom),
    ("guard", "ms-swift/some-new-thing", "guards/ms-swift/some-new-thing", Guard),
    ("rule", "derive/some-new-thing", "derive/some-new-thing", Rule),
    ("package", "some-new-thing", "packages/some-new-thing", PackageEntry),
    ("parameter", "train.some_new", "params/train.some_new", Param),
    ("fact", "job.some_new", "facts/job.some_new", FactEntry),
    ("protocol", "some-new-thing", "protocols/some-new-thing", Protocol),
]


@pytest.fixture
def here(tmp_path, monkeypatch):
    for name in ("kb", "rules"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("kind", "name", "path", "record"), NEW)
def test_a_new_entry_loads(kind, name, path, record, here, capsys):
    status = main(["kb", "new", kind, name])

    entry = here / ("rules" if kind == "rule" else "kb") / f"{path}.yaml"
    assert status == 0
    assert msgspec.convert(read_yaml(entry), record).schema == 1
    assert f"wrote {entry.relative_to(here)}" in capsys.readouterr().out


@pytest.mark.parametrize(("kind", "name"), [row[:2] for row in NEW])
def test_of_a_new_entry_exactly_what_is_to_be_filled_in_is_left(kind, name, here):
    main(["kb", "new", kind, name])

    # a new entry bears the date of the day it is made
    found = findings(here, today=dt.datetime.now(tz=dt.timezone.utc).date().isoformat())

    marked = {
        (file.relative_to(here).as_posix(), number)
        for file in here.rglob("*.yaml")
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
        if "FILL_IN" in line
    }
    assert {(finding.path, finding.line) for finding in found} == marked
    assert [f for f in found if "is still to be filled in" not in f.message] == []


def test_a_new_symptom_names_every_role(here):
    main(["kb", "new", "symptom", "hang/some-new-thing"])

    text = (here / "kb/symptoms/hang/some-new-thing.yaml").read_text(encoding="utf-8")
    assert all(f"# {role}: " in text for role in get_args(Role))


def test_the_family_may_be_an_option(here):
    status = main(["kb", "new", "cause", "some-new-thing", "--family", "oom"])

    assert status == 0
    assert (here / "kb/causes/oom/some-new-thing.test.yaml").is_file()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["cause", "some-thing"], "names no family; write it before the id"),
        (["cause", "bogus/some-thing"], "the families are oom, host_oom"),
        (["cause", "oom/some-thing", "--family", "hang"], "--family says 'hang'"),
        (["cause", "../up"], "there is no family '..'"),
        (["rule", "explains/some-thing"], "the stages are derive, suggest, explain"),
        (["guard", "some-thing"], "names no package"),
        (["package", "oom/some-thing"], "a package has no family"),
        (["fact", "some-thing"], "lower-case words joined by dots, like failure.phase"),
    ],
)
def test_a_place_that_is_missing_or_wrong_is_refused(words, said, here, capsys):
    status = main(["kb", "new", *words])

    assert status == 2
    assert said in capsys.readouterr().err
    assert list(here.rglob("*.yaml")) == []


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


@pytest.mark.parametrize("ident", ["Bad", "a b", "..", "a--b", "-a", "x" * 200, ""])
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


def test_check_refuses_a_folder_that_is_missing(tmp_path, capsys):
    status = main(["kb", "check", "--kb", str(tmp_path / "gone")])

    assert status == 2
    assert "is not a folder" in "".join(capsys.readouterr())


def test_check_of_one_entry_says_nothing_of_others(tmp_path, capsys):
    folder = tmp_path / "symptoms/hang"
    folder.mkdir(parents=True)
    for name in ("one-thing", "other-thing"):
        (folder / f"{name}.yaml").write_text("schema:   1\n", encoding="utf-8")

    status = main(["kb", "check", "one-thing", "no-such-entry", "--kb", str(tmp_path)])

    first, *lines, last = capsys.readouterr().out.splitlines()
    assert status == 1
    assert first.startswith("no file no-such-entry.yaml in ")
    # an installed copy also says that it has no cases to look at
    problems = [line for line in lines if ".yaml:" in line]
    assert problems
    assert all("one-thing.yaml:" in line for line in problems)
    assert any("is not in its one form: diagnose kb format " in line for line in problems)
    assert f": {len(problems)} problems, 0 warnings" in last
