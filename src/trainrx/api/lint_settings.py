"""Find what a project writes down for lint, and the findings it has put up with."""

from __future__ import annotations

import sys
from pathlib import Path

from trainrx.linter.settings import Settings, settings_from
from trainrx.model.errors import UsageError

OWN, SHARED = "trainrx.toml", "pyproject.toml"
_MOST_FOLDERS = 40


def find_settings(start: Path) -> tuple[Settings, Path | None]:
    """Read the settings file of the nearest folder above that has one, `trainrx.toml` first.

    Raises:
        UsageError: it is no TOML, or holds what no setting is called.
    """
    here = start.absolute()
    for folder in [here, *here.parents][:_MOST_FOLDERS]:
        own = folder / OWN
        if own.is_file():
            return read_settings(own), own
        shared = folder / SHARED
        if shared.is_file() and "tool.trainrx" in _text(shared):
            return read_settings(shared), shared
    return Settings(), None


def read_settings(path: Path) -> Settings:
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
    if path.name == SHARED:
        table = table.get("tool", {}).get("trainrx", {})
    return settings_from(table, str(path))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from error
