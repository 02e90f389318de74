"""Which framework a command starts."""

from __future__ import annotations

from functools import lru_cache

from trainrx.frameworks import frameworks
from trainrx.frameworks.base import Framework
from trainrx.frameworks.common.script import SCRIPT
from trainrx.launchers.entries import EntryPoint, RecognisedLaunch


def recognise(entry: EntryPoint) -> RecognisedLaunch | None:
    """Name the framework of a launch, "" for a training program of no known one.

    Returns:
        None when the command does not look like a training program at all.
    """
    command = entry.via == "" and not entry.name.endswith(".py")
    for one in by_precedence():
        found = one.by_program(entry) if command else one.recognise(entry)
        if found is not None:
            return found
    return None if command else SCRIPT.by_path(entry)


@lru_cache(maxsize=1)
def by_precedence() -> tuple[Framework, ...]:
    """Give all frameworks, those first that are right where several know a thing."""
    return tuple(sorted(frameworks(), key=lambda one: (one.precedence, not one.fork_of, one.name)))
