"""The made engine is loaded again where it is whole and one's own, and made again where not."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from trainrx.evidence.engine import engine_gate, first_places, keep, kept, kept_gate
from trainrx.evidence.matcher import Compiled

PATTERNS = [Compiled(n, n, f"needle {n} ", rf"needle {n} (?P<what>\w+)") for n in range(300)]
TEXT = b"needle 7 is here\nneedle 299 too\nneedle 300 is none\n"
FOUND = {7: [9], 299: [28]}


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "trainrx" / "engines"


def only(folder: Path) -> Path:
    (place,) = folder.glob("*.hsdb")
    return place


def test_an_engine_is_made_once_and_then_loaded(engines: Path) -> None:
    assert kept_gate(PATTERNS) is None

    made = engine_gate(PATTERNS)
    loaded = kept_gate(PATTERNS)

    assert made is not None
    assert loaded is not None
    assert made(TEXT) == loaded(TEXT) == FOUND
    assert stat.S_IMODE(only(engines).stat().st_mode) == 0o600
    assert stat.S_IMODE(engines.stat().st_mode) == 0o700


@pytest.mark.usefixtures("engines")
def test_an_engine_of_other_patterns_is_another() -> None:
    engine_gate(PATTERNS)

    assert kept_gate(PATTERNS[1:]) is None
    assert kept_gate([*PATTERNS[:-1], Compiled(299, 299, "other", "other")]) is None


@pytest.mark.usefixtures("engines")
def test_patterns_that_differ_by_their_needle_are_all_named_where_their_regex_stands() -> None:
    alike = [
        Compiled(n, 0, needle, r"(?:to|must) set \w") for n, needle in enumerate(("to", "must"))
    ]

    made = engine_gate(alike)

    assert made is not None
    found = made(b"you must set x\n")
    assert found.keys() == {0, 1}
    assert found[0] == found[1]


def damaged(place: Path) -> None:
    data = bytearray(place.read_bytes())
    data[len(data) // 2] ^= 1
    place.write_bytes(data)


def cut_off(place: Path) -> None:
    place.write_bytes(place.read_bytes()[:-100])


def open_to_others(place: Path) -> None:
    place.chmod(0o620)


def in_an_open_folder(place: Path) -> None:
    place.parent.chmod(0o777)


def elsewhere(place: Path) -> None:
    place.rename(place.parent.parent / place.name)
    place.symlink_to(place.parent.parent / place.name)


@pytest.mark.parametrize("spoil", [damaged, cut_off, open_to_others, in_an_open_folder, elsewhere])
def test_what_others_may_have_written_is_not_loaded_but_made_again(engines: Path, spoil) -> None:
    engine_gate(PATTERNS)
    spoil(only(engines))

    assert kept_gate(PATTERNS) is None
    again = engine_gate(PATTERNS)

    assert again is not None
    assert again(TEXT) == FOUND


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another")
def test_an_engine_of_another_user_is_not_loaded(engines: Path) -> None:
    engine_gate(PATTERNS)
    os.chown(only(engines), 12345, -1)

    assert kept_gate(PATTERNS) is None


def test_only_the_newest_are_kept(tmp_path: Path) -> None:
    folder = tmp_path / "engines"
    for number in range(12):
        keep(folder / f"{number:02}.hsdb", b"engine %d" % number)
        os.utime(folder / f"{number:02}.hsdb", (number, number))

    assert sorted(path.name for path in folder.iterdir()) == [f"{n:02}.hsdb" for n in range(4, 12)]
    assert kept(folder / "11.hsdb") == b"engine 11"
    assert kept(folder / "01.hsdb") is None


def test_a_home_that_cannot_be_written_to_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    keep(tmp_path / "file" / "engines" / "a.hsdb", b"engine")

    assert kept(tmp_path / "file" / "engines" / "a.hsdb") is None


@pytest.mark.parametrize("installed", [True, False])
def test_texts_are_found_where_they_stand_first(
    monkeypatch: pytest.MonkeyPatch, *, installed: bool
) -> None:
    if not installed:
        monkeypatch.setitem(sys.modules, "hyperscan", None)
    first_places.cache_clear()

    search = first_places((b"aa", b"(x", b"none", b"b\xff"))
    found = search(b"xaaaa (x (x b\xff")
    first_places.cache_clear()

    assert found == {0: 1, 1: 6, 3: 12}
