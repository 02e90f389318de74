"""What stands in front of a training program: wrappers (nohup, srun) and launchers (torchrun)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import cast

import msgspec

from trainrx.launchers.front import ASSIGN, Cite, Front, LauncherOption, read_options
from trainrx.launchers.tables import (
    ALIASES,
    FOLDERS,
    LAUNCHER_MODULES,
    MODULE_WRAPPERS,
    SUB_COMMANDS,
    WITH_OPERAND,
    WRAPPERS,
)
from trainrx.model.job import RawArg, ShellCommand, Word
from trainrx.model.pattern import late, needled

_PYTHON = needled(r"(?:python|pypy)[\d.]*", "python", "pypy")
_MAX_WRAPPERS = 16
_MAX_LAUNCHERS = 6
_LAUNCHERS = late(
    r"(?:python|pypy)[\d.]*|torchrun|dlrover-run|accelerate(?:-launch)?|deepspeed|ray"
)
_ENTER = {
    "docker": "container.enter_docker",
    "docker-compose": "container.enter_compose",
    "kubectl": "container.enter_kubectl",
    "singularity": "container.enter_apptainer",
    "srun": "cluster.enter_srun",
    "sbatch": "cluster.enter_sbatch",
    "mpirun": "cluster.enter_mpirun",
    "ray": "cluster.enter_ray",
    "torchx": "submit.enter_torchx",
    "enroot": "submit.enter_enroot",
}
"""Modules that most scripts have no need of, and what they have for a launcher."""

_SPREAD = frozenset({"srun", "mpirun", "ray", "torchx", "xargs", "kubectl", "docker-compose"})
"""Wrappers that may start a program several times."""

__all__ = ["Cite", "EntryPoint", "RecognisedLaunch", "basename", "entries", "stripped"]


class EntryPoint(msgspec.Struct, frozen=True):
    """The program proper: a command, a script or (`module`) a dotted module, and its arguments.

    `via`: the launcher it was started by, "python" or "". `front`: what all in front was told.
    """

    path: Word
    module: bool
    args: tuple[Word, ...]
    via: str
    front: Front

    @property
    def name(self) -> str:
        """Give the last part of the path."""
        return self.path.text.rpartition("/")[2]

    @property
    def alone(self) -> bool:
        """Tell whether Python itself starts it, once."""
        return self.via == "python" and not self.front.spread

    @property
    def launcher(self) -> tuple[RawArg, ...]:
        """Give what launchers were told."""
        return tuple(self.front.launcher)


class RecognisedLaunch(msgspec.Struct, frozen=True):
    """A recognised launch."""

    framework: str
    command: str
    args: tuple[Word, ...]


def basename(word: Word) -> str:
    """Give the name of the program a word names."""
    return word.text.rpartition("/")[2]


def entries(
    command: ShellCommand,
    cite: Cite,
    allocation: tuple[RawArg, ...] = (),
    programs: frozenset[str] = frozenset(),
) -> Iterator[EntryPoint]:
    """Take wrappers and launchers off a command; nothing when no program is left.

    Args:
        command: the words.
        cite: gives their origins.
        allocation: what the script's `#SBATCH` lines ask for.
        programs: names of programs of frameworks.
    """
    front = Front(cite, allocation, programs)
    words = stripped(command.words, front)
    found = _program(words, front)
    if found is not None:
        yield found


def stripped(words: tuple[Word, ...], front: Front) -> tuple[Word, ...]:
    """Take all wrappers off, one after the other."""
    for _ in range(_MAX_WRAPPERS):
        if not words:
            break
        name = basename(words[0])
        name = ALIASES.get(name, name)
        enter = _ENTER.get(name)
        front.spread = front.spread or name in _SPREAD
        if enter is not None:
            rest = _enter(enter)(words[1:], front)
        elif name in WRAPPERS:
            rest = _unwrap(name, words[1:], front)
        else:
            break
        words = rest if not rest or _starts(rest[0], front) else _from_program(rest, front)
    return words


def _enter(place: str) -> Callable[[tuple[Word, ...], Front], tuple[Word, ...]]:
    module, _, name = place.partition(".")
    return cast(
        "Callable[[tuple[Word, ...], Front], tuple[Word, ...]]",
        getattr(import_module(f"trainrx.launchers.{module}"), name),
    )


def _starts(word: Word, front: Front) -> bool:
    name = basename(word)
    name = ALIASES.get(name, name)
    if name in front.programs or name in WRAPPERS or name in _ENTER:
        return True
    return _LAUNCHERS.fullmatch(name) is not None


def _from_program(words: tuple[Word, ...], front: Front) -> tuple[Word, ...]:
    """Go on to the first known program: what is in between belongs to a wrapper (an image)."""
    if words[0].text.endswith(".py"):
        return words
    for at, word in enumerate(words):
        if _starts(word, front):
            return words[at:]
    return words


def _unwrap(name: str, words: tuple[Word, ...], front: Front) -> tuple[Word, ...]:
    """Read the options of a wrapper; give the command behind it."""
    options, rest = read_options(words, WRAPPERS[name])
    sub_command = SUB_COMMANDS.get(name)
    if sub_command is not None:
        at = next((at for at, word in enumerate(rest[:2]) if word.text == sub_command), None)
        if at is None:
            return ()
        more, rest = read_options(rest[at + 1 :], WRAPPERS[name])
        options += more
    for option in options:
        if option.key in FOLDERS.get(name, ()):
            front.enter(option)
    if name in WITH_OPERAND:
        rest = rest[1:]
    if name == "env":
        rest = _env(options, rest, front)
    elif name == "sudo":
        rest = _sudo(options, rest, front)
    elif name == "uv":
        rest = _uv(options, rest)
    front.hidden_env = front.hidden_env or any(item.key == "env_file" for item in options)
    return rest


def _env(options: list[LauncherOption], rest: tuple[Word, ...], front: Front) -> tuple[Word, ...]:
    for option in options:
        if option.name in ("-i", "-", "--ignore-environment"):
            front.clear()
        elif option.key in ("u", "unset") and option.value:
            front.removed.add(option.value)
            front.env = [item for item in front.env if item.name != option.value]
        elif option.key in ("S", "split_string") and option.value:
            split = option.value.split()
            words = (msgspec.structs.replace(option.value_word, text=text) for text in split)
            rest = (*words, *rest)
    return _assignments(rest[1:] if rest and rest[0].text == "-" else rest, front)


def _sudo(options: list[LauncherOption], rest: tuple[Word, ...], front: Front) -> tuple[Word, ...]:
    """Sudo gives a program a fresh environment unless it is configured or told otherwise."""
    kept = [item for item in options if item.name in ("-E", "--preserve-env")]
    if any(item.value is None for item in kept):
        return _assignments(rest, front)
    front.unsure = True
    for item in kept:
        front.passed.update((item.value or "").split(","))
    return _assignments(rest, front)


def _assignments(words: tuple[Word, ...], front: Front) -> tuple[Word, ...]:
    at = 0
    while at < len(words) and ASSIGN.fullmatch(words[at].text):
        front.set(words[at].text, words[at])
        at += 1
    return words[at:]


def _uv(options: list[LauncherOption], rest: tuple[Word, ...]) -> tuple[Word, ...]:
    """`uv run` starts a script, or a module given with -m, with python."""
    module = next((item for item in options if item.name in ("-m", "--module")), None)
    if module is not None:
        return (_as(module.word, "python"), _as(module.word, "-m"), *rest)
    if rest and rest[0].text.endswith(".py"):
        return (_as(rest[0], "python"), *rest)
    return rest


def _as(word: Word, text: str) -> Word:
    return msgspec.structs.replace(word, text=text, unknown=(), alternatives=())


def _program(words: tuple[Word, ...], front: Front) -> EntryPoint | None:
    """Take launchers off until a program is left."""
    via = ""
    for _ in range(_MAX_LAUNCHERS):
        words = stripped(words, front)
        if not words:
            return None
        name = basename(words[0])
        kind, rest = _launcher(name, words[1:])
        module = False
        if _PYTHON.fullmatch(name):
            found = _python(rest)
            if found is None:
                return None
            path, module, args = found
            inner = _inside(path, args) if module else None
            if inner is not None:
                words = (words[0], *inner)
                continue
            kind, args = _launcher_module(path, args) if module else ("", args)
            if not kind:
                return EntryPoint(path, module, args, via or "python", front)
            rest = args
        if kind is None:
            return None
        if not kind:
            return EntryPoint(words[0], False, rest, via, front)
        from trainrx.launchers.torch import start

        started = start(kind, rest, front)
        if started is None:
            return None
        via = kind
        if started.module or not _PYTHON.fullmatch(basename(started.path)):
            return EntryPoint(started.path, started.module, started.args, via, front)
        words = (started.path, *started.args)
    return None


def _launcher(name: str, rest: tuple[Word, ...]) -> tuple[str | None, tuple[Word, ...]]:
    """Name the launcher a program is, "" for none, None for one that starts nothing here."""
    if name in ("torchrun", "deepspeed"):
        return name, rest
    if name == "dlrover-run":
        return "torchrun", rest
    if name == "accelerate-launch":
        return "accelerate", rest
    if name == "accelerate":
        return ("accelerate", rest[1:]) if rest and rest[0].text == "launch" else (None, rest)
    return "", rest


def _launcher_module(path: Word, args: tuple[Word, ...]) -> tuple[str, tuple[Word, ...]]:
    if path.text == "accelerate.commands.accelerate_cli" and args and args[0].text == "launch":
        return "accelerate", args[1:]
    return LAUNCHER_MODULES.get(path.text, ""), args


def _inside(path: Word, args: tuple[Word, ...]) -> tuple[Word, ...] | None:
    """Give what a module like cProfile or debugpy runs, as words for python."""
    valued = MODULE_WRAPPERS.get(path.text)
    if valued is None:
        return None
    options, rest = read_options(args, valued)
    if rest and rest[0].text == "run":
        _, rest = read_options(rest[1:], valued)
    module = next((item for item in options if item.name in ("-m", "--module")), None)
    return rest if module is None else (_as(module.word, "-m"), *rest)


def _python(words: tuple[Word, ...]) -> tuple[Word, bool, tuple[Word, ...]] | None:
    """Read the options of the interpreter; None when it runs no file or module."""
    at = 0
    while at < len(words) and words[at].text.startswith("-"):
        word = words[at]
        text = word.text
        if re.fullmatch(r"-[bBdEiIOqsSuvx]*m", text):
            return (words[at + 1], True, words[at + 2 :]) if at + 1 < len(words) else None
        if text.startswith("-m"):
            return _as(word, text[2:]), True, words[at + 1 :]
        if text.startswith("-c") or text == "-":
            return None
        at += 2 if text in ("-W", "-X") else 1
    return (words[at], False, words[at + 1 :]) if at < len(words) else None
