"""What stands in front of a program, collected while it is taken off: options, environment."""

from __future__ import annotations

import posixpath
import re

import msgspec

from trainrx.model.facts import Origin
from trainrx.model.job import EnvVar, RawArg, Script, Word, Workdir
from trainrx.model.pattern import late

ASSIGN = late(r"([A-Za-z_]\w*)=(.*)", re.ASCII | re.DOTALL)
_NAME = late(r"[A-Za-z_]\w*\*?", re.ASCII)


_HERE = late(r"^\$(?:PWD\b|\{PWD\}|\(pwd\))")
IMAGE = "$WORKDIR"
"""How the folder is shown that an image starts its programs in."""


class Cite:
    """Origins of words of one script, and of the files it is put together from."""

    def __init__(self, script: Script) -> None:
        self._source = script.source
        self._lines = {name: text.split("\n") for name, text in script.files}
        self._lines[script.source] = script.text.split("\n")

    def __call__(self, word: Word) -> Origin:
        """Give the origin of a word."""
        source = word.source or self._source
        lines = self._lines.get(source, [])
        text = lines[word.line - 1].strip() if 0 < word.line <= len(lines) else word.text
        return Origin(source=source, line=word.line, text=text)

    def script_has(self, text: str) -> bool:
        """Tell whether a text stands anywhere in the script or in a file it takes in."""
        return any(text in line for lines in self._lines.values() for line in lines)


class LauncherOption(msgspec.Struct, frozen=True):
    """An option as written; `value` None: it has none. `held` is the word the value stands in."""

    name: str
    value: str | None
    word: Word
    value_word: Word

    @property
    def key(self) -> str:
        """Give the name without dashes, words joined by underscores."""
        return self.name.lstrip("-").replace("-", "_")

    @property
    def given(self) -> tuple[str, ...] | None:
        """Give the value as an argument has it: None when it is not known."""
        if self.value_word.unknown and self.value is not None:
            return None
        return () if self.value is None else (self.value,)


def read_options(
    words: tuple[Word, ...], valued: frozenset[str], pairs: frozenset[str] = frozenset()
) -> tuple[list[LauncherOption], tuple[Word, ...]]:
    """Read the options at the front of some words.

    Args:
        words: What follows a program or its sub-command.
        valued: Options that take the next word; a letter may have it attached (`-n2`).
        pairs: Options that take the next two words, the second as the value of the first.

    Returns:
        The options, and the words from the first operand on (or after `--`).
    """
    found: list[LauncherOption] = []
    at = 0
    while at < len(words):
        word = words[at]
        text = word.text
        if text == "--":
            return found, words[at + 1 :]
        if not text.startswith("-") or text == "-":
            break
        at += 1
        short = text[:2]
        name, sign, value = text.partition("=")
        if short in valued and len(text) > 2 and not text.startswith("--") and name not in valued:
            found.append(LauncherOption(short, text[2:].removeprefix("="), word, word))
        elif sign:
            found.append(LauncherOption(name, value, word, word))
        elif name in pairs:
            pair = " ".join(item.text for item in words[at : at + 2])
            found.append(LauncherOption(name, pair, word, words[min(at + 1, len(words) - 1)]))
            at += 2
        elif name in valued and at < len(words):
            found.append(LauncherOption(name, words[at].text, word, words[at]))
            at += 1
        else:
            found.append(LauncherOption(name, None, word, word))
    return found, words[at:]


class Front:
    """What wrappers and launchers were told.

    `apart`: the script's environment does not reach the program, but for the names `passed`;
    `unsure`: whether it does is not known; `removed` never do. `hidden_env`: a file sets more.
    `spread`: one of them may start the program several times.
    `allocation`: what `#SBATCH` lines ask for, which srun takes over; `allocated`: it did.
    `programs`: those of frameworks. `folder`: where the program is started, None where its command
    is. `mounts`: folders outside a container, and what they are inside.
    """

    def __init__(
        self,
        cite: Cite,
        allocation: tuple[RawArg, ...] = (),
        programs: frozenset[str] = frozenset(),
    ) -> None:
        self.cite = cite
        self.programs = programs
        self.allocation = allocation
        self.allocated = False
        self.launcher: list[RawArg] = []
        self.container: list[RawArg] = []
        self.env: list[EnvVar] = []
        self.passed: set[str] = set()
        self.removed: set[str] = set()
        self.apart = False
        self.unsure = False
        self.hidden_env = False
        self.spread = False
        self.folder: str | None = None
        self.mounts: list[tuple[str, str]] = []

    def started_in(self, workdir: Workdir) -> Workdir:
        """Give the folder of the program, from that of the command.

        One inside a container is given as the folder outside that is mounted there.
        """
        folder = self.folder
        # a script that is run inside goes on to a folder of its own
        kept = folder is None or (folder == IMAGE and workdir.path.startswith("/"))
        at = workdir if folder is None or kept else workdir.into(folder)
        for outside, inside in self.mounts:
            below = posixpath.relpath(at.path, inside) if at.path[:1] == inside[:1] == "/" else ".."
            if not below.startswith(".."):
                return Workdir().into(posixpath.join(_HERE.sub(".", outside), below))
        return at

    def enter(self, option: LauncherOption) -> None:
        """Start the program in the folder an option names."""
        if option.value:
            self.folder = posixpath.join(self.folder or "", option.value)

    def keep(self, name: str, values: tuple[str, ...] | None, word: Word) -> None:
        """Keep what a launcher was told."""
        self.launcher.append(self.argument(name, values, word))

    def enclose(self, name: str, values: tuple[str, ...] | None, word: Word) -> None:
        """Keep what a container or a scheduler was told."""
        self.container.append(self.argument(name, values, word))

    def argument(
        self,
        name: str,
        values: tuple[str, ...] | None,
        word: Word,
        alternatives: tuple[str, ...] = (),
    ) -> RawArg:
        """Make an argument that cites a word."""
        return RawArg(name=name, values=values, origin=self.cite(word), alternatives=alternatives)

    def set(self, text: str, word: Word) -> bool:
        """Set the variable of `A=1`, or pass on that of `A`; False when the text is neither."""
        match = ASSIGN.fullmatch(text)
        if match:
            value = None if word.unknown else match[2]
            self.env = [item for item in self.env if item.name != match[1]]
            self.env.append(EnvVar(name=match[1], value=value, origin=self.cite(word)))
            return True
        if _NAME.fullmatch(text):
            self.passed.add(text)
            return True
        return False

    def clear(self) -> None:
        """Note that the environment of the script stays outside."""
        self.apart = True
        self.passed = set()

    def reach(self, outer: tuple[EnvVar, ...], exported: tuple[EnvVar, ...]) -> tuple[EnvVar, ...]:
        """Give the environment of the program, from that of the command.

        `exported` is what the script exports; the rest is set inside, in a `bash -c` of a
        container, and stays whatever is told outside.
        """
        own = {item.name for item in self.env} | self.removed
        kept = [item for item in outer if item.name not in own]
        if self.apart:
            left = {
                (item.name, item.origin.line) for item in exported if not self._passes(item.name)
            }
            kept = [item for item in kept if (item.name, item.origin.line) not in left]
        if self.unsure:
            kept = [
                item
                if self._passes(item.name)
                else EnvVar(name=item.name, value=None, origin=item.origin)
                for item in kept
            ]
        return (*kept, *self.env)

    def _passes(self, name: str) -> bool:
        starts = tuple(item[:-1] for item in self.passed if item.endswith("*"))
        return name in self.passed or (bool(starts) and name.startswith(starts))
