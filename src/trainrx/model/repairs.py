"""What a release of a framework changed in its own code."""

from __future__ import annotations

import msgspec


class Repair(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One change of a program.

    `pull` is the number of its pull request (None: `commit` alone tells it), `release` the first
    one that has it ("": none yet, or nobody can tell), `date` the day it was merged. `files` are
    the ones it touched, `names` the functions and classes in them.
    """

    commit: str
    date: str
    pull: int | None = None
    release: str = ""
    files: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


class Repairs(msgspec.Struct, frozen=True, kw_only=True):
    """Where the changes of one package are: the head of its file.

    `count` is how many there are, `until` the day up to which its history was read.
    """

    package: str
    url: str
    until: str
    count: int
    releases: bool
