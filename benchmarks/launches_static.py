"""How many words of the launches are known without running anything, and why the others are not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

import msgspec

from trainrx.launch.find import find_launches
from trainrx.model.job import Script, ShellCommand, Word

NAMED = frozenset({"ms-swift", "LLaMA-Factory", "verl", "OpenRLHF", "trl", "DeepSpeedExamples"})
"""The frameworks that the aim is set for, by the name of their repository."""
TOOLKITS = frozenset({"Pai-Megatron-Patch", "Megatron-LM", "Megatron-DeepSpeed", "NeMo"})
"""Pretraining toolkits: their scripts are templates that take a score of positional arguments."""

LISTED = "listed"
CAUSES = (
    ("branch", re.compile(r"depends on a condition"), re.compile("")),
    ("loop", re.compile(r"changes in a loop"), re.compile("")),
    ("random", re.compile(r"differs from run|output of"), re.compile(r"RANDOM|date|shuf|uuidgen")),
    ("place", re.compile(""), re.compile(r"\$\((?:pwd|git rev-parse)[^)]*\)|0|HOME|PWD")),
    ("command", re.compile(r"is the output of a command"), re.compile("")),
    ("argument", re.compile(r"is an argument"), re.compile("")),
    ("scheduler", re.compile(r"is set by the scheduler"), re.compile("")),
    ("env", re.compile(r"is not set in this script"), re.compile("")),
    ("blank", re.compile(r"is a placeholder"), re.compile("")),
)
"""A cause, the reason given for it, and the beginning of the name it is about.

branch: a condition is not decided; random: another value in each run; place: where the script, the
working directory or the home is; blank: a placeholder such as <path>. The first that fits counts.
"""
_OUTSIDE = re.compile(r"is an argument of|is not set in this script|is set by the scheduler")
_REASON = re.compile(
    r"(?P<name>.*?) (?:is not set in|is set by|is an argument|is the output|depends on a cond"
    r"|changes in a|differs from|cannot be worked|is a placeholder)",
    re.DOTALL,
)


class Tokens:
    """Words counted by repository and cause; "static" is one of the causes."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()
        self.outside = 0

    def add(self, script: Script, repository: str) -> None:
        """Count the words of a script's launches."""
        reasons = _reasons(script)
        for command in once(script.commands):
            if not find_launches(msgspec.structs.replace(script, commands=(command,))):
                continue
            for word in command.words:
                cause = _cause(word, reasons)
                self.counts[repository, cause] += 1
                outside = all(_OUTSIDE.search(reasons.get(name, "")) for name in word.unknown)
                self.outside += bool(word.unknown) and (cause == LISTED or outside)

    def number(self, cause: str = "", *, of: Callable[[str], bool] = bool) -> int:
        """Count the words of a cause (of all of them without one) in some repositories."""
        return sum(
            count
            for (repository, found), count in self.counts.items()
            if cause in ("", found) and of(repository)
        )

    def table(self) -> str:
        """Write the share of static words, and the causes of the others, by repository."""
        causes = (LISTED, *(name for name, _, _ in CAUSES), "other")
        head = f"{'repository':30} {'words':>7} {'static':>8} " + "".join(
            f"{c:>10}" for c in causes
        )
        names = sorted({repository for repository, _ in self.counts})
        rows = [(name, {name}) for name in names]
        rows += [
            ("the named frameworks", {name for name in names if _short(name) in NAMED}),
            ("without pretraining toolkits", {n for n in names if _short(n) not in TOOLKITS}),
            ("all", set(names)),
        ]
        return "\n".join([head, *(self._row(title, set_, causes) for title, set_ in rows)])

    def _row(self, title: str, names: set[str], causes: Iterable[str]) -> str:
        of = names.__contains__
        words, static = self.number(of=of), self.number("static", of=of)
        share = 100 * static / max(words, 1)
        why = "".join(f"{self.number(cause, of=of):10}" for cause in causes)
        return f"{title[:30]:30} {words:7} {share:6.1f} % {why}"


def once(commands: Iterable[ShellCommand]) -> Iterator[ShellCommand]:
    """Give every command of the text once, however often a loop or a function runs it.

    Of its rounds the one with the most unknown words counts.
    """
    rounds: dict[tuple[str, int | None, str], ShellCommand] = {}
    for command in commands:
        names = " ".join(word.text for word in command.words if word.line == command.origin.line)
        at = (command.origin.source, command.origin.line, names.partition(" ")[0])
        held = rounds.get(at)
        if held is None or _unknown(command) > _unknown(held):
            rounds[at] = command
    yield from rounds.values()


def _unknown(command: ShellCommand) -> int:
    return sum(bool(word.unknown) for word in command.words)


def _short(repository: str) -> str:
    return repository.rpartition("+")[2]


def _reasons(script: Script) -> dict[str, str]:
    """Give the reason of every unknown by its name; of several the first."""
    reasons: dict[str, str] = {}
    for item in script.unread:
        match = _REASON.match(item.reason)
        if match:
            name = match["name"]
            reasons.setdefault(name, item.reason)
            reasons.setdefault(name.removeprefix("$"), item.reason)
    return reasons


def _cause(word: Word, reasons: dict[str, str]) -> str:
    if not word.unknown:
        return "static"
    if word.alternatives:
        return LISTED
    found = {_named(name, reasons) for name in word.unknown}
    return next((cause for cause, _, _ in CAUSES if cause in found), "other")


def _named(name: str, reasons: dict[str, str]) -> str:
    reason = reasons.get(name, "")
    for cause, why, what in CAUSES:
        whole = cause == "place"
        fits = what.fullmatch(name) if whole else what.match(name.removeprefix("$("))
        if why.search(reason) and fits:
            return cause
    return "other"
