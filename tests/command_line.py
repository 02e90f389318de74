"""The command line in this process: what it costs to start another is paid where that is tested."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from trainrx.cli import main


class Done(NamedTuple):
    """How a command ended and what it wrote."""

    status: int
    out: str
    err: str


def run(argv: Sequence[str], folder: Path, stdin: bytes = b"", **env: str) -> Done:
    """Run a command in a folder, with pipes for its three streams."""
    given, out, err = (
        io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", write_through=True)
        for data in (stdin, b"", b"")
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, value in env.items():
            patch.setenv(name, value)
        for name, stream in (("stdin", given), ("stdout", out), ("stderr", err)):
            patch.setattr(f"sys.{name}", stream)
        status = main(argv)
    return Done(status, *(stream.buffer.getvalue().decode() for stream in (out, err)))
