"""What stands in front of a training program: wrappers (nohup, srun) and launchers (torchrun)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from trainrx.model.facts import Origin
from trainrx.model.job import EnvVar, RawArg, ShellCommand, Word
from trainrx.parse.launch_tables import (
    ALIASES,
    LAUNCHER_FLAGS,
    LAUNCHER_MODULES,
    LAUNCHER_NAMES,
    MPI_OPTIONS,
    TWO_VALUES,
    WITH_OPERAND,
    WRAPPERS,
)

_PYTHON = re.compile(r"(?:python|pypy)[\d.]*")
_ASSIGN = re.compile(r"([A-Za-z_]\w*)=(.*)", re.ASCII | re.DOTALL)

_MAX_WRAPPERS = 12
PROGRAMS = re.compile(
    r"(?:python|pypy)[\d.]*|torchrun|accelerate|deepspeed|swift|megatron|llamafactory-cli|lmf|trl"
    r"|axolotl|vllm|ray|openrlhf"
)


class Cite:
    """Origins of words of one script."""

    def __init__(self, source: str, lines: list[str]) -> None:
        self._source = source
        self._lines = lines

    def __call__(self, word: Word) -> Origin:
        """Give the origin of a word."""
        inside = 0 < word.line <= len(self._lines)
        text = self._lines[word.line - 1].strip() if inside else word.text
        return Origin(source=self._source, line=word.line, text=text)


class Entry(NamedTuple):
    """The program proper: a command, a script or (`module`) a dotted module, and its arguments.

    `via`: the launcher it was started by, "python" or "".
    """

    path: Word
    module: bool
    args: tuple[Word, ...]
    launcher: tuple[RawArg, ...]
    env: tuple[EnvVar, ...]
    via: str

    @property
    def name(self) -> str:
        """Give the last part of the path."""
        return self.path.text.rpartition("/")[2]


def basename(word: Word) -> str:
    """Give the name of the program a word names."""
    return word.text.rpartition("/")[2]


class _Stripper:
    """Takes wrappers and launchers off the front, one after the other."""

    def __init__(self, command: ShellCommand, cite: Cite) -> None:
        self._cite = cite
        self.words = command.words
        self.launcher: list[RawArg] = []
        self.env: list[EnvVar] = []

    def strip(self) -> None:
        """Take all wrappers off."""
        for _ in range(_MAX_WRAPPERS):
            if not self._strip_one():
                break

    def _strip_one(self) -> bool:
        """Take one wrapper off; False when there is none."""
        if not self.words:
            return False
        first = basename(self.words[0])
        first = ALIASES.get(first, first)
        options = WRAPPERS.get(first)
        if options is None:
            return False
        rest = self._skip_options(self.words[1:], options, first)
        if first in WITH_OPERAND:
            rest = rest[1:]
        self.words = rest if not rest or _starts(rest[0]) else _from_program(rest)
        return True

    def _skip_options(
        self, words: tuple[Word, ...], options: frozenset[str], wrapper: str
    ) -> tuple[Word, ...]:
        at = 0
        while at < len(words):
            text = words[at].text
            assign = _ASSIGN.fullmatch(text)
            if assign and wrapper in ("env", "sudo"):
                self._set(assign, words[at])
                at += 1
            elif text in ("run", "exec", "profile", "record", "launch") and wrapper != "env":
                at += 1
            elif not text.startswith("-") or text == "--":
                return words[at + (text == "--") :]
            else:
                at += 1 + self._option(words, at, options, wrapper)
        return ()

    def _option(
        self, words: tuple[Word, ...], at: int, options: frozenset[str], wrapper: str
    ) -> int:
        """Read one option of a wrapper; give the number of words its value takes."""
        word = words[at]
        name, sign, value = word.text.partition("=")
        count = 0 if sign else 2 if name in TWO_VALUES else int(name in options)
        if wrapper == "mpirun" and name in MPI_OPTIONS:
            count = 0 if sign else 1
        after = words[at + 1] if count == 1 and at + 1 < len(words) else None
        given = value if sign else after.text if after else ""
        assign = _ASSIGN.fullmatch(given)
        if assign and name in ("-x", "-e", "--env"):
            self._set(assign, after or word)
        elif wrapper in ("srun", "mpirun") and given:
            key = name.lstrip("-").replace("-", "_")
            key = "num_processes" if wrapper == "mpirun" and key == "n" else key
            unknown = bool((after or word).unknown)
            self._keep(LAUNCHER_NAMES.get(key, key), None if unknown else (given,), word)
        return count

    def _set(self, assign: re.Match[str], word: Word) -> None:
        value = None if word.unknown else assign[2]
        self.env.append(EnvVar(name=assign[1], value=value, origin=self._cite(word)))

    def _keep(self, name: str, values: tuple[str, ...] | None, word: Word) -> None:
        self.launcher.append(RawArg(name=name, values=values, origin=self._cite(word)))

    def launch(
        self, kind: str, words: tuple[Word, ...]
    ) -> tuple[Word, bool, tuple[Word, ...]] | None:
        """Read the options of a launcher; give the program, whether a module, and its arguments."""
        flags = LAUNCHER_FLAGS[kind]
        module = False
        at = 0
        while at < len(words):
            word = words[at]
            if not word.text.startswith("-") or word.text == "--":
                break
            name, sign, value = word.text.partition("=")
            key = name.lstrip("-").replace("-", "_")
            at += 1
            if key in flags:
                module = module or key in ("m", "module")
                self._keep(key, (value,) if sign else (), word)
                continue
            source = word if sign else words[at] if at < len(words) else word
            given = value if sign else source.text
            at += 0 if sign else 1
            name = LAUNCHER_NAMES.get(key, key) if len(key) > 1 or kind == "deepspeed" else key
            self._keep(name, None if source.unknown else (given,), word)
        rest = words[at + (at < len(words) and words[at].text == "--") :]
        return (rest[0], module, rest[1:]) if rest else None


def _starts(word: Word) -> bool:
    name = basename(word)
    return bool(PROGRAMS.fullmatch(name)) or ALIASES.get(name, name) in WRAPPERS


def _from_program(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """Go on to the first known program: what is in between belongs to a wrapper (an image)."""
    for at, word in enumerate(words):
        if _starts(word):
            return words[at:]
    return words


def entries(command: ShellCommand, cite: Cite) -> Iterator[Entry]:
    """Take wrappers and launchers off a command; nothing when no program is left."""
    stripper = _Stripper(command, cite)
    stripper.strip()
    if stripper.words and basename(stripper.words[0]) == "ray":
        stripper.words = _after_ray(stripper.words)
        stripper.strip()
    words = stripper.words
    found = _program(stripper, words)
    if found is not None:
        path, module, args, via = found
        launcher, env = tuple(stripper.launcher), tuple(stripper.env)
        yield Entry(path, module, args, launcher, env, via)


def _after_ray(words: tuple[Word, ...]) -> tuple[Word, ...]:
    texts = [word.text for word in words]
    if texts[1:3] != ["job", "submit"]:
        return ()
    return words[texts.index("--") + 1 :] if "--" in texts else _from_program(words[3:])


def _program(
    stripper: _Stripper, words: tuple[Word, ...]
) -> tuple[Word, bool, tuple[Word, ...], str] | None:
    via = ""
    for _ in range(4):
        if not words:
            return None
        name = basename(words[0])
        kind = name if name in ("torchrun", "deepspeed") else ""
        rest = words[1:]
        if name == "accelerate":
            if not rest or rest[0].text != "launch":
                return None
            kind, rest = "accelerate", rest[1:]
        module = False
        if _PYTHON.fullmatch(name):
            found = _python(rest)
            if found is None:
                return None
            path, module, args = found
            kind = LAUNCHER_MODULES.get(path.text, "") if module else ""
            if not kind:
                return path, module, args, via or "python"
            rest = args
        if not kind:
            return words[0], False, rest, via
        started = stripper.launch(kind, rest)
        if started is None:
            return None
        via = kind
        path, module, args = started
        if module or not _PYTHON.fullmatch(basename(path)):
            return path, module, args, via
        words = (path, *args)
    return None


def _python(words: tuple[Word, ...]) -> tuple[Word, bool, tuple[Word, ...]] | None:
    """Read the options of the interpreter; None when it runs no file or module."""
    at = 0
    while at < len(words) and words[at].text.startswith("-"):
        text = words[at].text
        if text == "-m":
            return (words[at + 1], True, words[at + 2 :]) if at + 1 < len(words) else None
        if text.startswith("-c") or text == "-":
            return None
        at += 2 if text in ("-W", "-X") else 1
    return (words[at], False, words[at + 1 :]) if at < len(words) else None
