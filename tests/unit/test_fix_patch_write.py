"""Files are written all or none, their old text kept."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from trainrx.fix.patch import WriteRefusedError, write_files
from trainrx.model.planning import FilePatch, Patched


def edits(*files: tuple[str, str | None, str]) -> Patched:
    return Patched(files=tuple(FilePatch(name=n, before=b, after=a) for n, b, a in files))


def listing(folder: Path) -> dict[str, str]:
    return {p.name: p.read_bytes().decode() for p in folder.iterdir()}


def test_file_is_written_with_its_mode_and_the_old_text_kept(tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_bytes(b"a\r\n")
    script.chmod(0o750)

    written = write_files(edits(("run.sh", "a\r\n", "b\r\n")), tmp_path)

    assert listing(tmp_path) == {"run.sh": "b\r\n", "run.sh.bak": "a\r\n"}
    assert script.stat().st_mode & 0o777 == 0o750
    assert (written[0].file, written[0].backup) == (script, tmp_path / "run.sh.bak")


def test_backups_are_numbered(tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text("a")
    (tmp_path / "run.sh.bak").write_text("older")

    write_files(edits(("run.sh", "a", "b")), tmp_path)
    write_files(edits(("run.sh", "b", "c")), tmp_path)

    assert listing(tmp_path) == {
        "run.sh": "c",
        "run.sh.bak": "older",
        "run.sh.bak.1": "a",
        "run.sh.bak.2": "b",
    }


def test_changed_file_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("k: 1")
    (tmp_path / "run.sh").write_text("changed meanwhile")
    before = listing(tmp_path)

    with pytest.raises(WriteRefusedError, match=r"run\.sh: was changed after it was read"):
        write_files(edits(("x.yaml", "k: 1", "k: 2"), ("run.sh", "a", "b")), tmp_path)

    assert listing(tmp_path) == before


def test_new_file_that_exists_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ds.json").write_text("mine")

    with pytest.raises(WriteRefusedError, match="exists already"):
        write_files(edits(("ds.json", None, "{}")), tmp_path)

    assert listing(tmp_path) == {"ds.json": "mine"}


def test_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WriteRefusedError, match="cannot be read"):
        write_files(edits(("run.sh", "a", "b")), tmp_path)

    assert not listing(tmp_path)


def test_new_file_is_written_without_a_backup(tmp_path: Path) -> None:
    written = write_files(edits(("ds.json", None, "{}")), tmp_path)

    assert listing(tmp_path) == {"ds.json": "{}"}
    assert written[0].backup is None


def test_link_stays_and_its_file_is_written(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (real / "run.sh").write_text("a")
    (tmp_path / "run.sh").symlink_to(real / "run.sh")

    write_files(edits(("run.sh", "a", "b")), tmp_path)

    assert (tmp_path / "run.sh").is_symlink()
    assert listing(real) == {"run.sh": "b", "run.sh.bak": "a"}


def test_two_names_of_one_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text("a")
    (tmp_path / "link.sh").symlink_to(tmp_path / "run.sh")

    with pytest.raises(WriteRefusedError, match="same file"):
        write_files(edits(("run.sh", "a", "b"), ("link.sh", "a", "c")), tmp_path)

    assert (tmp_path / "run.sh").read_text() == "a"


@pytest.mark.skipif(os.name != "posix", reason="folders without write permission")
def test_file_that_cannot_be_written_leaves_the_others_as_they_were(tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text("a")

    # a folder that is not there cannot take a new file
    with pytest.raises(WriteRefusedError, match="cannot be written"):
        write_files(edits(("run.sh", "a", "b"), ("none/ds.json", None, "{}")), tmp_path)

    assert listing(tmp_path) == {"run.sh": "a"}


def test_failure_while_replacing_puts_back_what_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one.sh", "two.sh"):
        (tmp_path / name).write_text("a")
    replace = Path.replace

    def failing(self: Path, target: Path) -> Path:
        if Path(target).name == "two.sh" and not self.name.endswith(".bak"):
            raise OSError(28, "No space left on device", str(target))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(WriteRefusedError, match="No space left"):
        write_files(edits(("one.sh", "a", "b"), ("two.sh", "a", "b")), tmp_path)

    found = listing(tmp_path)
    assert (found["one.sh"], found["two.sh"]) == ("a", "a")
    assert not [name for name in found if not name.endswith((".sh", ".bak"))]
