"""Which framework a command starts, also where the name of its program is misspelt.

A command that is copied from a page loses its first letter (`ccelerate launch`); the shell then
says `command not found`, and nothing else is wrong with the launch.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import msgspec

from trainrx.frameworks import frameworks
from trainrx.frameworks.base import Framework
from trainrx.frameworks.common.script import SCRIPT
from trainrx.launchers.entries import EntryPoint, RecognisedLaunch
from trainrx.model.job import Defect, ShellCommand

LEAST = 5
"""Letters of a name: in shorter ones one letter makes another word."""
_STARTERS = {"accelerate": frozenset({"launch"}), "torchrun": None, "deepspeed": None}
"""What may follow; None: an option or a program."""


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


class MisspeltProgram(NamedTuple):
    """A command as it was meant, and what is wrong with how it is written."""

    command: ShellCommand
    defect: Defect


@lru_cache(maxsize=1)
def _meant() -> dict[str, str]:
    """Map names with one letter lost, doubled or moved to those they are of."""
    names = {*_STARTERS, *(name for one in frameworks() for name in one.programs)}
    found: dict[str, set[str]] = {}
    for name in names:
        for other in _near(name) if len(name) >= LEAST else ():
            found.setdefault(other, set()).add(name)
    return {near: of.pop() for near, of in found.items() if len(of) == 1 and near not in names}


def _near(name: str) -> set[str]:
    at = range(len(name))
    lost = {name[:i] + name[i + 1 :] for i in at}
    doubled = {name[:i] + name[i] + name[i:] for i in at}
    moved = {name[:i] + name[i + 1] + name[i] + name[i + 2 :] for i in at[:-1]}
    return {*lost, *doubled, *moved} - {name}


def respelled(command: ShellCommand) -> MisspeltProgram | None:
    """Give a command with the name of its launcher as it was meant; None where it is right."""
    if len(command.words) < 2 or command.words[0].unknown:
        return None
    first, second = command.words[:2]
    meant = _meant().get(first.text)
    if meant is None or not _follows(meant, second.text):
        return None
    word = msgspec.structs.replace(first, text=meant)
    origin = command.origin
    defect = Defect(
        id="program-misspelt",
        source=first.source or origin.source,
        line=first.line,
        text=origin.text,
        message=f"{first.text} is no program; {meant} is meant. The shell says: command not found.",
    )
    return MisspeltProgram(
        msgspec.structs.replace(command, words=(word, *command.words[1:])), defect
    )


def _follows(name: str, second: str) -> bool:
    known = _STARTERS.get(name)
    if known is not None:
        return second in known
    if name in _STARTERS:
        return second.startswith("--") or second.endswith(".py")
    return any(name in one.programs and second in one.commands for one in frameworks())
