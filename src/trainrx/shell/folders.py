"""Where a script goes: `cd`, `pushd`, `popd`, and the folder its commands are started in.

The folder is kept among the variables: so a subshell, a substitution and a branch that may not be
taken treat it as they do what the script sets.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from trainrx.model.job import Workdir
from trainrx.shell.state import FOLDER, State
from trainrx.shell.values import Field, Variable, known

if TYPE_CHECKING:
    from trainrx.shell.context import Context

_BEFORE, _STACK = f"{FOLDER}-", f"{FOLDER}+"
_HERE = "$(pwd)"
_SUBMITTED = frozenset({"SLURM_SUBMIT_DIR", "PBS_O_WORKDIR", "LS_SUBCWD", "SGE_O_WORKDIR"})
"""Variables of schedulers that name the folder a script was submitted from.

https://slurm.schedmd.com/sbatch.html (SLURM_SUBMIT_DIR)
"""


def folder(state: State) -> str:
    """Give the folder the script is in: what `pwd` prints."""
    variable = state.variables.get(FOLDER)
    return _start(state) if variable is None or variable.gone else variable.text


def _start(state: State) -> str:
    return state.unknowns.mark("command", _HERE, _HERE)


def change(context: Context, fields: list[Field]) -> None:
    """Run `cd`, `pushd` or `popd`; each is recorded like a program as well."""
    state = context.state
    words = [field.text for field in fields[1:] if field.text == "-" or field.text[:1] != "-"]
    was, line = folder(state), fields[0].line
    stack = state.variables.get(_STACK)
    held = () if stack is None else stack.values
    name = fields[0].text
    if name == "popd":
        target = held[-1].text if held else state.unknowns.mark("value", "popd", "$OLDPWD")
        held = held[:-1]
    elif words[:1] == ["-"]:
        before = state.variables.get(_BEFORE)
        target = state.unknowns.variable("OLDPWD") if before is None else before.text
    elif words:
        target = _joined(was, words[0], state)
    else:
        target = state.unknowns.variable("HOME")
    if name == "pushd":
        held = (*held, Field(was, line))
    state.variables[_STACK] = Variable(held, 0, array=True)
    state.set_text(_BEFORE, was, 0)
    state.set_text(FOLDER, target, 0)


def enter(state: State, target: str) -> None:
    """Go to a folder a program is told to start in."""
    state.set_text(FOLDER, _joined(folder(state), target, state), 0)


def leave(state: State) -> None:
    """Go where nobody knows: to the home of another machine."""
    state.set_text(FOLDER, state.unknowns.variable("HOME"), 0)


def _joined(was: str, target: str, state: State) -> str:
    """Give the folder a path names; one that begins with a value of its own begins there."""
    if target.startswith("~"):
        return state.unknowns.variable("HOME") + target[1:]
    if target.startswith("/") or not known(target[:1]):
        front, rest = _parted(target)
    else:
        front, rest = _parted(was)
        rest = f"{rest}/{target}"
    if not front:
        return posixpath.normpath(rest)
    below = posixpath.normpath(rest.lstrip("/") or ".")
    return front if below == "." else f"{front}/{below}"


def _parted(path: str) -> tuple[str, str]:
    """Take the unknown value a path begins with off it."""
    if known(path[:1]):
        return "", path
    value, sign, rest = path.partition("\ue001")
    return (value + sign, rest) if rest[:1] in ("", "/") else (path, "")


def workdir(state: State) -> Workdir:
    """Say where a command is started."""
    variable = state.variables.get(FOLDER)
    if variable is None or variable.gone:
        return Workdir()
    text = variable.text
    if known(text):
        return Workdir(text)
    front, rest = _parted(text)
    root = state.unknowns.only(front)
    path = rest.lstrip("/")
    shown = "" if root is None else root.shown
    if root is not None and known(rest):
        if root.name == "PWD" or shown == _HERE or root.name in _SUBMITTED:
            return Workdir(path)
        if root.name == "0" and shown != "$0":
            return Workdir(path, "script")
    return Workdir(state.unknowns.show(text).replace("$~", "$PWD"), "unknown")


def from_start(context: Context, name: str) -> str:
    """Give a relative path of the folder the script is in as one of where it was started."""
    here = workdir(context.state)
    if not here.is_elsewhere or here.since == "unknown" or name.startswith(("/", "~")):
        return name
    return here.into(name).path
