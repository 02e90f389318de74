"""What is wrong with an entry, and where."""

from __future__ import annotations

from typing import Literal, NamedTuple

Level = Literal["error", "warning"]


class Problem(NamedTuple):
    """One thing that is wrong at a key path of an entry; a warning does not fail the check."""

    key: str
    message: str
    level: Level = "error"


class EntryProblem(NamedTuple):
    """A problem with the file and line it stands on."""

    path: str
    line: int
    ident: str
    key: str
    message: str
    level: Level = "error"

    def __str__(self) -> str:
        """Write it as editors and CI read it: `path:line: id: key: message`."""
        place = f"{self.path}:{self.line}: "
        mark = "warning: " if self.level == "warning" else ""
        key = f"{self.key}: " if self.key else ""
        return f"{place}{mark}{self.ident}: {key}{self.message}"


def error(key: str, message: str) -> Problem:
    """Make a problem that fails the check."""
    return Problem(key, message)


def warning(key: str, message: str) -> Problem:
    """Make a problem that is only said."""
    return Problem(key, message, "warning")
