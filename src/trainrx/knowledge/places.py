"""Where `kb/`, `rules/` and `data/` lie."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def checkout() -> Path | None:
    """Give the root of the source checkout this module runs from, or None when installed.

    It comes first: an editable install may leave a stale copy of the data in site-packages.
    """
    root = Path(__file__).resolve().parents[3]
    found = (root / "pyproject.toml").is_file() and (root / "kb").is_dir()
    return root if found else None


@cache
def shipped_root() -> Path:
    """Give the folder that holds `kb`, `rules` and `data`, and what is compiled of them."""
    return checkout() or Path(__file__).resolve().parents[1] / "_data"


def data_folder(name: str) -> Path:
    """Give the folder of generated data of a kind: catalogs, symbols, repairs, requires."""
    return shipped_root() / "data" / name


def held_in(path: str | Path) -> bytes | None:
    """Give what a file holds; None when there is none."""
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        return None


def shipped() -> tuple[Path, Path]:
    """Give the folders of the shipped knowledge and rules."""
    return shipped_root() / "kb", shipped_root() / "rules"
