"""Builtins that change what later commands see."""

from __future__ import annotations

import re
from itertools import pairwise, zip_longest

from trainrx.model.pattern import late
from trainrx.shell.context import Context, Verdict
from trainrx.shell.fields import split
from trainrx.shell.state import word_lines
from trainrx.shell.values import Field, Variable

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
            "pushd": self._cd,
            "popd": self._cd,
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
        return name not in ("cd", "pushd", "popd")

    def _true(self, fields: list[Field]) -> None:
        self._context.verdict = Verdict(fields[0].text != "false")

    def _cd(self, fields: list[Field]) -> None:
        """Keep where the script goes; `cd` itself is recorded like a program."""
        # many scripts stay where they are
        from trainrx.shell import folders

        folders.change(self._context, fields)

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
    is_block = "d" in flags and "\n" in text
    text = text.strip("".join(char for char in separators if char in _BLANKS))
    if "a" in flags and names:
        parts = split(text, separators)
        parts = parts[:-1] if parts[-1] == "" else parts
        values = tuple(Field(part, line) for part in parts)
        context.state.set(names[-1], Variable(values, line, array=True))
    elif is_block and names:
        lines = word_lines(raw, feed.line) if feed.line else ()
        context.state.set(names[-1], Variable((Field(text),), line, lines=lines))
    else:
        _share_out(context, names or ["REPLY"], text, separators, line)


def _share_out(context: Context, names: list[str], text: str, separators: str, line: int) -> None:
    """Give each variable a word, the last one all that is left but for a separator at its end."""
    *parts, rest = split(text, separators, len(names) - 1) if len(names) > 1 else [text]
    ends = split(rest, separators)
    parts.append(ends[0] if len(ends) == 2 and not ends[1] else rest)
    for name, part in zip_longest(names, parts, fillvalue=""):
        context.state.set_text(name, part, line)


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
