"""Builtins that change what later commands see."""

from __future__ import annotations

import re
from itertools import pairwise

from trainrx.parse.shell.context import Context
from trainrx.parse.shell.state import Field, Variable, word_lines
from trainrx.parse.shell.syntax import Simple
from trainrx.parse.shell.unknown import known

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_HARMLESS = re.compile(r"(?:.*/)?(?:bin/activate|activate|conda\.sh|etc/profile)")
_IGNORED = frozenset({":", "true", "false", "test", "[", "alias", "shopt", "break", "continue"})
_READ_VALUES = re.compile(r"-[a-z]*[dnNptu]")
"""Options of `read` that take a value."""


class Builtins:
    """Runs builtins in a context."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def run(self, fields: list[Field], node: Simple, prefix: dict[str, Variable]) -> bool:
        """Run a builtin; False when the command is none of those known here."""
        name = fields[0].text
        if name in _IGNORED:
            return True
        if name in ("read", "mapfile", "readarray", "getopts"):
            self._read(fields, node, prefix)
            return True
        handler = {
            "set": self._set,
            "shift": self._shift,
            "unset": self._unset,
            "source": self._source,
            ".": self._source,
            "exit": self._exit,
            "return": self._exit,
            "let": self._let,
            "module": self._module,
            "ml": self._module,
        }.get(name)
        if handler is None:
            return False
        handler(fields)
        return True

    def _set(self, fields: list[Field]) -> None:
        state = self._context.state
        words = [field.text for field in fields]
        for at, word in enumerate(words[1:], 1):
            if word == "--":
                state.positional = tuple(fields[at + 1 :])
                return
            allexport = re.fullmatch(r"[-+][a-z]*a[a-z]*", word) or (
                words[at - 1] in ("-o", "+o") and word == "allexport"
            )
            if allexport:
                sign = word[0] if word[0] in "-+" else words[at - 1][0]
                state.export_all = sign == "-"

    def _shift(self, fields: list[Field]) -> None:
        state = self._context.state
        count = fields[1].text if len(fields) > 1 else "1"
        if state.positional is not None:
            state.positional = state.positional[
                int(count) if re.fullmatch(r"\d{1,4}", count) else 1 :
            ]

    def _unset(self, fields: list[Field]) -> None:
        for field in fields[1:]:
            self._context.state.unset(field.text)

    def _source(self, fields: list[Field]) -> None:
        context = self._context
        path = context.state.unknowns.show(fields[1].text) if len(fields) > 1 else ""
        if not _HARMLESS.fullmatch(path):
            reason = f"{path} is sourced; what it sets is not visible here"
            context.record.hide_environment(reason, fields[0].line)

    def _module(self, fields: list[Field]) -> None:
        if len(fields) > 1 and fields[1].text in ("load", "add", "switch", "use"):
            reason = "a module may set variables that are not visible here"
            self._context.record.hide_environment(reason, fields[0].line)

    def _exit(self, fields: list[Field]) -> None:
        if not self._context.doubt:
            self._context.stop = "exit" if fields[0].text == "exit" else "return"

    def _let(self, fields: list[Field]) -> None:
        for field in fields[1:]:
            self._context.count(field.text)

    def _read(self, fields: list[Field], node: Simple, prefix: dict[str, Variable]) -> None:
        """Set variables from a here-string; without one their values are not known."""
        context, state = self._context, self._context.state
        words = [field.text for field in fields]
        names = [
            word
            for before, word in pairwise(words)
            if _NAME.fullmatch(word) and not _READ_VALUES.fullmatch(before)
        ]
        line = fields[0].line
        text = context.expander.text(node.here.text) if node.here else ""
        if node.here is None or not known(text) or words[0] != "read":
            for name in names:
                state.set_text(name, state.unknowns.mark("command", name, f"${name}"), line)
            return
        separator = prefix["IFS"].text if "IFS" in prefix else ""
        parts = re.split(f"[{re.escape(separator)}]", text) if separator.strip() else text.split()
        if any(re.fullmatch(r"-[a-z]*a", word) for word in words) and names:
            values = tuple(Field(part, line) for part in parts)
            state.set(names[-1], Variable(values, line, array=True))
            return
        if "\n" in text and any(re.fullmatch(r"-[a-z]*d", word) for word in words) and names:
            lines = word_lines(node.here.text, context.place.line(node.here.at))
            state.set(names[-1], Variable((Field(text.strip()),), line, lines=lines))
            return
        for at, name in enumerate(names):
            rest = parts[at:] if name is names[-1] else parts[at : at + 1]
            state.set_text(name, (separator[:1] or " ").join(rest), line)
