"""The end of an input."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from trainrx.inputs.stream import tail
from trainrx.model.job import Input

LINES = b"".join(b"line %d\n" % n for n in range(5000))


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize("size", [10, 20000, 1 << 18])
def test_the_end_of_a_file_is_the_end_of_what_it_holds(
    tmp_path: Path, pack: Callable[[bytes], bytes], size: int
) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(pack(LINES))

    assert tail(Input(kind="log", name="train.log", path=path), size).data == LINES[-size:]


def test_the_end_of_a_text() -> None:
    assert tail(Input(kind="log", name="-", text="first\nlast"), 4).data == b"last"


def test_a_file_that_is_gone_has_no_end(tmp_path: Path) -> None:
    assert tail(Input(kind="log", name="x", path=tmp_path / "x")).data == b""
