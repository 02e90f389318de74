"""The generator of data/repairs reads what a repository changed, and since which release."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from repairs.__main__ import write
from repairs.history import Commit, first_releases, read_commits
from repairs.index import READ, changes_text, terms_of, words_text
from repairs.packages import PARTS, Part
from trainrx.knowledge.repairs import RepairTable, index_text, open_repairs

PART = Part("https://example.org/them/it", ("it/",))
BODY = "def train(batch):\n    {}\n\n\ndef save(path):\n    {}\n"
FIX = "[bugfix] fix deadlock of uneven ranks (#{})"


class Repository:
    """A repository with a package `it`; its clock stands still."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *words: str) -> str:
        who = {"NAME": "A", "EMAIL": "a@example.org", "DATE": "2026-01-02T03:04:05+0000"}
        signed = {
            f"GIT_{of}_{key}": text for of in ("AUTHOR", "COMMITTER") for key, text in who.items()
        }
        done = subprocess.run(
            ["git", "-C", str(self.folder), *words],
            env={**os.environ, **signed, "GIT_CONFIG_GLOBAL": os.devnull},
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout.strip()

    def commit(self, subject: str, files: dict[str, str], body: str = "") -> str:
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        self.git("add", "--all")
        self.git("commit", "--quiet", "-m", f"{subject}\n\n{body}")
        return self.git("rev-parse", "HEAD")

    def commits(self) -> list[Commit]:
        return list(read_commits(self.folder, PART.folders))


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    folder = tmp_path / "clone"
    folder.mkdir()
    made = Repository(folder)
    made.commit("first", {"it/run.py": BODY.format("pass", "pass")})
    return made


def subjects(commits: Sequence[Commit]) -> list[str]:
    return [commit.subject for commit in commits]


def test_the_functions_a_change_touches_are_told(repository: Repository) -> None:
    repository.commit(FIX.format(12), {"it/run.py": BODY.format("pass", "path = 1")})

    last = repository.commits()[-1]

    assert last.pull == 12
    assert last.date == "2026-01-02"
    assert last.touched == {"it/run.py": ("save",)}
    assert last.lines[:2] == ("    pass", "    path = 1")


@pytest.mark.parametrize(
    "path", ["tests/run.py", "it/tests/run.py", "it/version.py", "it/note.md", "other/run.py"]
)
def test_what_is_not_the_program_is_left_out(repository: Repository, path: str) -> None:
    repository.commit("fix it", {path: "x = 1\n"})

    assert subjects(repository.commits()) == ["first"]


@pytest.mark.parametrize(
    ("subject", "kept"),
    [
        ("[model] support Qwen9-VL", False),
        ("Add InternLM7 models", False),
        ("support Qwen9-VL and fix its packing", True),
        ("support resuming", True),
        ("Adapt to transformers 5 (compat)", True),
    ],
)
def test_a_model_that_is_only_new_is_left_out(
    repository: Repository, subject: str, kept: bool
) -> None:
    repository.commit(subject, {"it/run.py": "x = 1\n"})

    assert (subject in subjects(repository.commits())) is kept


def test_a_change_of_very_many_files_is_left_out(repository: Repository) -> None:
    repository.commit("fix the format", {f"it/m{i}.py": "x = 1\n" for i in range(41)})

    assert subjects(repository.commits()) == ["first"]


def test_of_a_merge_the_title_of_what_is_merged_counts(repository: Repository) -> None:
    repository.git("checkout", "--quiet", "-b", "patch")
    repository.commit("wip", {"it/run.py": BODY.format("return", "pass")})
    repository.git("checkout", "--quiet", "main")
    repository.git(
        "merge", "--quiet", "--no-ff", "patch",
        "-m", "Merge pull request #7 from them/patch\n\nFix the hang at the end",
    )  # fmt: skip

    commits = repository.commits()

    assert [(c.subject, c.pull) for c in commits] == [
        ("first", None),
        ("Fix the hang at the end", 7),
    ]
    assert commits[-1].touched == {"it/run.py": ("train",)}


def test_the_first_release_of_a_change_is_found(repository: Repository) -> None:
    repository.git("tag", "v1.0.0")
    old = repository.commit(FIX.format(1), {"it/run.py": "x = 1\n"})
    repository.git("tag", "v1.1.0rc1")
    repository.git("tag", "nightly")
    repository.git("tag", "v1.1.0")
    new = repository.commit("fix (#2)", {"it/run.py": "x = 2\n"})

    found = first_releases(repository.folder, "v")

    assert found[old] == found["#1"] == "1.1.0"
    assert new not in found
    assert "#2" not in found


def test_a_change_picked_onto_a_release_branch_counts_from_there(repository: Repository) -> None:
    repository.git("tag", "v1.0.0")
    repository.git("branch", "release")
    main = repository.commit(FIX.format(3), {"it/run.py": "x = 3\n"})
    repository.git("tag", "v1.1.0")
    repository.git("checkout", "--quiet", "release")
    repository.git("cherry-pick", main)
    repository.git("tag", "v1.0.1")
    repository.git("checkout", "--quiet", "main")

    releases = first_releases(repository.folder, "v")
    text = changes_text("it", PART.url, repository.commits(), releases)

    assert releases["#3"] == "1.0.1"
    assert '"pull":3,"release":"1.0.1"' in text


def test_no_sentence_is_kept(repository: Repository, tmp_path: Path) -> None:
    said = "Ranks waited for one another because the gradient buckets were uneven"
    repository.commit(FIX.format(4), {"it/run.py": BODY.format("wait()", "pass")}, body=said)
    write("it", PART, repository.folder, tmp_path)

    kept = (tmp_path / "it.jsonl").read_text() + (tmp_path / "it.words").read_text()

    assert "bucket gradient" in kept
    assert "gradient bucket" not in kept
    assert "wait()" not in kept


def test_what_is_written_can_be_read(repository: Repository, tmp_path: Path) -> None:
    repository.commit(FIX.format(5), {"it/run.py": BODY.format("a_long_name = 1", "pass")})
    write("it", PART, repository.folder, tmp_path)

    table = open_repairs("it", tmp_path)

    assert table is not None
    assert (table.head.count, table.head.releases) == (2, True)
    assert table.repair(1).pull == 5
    assert table.repair(1).names == ("train",)
    assert [place for place, _ in table.find("#a_long_name")] == [1]
    assert table.find("deadlock")[0][1] > table.find("rank")[0][1] / 2 > 0
    assert table.find("never") == ()


def test_a_title_outweighs_the_text_below_it() -> None:
    commit = Commit("0" * 40, "2026-01-02", None, "fix deadlock", "of gradients " * READ, {}, ())

    held = terms_of(commit)

    assert held["deadlock"] > held["gradient"]


def test_the_same_history_gives_the_same_text(repository: Repository) -> None:
    once, again = (words_text(repository.commits()) for _ in range(2))
    index = index_text(once).splitlines()

    assert once == again
    assert index == sorted(index, key=lambda line: line.partition("\t")[0])


def test_every_package_has_folders_and_an_address() -> None:
    assert all(part.url.startswith("https://") and part.folders for part in PARTS.values())


def test_a_table_that_is_cut_short_is_refused(repository: Repository) -> None:
    text = changes_text("it", PART.url, repository.commits(), None)

    with pytest.raises(Exception, match="1 changes are announced, 0 follow"):
        RepairTable("it.jsonl", text.splitlines()[0].encode(), b"")
    assert msgspec.json.decode(text.splitlines()[0])["releases"] is False
