"""Find what a project writes down for lint, and the findings it has put up with."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from trainrx.linter.settings import Settings, settings_from
from trainrx.model.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

OWN, SHARED = "trainrx.toml", "pyproject.toml"
_MOST_FOLDERS = 40


def find_settings(start: str | Path) -> tuple[Settings, Path | None]:
    """Read the settings file of the nearest folder above that has one, `trainrx.toml` first.

    Raises:
        UsageError: it is no TOML, or holds what no setting is called.
    """
    folder = os.path.abspath(start)
    for _ in range(_MOST_FOLDERS):
        own = os.path.join(folder, OWN)
        if os.path.isfile(own):
            return _found(own)
        shared = os.path.join(folder, SHARED)
        if os.path.isfile(shared) and "tool.trainrx" in _text(shared):
            return _found(shared)
        above = os.path.dirname(folder)
        if above == folder:
            break
        folder = above
    return Settings(), None


def read_settings(path: str | Path) -> Settings:
    """Read one settings file; of `pyproject.toml` the table `[tool.trainrx]`.

    Raises:
        UsageError: it cannot be read, is no TOML, or holds what no setting is called.
    """
    # only a project with settings pays for this import
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        table = tomllib.loads(_text(path))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: is no TOML: {error}") from error
    if os.path.basename(path) == SHARED:
        table = table.get("tool", {}).get("trainrx", {})
    return settings_from(table, str(path))


def _found(path: str) -> tuple[Settings, Path]:
    from pathlib import Path

    return read_settings(path), Path(path)


def _text(path: str | Path) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from error
