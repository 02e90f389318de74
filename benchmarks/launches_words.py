"""The words of a script's launches, as they are read here and as bash itself passes them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from launches_bash import UNSEEN, NotComparable, argv

from trainrx.model.job import ShellCommand
from trainrx.shell import read_script

PROGRAMS = frozenset(
    {"torchrun", "deepspeed", "accelerate", "swift", "megatron", "llamafactory-cli", "lmf", "trl"}
    | {"axolotl", "vllm", "ray"}
)
QUIET = frozenset({"echo", "printf", "pip", "pip3", "which", "pkill", "cat", "grep", "tee", "awk"})
PLACEHOLDER = re.compile(r"(?<![\w<\"'])<[A-Za-z_][\w -]*>")
HOME = "~"
"""Of bash, so that a `~` stays as it was written."""


def compare(name: str, script: str) -> str:
    """Compare the words of the launches with those that bash makes of the copy.

    Both get the same values for arguments and for variables that the script never sets.

    Returns:
        What differs, "" for nothing.

    Raises:
        NotComparable: The copy does not tell, or bash would run no launch.
    """
    if PLACEHOLDER.search(script):
        raise NotComparable("a placeholder, which bash takes for a redirection")
    given = {"HOME": HOME} | {item: str(at + 21) for at, item in enumerate(_unset(script))}
    plain = re.search(r"\$\{?[1-9@*]", script) and not re.search(
        r"\$\{[1-9@*]:?[-=+?]|\bshift\b|\$\{?#", script
    )
    values = " ".join(str(number) for number in range(11, 51)) if plain else ""
    text = f"set -- {values}\n{script}"
    theirs = [words for words in argv(text, given) if _is_launch(words)]
    if not theirs:
        raise NotComparable("bash comes to no launch")
    if any(UNSEEN in word for words in theirs for word in words):
        raise NotComparable("a word holds the output of a command")
    commands = read_script(text, name, given).commands
    ours = [one for one in commands if _is_launch([word.text for word in one.words])]
    return "" if _same(ours, theirs) else _difference(name, ours, theirs)


def _unset(text: str) -> list[str]:
    """Name the variables that a script reads without a default and never sets."""
    text = re.sub(r"(?m)(?:^|[ \t])#.*", "", text)
    read = set(re.findall(r"\$\{?([A-Za-z_]\w*)", text))
    guarded = set(re.findall(r"\$\{([A-Za-z_]\w*):?[-=+?]", text))
    assigned = set(re.findall(r"\b([A-Za-z_]\w*)(?:\[[^]\n]*\])?\+?=", text))
    assigned |= set(
        re.findall(r"\b(?:for|local|read|getopts \S+)\s+(?:-\w+\s+)*([A-Za-z_]\w*)", text)
    )
    arithmetic = set(re.findall(r"\(\([^)]*?([A-Za-z_]\w*)", text))
    names = read - guarded - assigned - arithmetic - {"HOME"}
    return sorted(name for name in names if not re.match(r"BASH|RANDOM|PWD|OLDPWD|PATH|IFS", name))


def _is_launch(words: Sequence[str]) -> bool:
    names = [word.rpartition("/")[2] for word in words]
    if not names or names[0] in QUIET:
        return False
    return any(name in PROGRAMS or re.fullmatch(r"python[\d.]*", name) for name in names[:40])


def _same(ours: list[ShellCommand], theirs: list[list[str]]) -> bool:
    """Tell whether bash's commands are ours; what we say may not run may be more."""
    rest = iter(ours)
    for words in theirs:
        for command in rest:
            if _equal(command, words):
                break
            if not command.perhaps:
                return False
        else:
            return False
    return all(command.perhaps for command in rest)


def _equal(command: ShellCommand, words: list[str]) -> bool:
    """Tell whether the words are those; a variable that nobody sets is empty in bash."""
    at = 0
    for ours in command.words:
        theirs = words[at] if at < len(words) else None
        if ours.unknown and theirs in ours.alternatives:
            at += 1
            continue
        text = ours.text
        for name in ours.unknown:
            text = re.sub(rf"\$\{{?{re.escape(name)}\b\}}?", "", text)
        if text or not ours.unknown:
            if text != theirs:
                return False
            at += 1
        elif theirs == "":
            at += 1
    return at == len(words)


def _difference(name: str, ours: list[ShellCommand], theirs: list[list[str]]) -> str:
    lines = [f"{name}: {len(theirs)} commands in bash, {len(ours)} here"]
    for command, words in zip(ours, theirs, strict=False):
        mine = [word.text for word in command.words]
        at = next((n for n, (a, b) in enumerate(zip(mine, words, strict=False)) if a != b), None)
        if at is None and len(mine) == len(words):
            continue
        at = min(len(mine), len(words)) if at is None else at
        line = command.words[min(at, len(mine) - 1)].line - 1
        lines.append(
            f"  line {line}, word {at}: bash {words[at : at + 4]}, here {mine[at : at + 4]}"
        )
    return "\n".join(lines)
