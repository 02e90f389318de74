"""Builtins that change what later commands see."""

from __future__ import annotations

import posixpath
import re
from itertools import pairwise

from trainrx.model.pattern import late
from trainrx.shell.context import Context, Verdict
from trainrx.shell.fields import split
from trainrx.shell.state import word_lines
from trainrx.shell.values import Field, Variable, known

_IGNORED = frozenset({"test", "[", "alias", "shopt", "wait", "trap", "ulimit", "umask", "disown"})
_RECORDED = frozenset({"wait", "trap", "ulimit", "umask", "disown"})
_NAME = late(r"[A-Za-z_]\w*", re.ASCII)
_ELEMENT = late(r"(\w+)\[([^\]]*)\]", re.ASCII)


class Builtins:
    """Runs builtins in a context."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._handlers = {
            "set": self._set,
            "shift": self._shift,
            "unset": self._unset,
            "exit": self._exit,
            "return": self._exit,
            "break": self._leave_loop,
            "continue": self._leave_loop,
            "let": self._let,
            "module": self._module,
            "ml": self._module,
            "getopts": self._getopts,
            "mapfile": self._map_lines,
            "readarray": self._map_lines,
            ":": self._true,
            "true": self._true,
            "false": self._true,
            "cd": self._cd,
        }

    def run(self, fields: list[Field], prefix: dict[str, Variable]) -> bool:
        """Run a builtin; False when the command is none of those known here."""
        name = fields[0].text
        if name == "read":
            separators = prefix["IFS"].text if "IFS" in prefix else self._context.state.separators()
            _read(self._context, fields, separators)
            return True
        handler = self._handlers.get(name)
        if handler is None:
            return name in _IGNORED and name not in _RECORDED
        handler(fields)
        return name != "cd"

    def _true(self, fields: list[Field]) -> None:
        self._context.verdict = Verdict(fields[0].text != "false")

    def _cd(self, fields: list[Field]) -> None:
        """Keep where the script goes; `cd` itself is recorded like a program."""
        words = [field.text for field in fields[1:] if not field.text.startswith("-")]
        context = self._context
        target = words[0] if words else context.state.unknowns.variable("HOME")
        if known(target) and not target.startswith(("/", "~")):
            context.folder = posixpath.normpath(posixpath.join(context.folder, target))
        else:
            context.folder = posixpath.normpath(target) if known(target) else target

    def _set(self, fields: list[Field]) -> None:
        state = self._context.state
        at = 1
        while at < len(fields):
            word = fields[at].text
            if word in ("--", "-") or word[:1] not in ("-", "+"):
                behind = tuple(fields[at + (word in ("--", "-")) :])
                if word != "-" or behind:
                    state.positional = behind
                return
            takes = "o" in word
            option = fields[at + 1].text if takes and at + 1 < len(fields) else ""
            if "a" in word or option == "allexport":
                state.export_all = word[0] == "-"
            at += 2 if takes else 1

    def _shift(self, fields: list[Field]) -> None:
        state = self._context.state
        count = fields[1].text if len(fields) > 1 else "1"
        held = state.positional
        if held is None:
            return
        if not re.fullmatch(r"[0-9]{1,4}", count):
            state.positional = None
        elif int(count) <= len(held):
            state.positional = held[int(count) :]
            self._context.verdict = Verdict(value=True)
        else:
            self._context.verdict = Verdict(value=False)

    def _unset(self, fields: list[Field]) -> None:
        state = self._context.state
        for field in fields[1:]:
            element = _ELEMENT.fullmatch(field.text)
            if element is not None:
                state.set(element[1], state.opaque(element[1], fields[0].line))
            elif fields[1].text == "-f" and field.text in self._context.functions:
                del self._context.functions[field.text]
            else:
                state.unset(field.text)

    def _module(self, fields: list[Field]) -> None:
        if len(fields) > 1 and fields[1].text in ("load", "add", "switch", "use"):
            reason = "a module may set variables that are not visible here"
            self._context.record.hide_environment(reason, fields[0].line)

    def _exit(self, fields: list[Field]) -> None:
        self._context.stop = "exit" if fields[0].text == "exit" else "return"
        code = fields[1].text if len(fields) > 1 else ""
        value = int(code) % 256 == 0 if re.fullmatch(r"[0-9]{1,9}", code) else None
        self._context.verdict = Verdict(value, assumed=value is None)

    def _leave_loop(self, fields: list[Field]) -> None:
        self._context.stop = "break" if fields[0].text == "break" else "continue"

    def _getopts(self, fields: list[Field]) -> None:
        """Take an option: which one it is, and its value, depends on the arguments."""
        state = self._context.state
        for name in (fields[2].text if len(fields) > 2 else "OPTARG", "OPTARG", "OPTIND"):
            state.set_text(name, state.unknowns.mark("arg", name), fields[0].line)
        self._context.verdict = Verdict(None)

    def _map_lines(self, fields: list[Field]) -> None:
        """Fill an array with the lines of a file, which are not followed."""
        state, line = self._context.state, fields[0].line
        name = next((f.text for f in fields[:0:-1] if _NAME.fullmatch(f.text)), "MAPFILE")
        state.set(name, state.opaque(name, line))
        self._context.verdict = Verdict(None)

    def _let(self, fields: list[Field]) -> None:
        for field in fields[1:]:
            value = self._context.count(field.text)
            self._context.verdict = Verdict(None if value is None else value != 0)


_READ_VALUES = late(r"-[a-z]*[dnNptui]")
"""Options that take a value."""
_BLANKS = " \t\n"


def _read(context: Context, fields: list[Field], separators: str) -> None:
    """Run `read`; the values are not known when it reads from somewhere else."""
    words = [field.text for field in fields]
    names = _names(words)
    flags = "".join(word[1:] for word in words[1:] if word.startswith("-"))
    line = fields[0].line
    feed = context.streams.stdin
    if feed is None:
        _forget(context, names or ["REPLY"], line)
        return
    raw = feed.raw
    text = feed.take_all() if "d" in flags else feed.take_line()
    context.verdict = Verdict(value=text is not None and "d" not in flags)
    text = text or ""
    if "r" not in flags:
        text = re.sub(r"\\(?:\n|(?=.))", "", text)
    if "a" in flags and names:
        values = tuple(Field(part, line) for part in _parts(text, separators))
        context.state.set(names[-1], Variable(values, line, array=True))
        return
    if "d" in flags and "\n" in text and names:
        stripped = text.strip(_blanks(separators))
        lines = word_lines(raw, feed.line) if feed.line else ()
        context.state.set(names[-1], Variable((Field(stripped),), line, lines=lines))
        return
    if not names:
        context.state.set_text("REPLY", text, line)
        return
    for name in names[:-1]:
        part, text = _first(text, separators)
        context.state.set_text(name, part, line)
    rest = text.strip(_blanks(separators))
    context.state.set_text(names[-1], _last(rest, separators), line)


def _names(words: list[str]) -> list[str]:
    return [
        word
        for before, word in pairwise(words)
        if _NAME.fullmatch(word) and not _READ_VALUES.fullmatch(before)
    ]


def _forget(context: Context, names: list[str], line: int) -> None:
    unknowns = context.state.unknowns
    for name in names:
        context.state.set_text(name, unknowns.mark("command", name, f"${name}"), line)
    context.verdict = Verdict(None)


def _blanks(separators: str) -> str:
    return "".join(char for char in separators if char in _BLANKS)


def _parts(text: str, separators: str) -> list[str]:
    parts = split(text.strip(_blanks(separators)), separators) if separators else [text]
    if parts and parts[-1] == "":
        del parts[-1]
    return parts


def _first(text: str, separators: str) -> tuple[str, str]:
    """Cut off the first word."""
    if not separators:
        return text, ""
    text = text.lstrip(_blanks(separators))
    blanks, others = _blanks(separators), separators.translate({ord(c): None for c in _BLANKS})
    cut = f"[{re.escape(separators)}]"
    found = re.search(cut, text)
    if found is None:
        return text, ""
    end = found.end()
    if found[0] in blanks:
        rest = text[end:].lstrip(blanks)
        if rest[:1] and rest[:1] in others:
            rest = rest[1:].lstrip(blanks)
    else:
        rest = text[end:].lstrip(blanks)
    return text[: found.start()], rest


def _last(text: str, separators: str) -> str:
    """Give what is left for the last variable: one separator at its end is taken off."""
    part, rest = _first(text, separators)
    return text if rest else part
