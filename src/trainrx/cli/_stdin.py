"""Read standard input when `-` asks for it."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from trainrx.cli._output import complain
from trainrx.model.errors import UsageError

MAX_BYTES = 512 * 1024 * 1024


def read_stdin(files: Iterable[Path]) -> bytes | None:
    """Give what stands on standard input when one of the files is `-`, else None.

    Raises:
        UsageError: `-` stands twice, nothing is connected, or it holds more than 512 MiB.
    """
    asked = sum(str(file) == "-" for file in files)
    if not asked:
        return None
    if asked > 1:
        raise UsageError("`-` stands twice, but standard input can be read only once")
    if sys.stdin is None:
        raise UsageError("`-` asks for standard input, but it is closed")
    if sys.stdin.isatty():
        complain("reading from the terminal: paste, then press Enter and Ctrl-D")
    data = sys.stdin.buffer.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise UsageError(
            "standard input holds more than 512 MiB; write it to a file and give its name, "
            "files are read in pieces"
        )
    return data
