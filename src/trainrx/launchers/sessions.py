"""Containers that are started first and worked in later: `docker run -it IMAGE bash`.

What stands behind such a command is typed inside of it, in a post as in a script of notes.
https://docs.docker.com/reference/cli/docker/container/exec/
"""

from __future__ import annotations

import msgspec

from trainrx.launchers.entries import basename, stripped
from trainrx.launchers.front import Cite, Front
from trainrx.launchers.tables import ALIASES
from trainrx.model.job import EnvVar, RawArg, RawLaunch, ShellCommand, Word
from trainrx.model.pattern import late

_SHELL = late(r"(?:ba|z|da)?sh")
_PROGRAMS = frozenset({"docker", "sudo"})
_NAME, _RUNNING, _IMAGE = "name", "container", "image"


class OpenContainer(msgspec.Struct, frozen=True):
    """What a container was started with."""

    container: tuple[RawArg, ...]
    env: tuple[EnvVar, ...]


class Sessions:
    """The containers a script has started so far, by name, and the one whose shell is open."""

    def __init__(self, cite: Cite) -> None:
        self._cite = cite
        self._named: dict[str, OpenContainer] = {}
        self._open: OpenContainer | None = None

    def note(self, command: ShellCommand) -> None:
        """Take note of a command that starts a container, or opens a shell in one."""
        name = basename(command.words[0])
        if ALIASES.get(name, name) not in _PROGRAMS:
            return
        front = Front(self._cite)
        rest = stripped(command.words, front)
        told = {item.name: item for item in front.container}
        started = OpenContainer(tuple(front.container), tuple(front.env))
        running = self._running(told.get(_RUNNING))
        if _IMAGE in told and (own := told.get(_NAME)) is not None and own.values:
            self._named[own.values[-1]] = started
        if (_IMAGE in told or _RUNNING in told) and _opens_shell(rest):
            self._open = started if running is None else running

    def inside(self, launch: RawLaunch) -> RawLaunch:
        """Give a launch what the container was started with that it runs in."""
        told = {item.name: item for item in launch.container}
        session = self._running(told.get(_RUNNING)) if told else self._open
        if session is None:
            return launch
        own = {item.name for item in launch.env}
        return msgspec.structs.replace(
            launch,
            container=(*session.container, *launch.container),
            env=(*(item for item in session.env if item.name not in own), *launch.env),
        )

    def _running(self, named: RawArg | None) -> OpenContainer | None:
        return self._named.get(named.values[-1]) if named is not None and named.values else None


def _opens_shell(rest: tuple[Word, ...]) -> bool:
    return not rest or (len(rest) == 1 and _SHELL.fullmatch(basename(rest[0])) is not None)
