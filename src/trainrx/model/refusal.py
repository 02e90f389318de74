"""What is known of an argument that a program does not take."""

from __future__ import annotations

from typing import Literal

import msgspec

from trainrx.model.job import RawArg

FateKind = Literal["renamed", "removed", "coming", "elsewhere", "variable", "misspelt", "unknown"]
"""renamed: it has another name there; removed: only older releases take it; coming: only newer
ones do; elsewhere: only other commands do; variable: it is set in the environment; misspelt: a name
stands next to it; unknown: no release of the package lists it."""


class Fate(msgspec.Struct, frozen=True, kw_only=True):
    """Why a command does not take a name, over the releases it was asked for.

    `now` are the names that stand for it, each with the releases that have it ("" all of those
    asked for), the one most of them have first. `near` is the name next to a misspelt one, `maybe`
    one that is alike. `lives` are the releases in which the command takes it, `install` those to
    install for it, as ranges. `commands` are the other commands that take it, `variable` the
    variable of the environment that is read instead. `asked` is the range it was asked for.
    """

    name: str
    package: str
    command: str
    kind: FateKind
    now: tuple[tuple[str, str], ...] = ()
    near: str = ""
    maybe: str = ""
    lives: str = ""
    install: str = ""
    upgrade: bool = False
    commands: tuple[str, ...] = ()
    variable: str = ""
    asked: str = ""


class RefusedArgument(msgspec.Struct, frozen=True, kw_only=True):
    """An argument that a program refused, or will: by its log, or by the catalog of its releases.

    `choices`: the name is right, its value is none of these; `instead`: the value that means the
    same in these releases, of the parameter `canonical`. `set_here`: it stands in the launch at
    hand, at the origin of `arg`. `dashed`: how its program wants it written. `fate` is None where
    no catalog tells. `call`: the function of a library that was called with it.
    `bare`: this release takes its value alone, without the name.
    """

    arg: RawArg
    witness: Literal["log", "launch"]
    fate: Fate | None = None
    choices: tuple[str, ...] = ()
    instead: str = ""
    canonical: str = ""
    set_here: bool = False
    dashed: bool = True
    call: str = ""
    bare: bool = False
