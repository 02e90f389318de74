"""`getopts`, when the arguments are known."""

from __future__ import annotations

import re

from trainrx.shell.context import Context, Verdict
from trainrx.shell.unknown import known
from trainrx.shell.variables import Field, Variable


class OptionReader:
    """Takes one option after the other."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._inside = 1  # place within a word of several options, `-ab`

    def run(self, fields: list[Field]) -> None:
        """Set the variable to the next option, and OPTARG to its value."""
        context, state = self._context, self._context.state
        if len(fields) < 3:
            return
        name, line = fields[2].text, fields[0].line
        words = [field.text for field in fields[3:]]
        if len(fields) == 3 and state.positional is not None:
            words = [field.text for field in state.positional]
        held = state.variables.get("OPTIND")
        index = held.text if held is not None else "1"
        unsure = len(fields) == 3 and state.positional is None
        if unsure or not re.fullmatch(r"[0-9]{1,4}", index) or not known("".join(words)):
            for target in (name, "OPTARG"):
                state.set_text(target, state.unknowns.mark("arg", target), line)
            context.verdict = Verdict(None)
            return
        at = int(index) - 1
        option = self._next(fields[1].text, words, at)
        if option is None:
            state.set_text(name, "?", line)
            context.verdict = Verdict(value=False)
            return
        letter, value, after = option
        state.set_text(name, letter, line)
        state.set("OPTIND", Variable((Field(str(after + 1)),), line))
        if value is None:
            state.unset("OPTARG")
        else:
            state.set_text("OPTARG", value, line)
        context.verdict = Verdict(value=True)

    def _next(self, spec: str, words: list[str], at: int) -> tuple[str, str | None, int] | None:
        """Give the letter, its value, and the word to go on with."""
        word = words[at] if at < len(words) else ""
        if len(word) < 2 or word[0] != "-" or word == "--":
            self._inside = 1
            return None
        letter = word[self._inside] if self._inside < len(word) else word[1]
        rest = word[self._inside + 1 :]
        found = spec.find(letter) if letter != ":" else -1
        takes_value = found >= 0 and spec[found + 1 : found + 2] == ":"
        if takes_value:
            self._inside = 1
            if rest:
                return letter, rest, at + 1
            if at + 1 < len(words):
                return letter, words[at + 1], at + 2
            return ("?", None, at + 1) if spec[:1] != ":" else (":", letter, at + 1)
        self._inside = self._inside + 1 if rest else 1
        after = at if rest else at + 1
        if found < 0:
            return "?", letter if spec[:1] == ":" else None, after
        return letter, None, after
