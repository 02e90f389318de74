"""Where `kb/` and `rules/` lie, and their compiled forms."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

COMPILED = "knowledge.msgpack"
LINT_COMPILED = "lint.msgpack"


@cache
def checkout_root() -> str | None:
    """Give the root of the source checkout this module runs from, or None when installed.

    It comes first: an editable install may leave a stale copy of the data in site-packages.
    """
    root = _above(4)
    found = os.path.isfile(f"{root}/pyproject.toml") and os.path.isdir(f"{root}/kb")
    return root if found else None


@cache
def shipped_root() -> str:
    """Give the folder that holds `kb`, `rules` and `data`, and what is compiled of them."""
    root = checkout_root()
    return f"{_above(2)}/_data" if root is None else root


def data_folder(name: str) -> str:
    """Give the folder of generated data of a kind: catalogs, symbols, repairs, requires."""
    return f"{shipped_root()}/data/{name}"


def held_in(path: str) -> bytes | None:
    """Give what a file holds; None when there is none."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def checkout() -> Path | None:
    """Give the root of the source checkout this module runs from, or None when installed."""
    from pathlib import Path

    root = checkout_root()
    return None if root is None else Path(root)


def shipped() -> tuple[Path, Path]:
    """Give the folders of the shipped knowledge and rules."""
    from pathlib import Path

    root = Path(shipped_root())
    return root / "kb", root / "rules"


def _above(levels: int) -> str:
    folder = os.path.realpath(__file__)
    for _ in range(levels):
        folder = os.path.dirname(folder)
    return folder
