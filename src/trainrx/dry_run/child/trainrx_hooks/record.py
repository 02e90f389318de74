"""What the process that started the job is told: one JSON object a line."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

ROWS = int(os.environ.get("TRAINRX_DRY_RUN_ROWS", "500"))
"""Rows of each data set that are taken."""
WORLD = int(os.environ.get("TRAINRX_DRY_RUN_WORLD", "1"))
"""Processes the job has for real."""
MOST = 4 << 20
"""Bytes of one thing told."""
BUDGET = 48 << 20
"""Bytes of rows and samples together."""
NOT_ALL = "not all of the data was compared"
BULKY = frozenset({"row", "sample"})
_said: dict[str, int] = {}
_spent = [0]


def tell(kind: str, **values: Any) -> None:
    """Tell something; what cannot be written as JSON is told as text."""
    line = json.dumps(dict(values, kind=kind), default=str, ensure_ascii=False)
    data = line.encode("utf-8", "replace")
    if kind in BULKY:
        _spent[0] += len(data)
    if len(data) > MOST or (kind in BULKY and _spent[0] > BUDGET):
        once("note", NOT_ALL)
        return
    path = os.environ.get("TRAINRX_DRY_RUN")
    if path:
        with Path(path).open("ab") as file:
            file.write(data + b"\n")


def once(kind: str, what: str) -> None:
    """Tell something once."""
    if _said.setdefault(kind + what, 1) == 1:
        _said[kind + what] = 2
        tell(kind, what=what)


def leave() -> None:
    """End the process: all that was wanted is known."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
