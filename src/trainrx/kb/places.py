"""Where `kb/` and `rules/` lie, and their compiled forms."""

from __future__ import annotations

from pathlib import Path

COMPILED = "knowledge.msgpack"
LINT_COMPILED = "lint.msgpack"


def checkout() -> Path | None:
    """Give the root of the source checkout this module runs from, or None when installed.

    It comes first: an editable install may leave a stale copy of the data in site-packages.
    """
    root = Path(__file__).resolve().parents[3]
    found = (root / "pyproject.toml").is_file() and (root / "kb").is_dir()
    return root if found else None


def shipped() -> tuple[Path, Path]:
    """Give the folders of the shipped knowledge and rules."""
    root = checkout()
    if root is None:
        root = Path(__file__).resolve().parents[1] / "_data"
    return root / "kb", root / "rules"
