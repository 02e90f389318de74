"""What the evaluator of one script carries along."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from typing import Literal

import msgspec

from trainrx.shell.expand import Expander
from trainrx.shell.limits import Budget
from trainrx.shell.reader import commands
from trainrx.shell.record import Record
from trainrx.shell.sources import Lines, SourcePosition
from trainrx.shell.state import FOLDER, State
from trainrx.shell.streams import Sink, Streams
from trainrx.shell.syntax import Node
from trainrx.shell.values import Field, Snapshot, UnknownValue, Variable, known


class WrittenFile(msgspec.Struct, frozen=True):
    """A file that commands write; `rows`: its line ends are those of the script from `line` on."""

    text: str
    line: int
    rows: bool


Stop = Literal["", "return", "exit", "break", "continue"]
Files = Callable[[str], str | None]
"""Gives the text of a file by the name a script uses, None when it is not at hand."""


class Verdict(msgspec.Struct, frozen=True):
    """The outcome of a test; `assumed`: it rests on a variable not being set from outside."""

    value: bool | None
    assumed: bool = False

    def negate(self) -> Verdict:
        """Give the opposite."""
        return self if self.value is None else Verdict(not self.value, self.assumed)


RAN = Verdict(None, assumed=True)
"""A command was run: whether it succeeds is not known, but mostly it does."""


def both(left: Verdict, right: Verdict) -> Verdict:
    """Join two verdicts with `&&`."""
    for one in (left, right):
        if one.value is False:
            return one
    if left.value is None or right.value is None:
        return Verdict(None)
    return Verdict(value=True, assumed=left.assumed or right.assumed)


def either(left: Verdict, right: Verdict) -> Verdict:
    """Join two verdicts with `||`."""
    return both(left.negate(), right.negate()).negate()


def _unset(_node: Node) -> None:
    """Stand in for the interpreter until there is one."""


class Context:
    """Variables, functions, the place in the file, and how sure it is that we get there.

    `undecided` counts the branches around it that may not be taken; `left` are the variables where
    such a branch was left by `return`, `break` or `continue`, and whether it was undecided.
    `wrapper`: the words in front of `bash -c`, kept for the commands inside. `line`: that of the
    command being evaluated.
    """

    def __init__(self, state: State, record: Record, place: SourcePosition, files: Files) -> None:
        self.state = state
        self.record = record
        self.place = place
        self.files = files
        self.written: dict[str, WrittenFile] = {}
        self.expander = Expander(state, self.substitute, self.arithmetic)
        self.run: Callable[[Node], None] = _unset
        self.functions: dict[str, Node] = {}
        self.locals: list[dict[str, Variable | None]] = []
        self.wrapper: tuple[Field, ...] = ()
        self.host = ""
        self.streams = Streams()
        self.undecided = 0
        self.depth = 0
        self.line = 1
        self.stop: Stop = ""
        self.left: list[tuple[Stop, Snapshot, bool]] = []
        self.verdict = RAN

    @property
    def budget(self) -> Budget:
        """Give the work that is left."""
        return self.state.budget

    @property
    def is_unsure(self) -> bool:
        """Tell whether what comes now may not run: in a branch, or behind one that leaves."""
        return self.undecided > 0 or any(undecided for _, _, undecided in self.left)

    def count(self, expression: str) -> int | None:
        """Evaluate arithmetic, None when the result is not known."""
        text = self.expander.dollars(expression)
        self.budget.spend(1 + len(text))
        from trainrx.shell import arithmetic

        if not known(text):
            arithmetic.forget(text, self._write)
            return None
        return arithmetic.evaluate(text, self._number, self._write)

    def arithmetic(self, expression: str) -> str:
        """Expand `$((expression))`."""
        value = self.count(expression)
        if value is not None:
            return str(value)
        shown = self.state.unknowns.show(f"$(({expression}))")[:80]
        root = self._root(expression)
        if root is not None:
            return self.state.unknowns.derived(root, shown, self._formula(expression))
        return self.state.unknowns.mark("value", shown, shown)

    def _formula(self, expression: str) -> str:
        """Write an expression that is not known with what of it is."""
        from trainrx.shell import arithmetic

        unknowns = self.state.unknowns

        def read(name: str) -> str:
            variable = self.state.get(name)
            text = unknowns.variable(name) if variable is None else variable.text
            return unknowns.as_formula(text)

        written = unknowns.as_formula(self.expander.dollars(expression))
        return arithmetic.formula(written, read)

    def _number(self, name: str) -> str | None:
        variable = self.state.get(name)
        if variable is None and (name.islower() or self.state.is_gone(name)):
            # Names of the environment are upper-case: this one is unset, which counts as 0.
            return "0"
        return variable.text or "0" if variable is not None and known(variable.text) else None

    def _write(self, name: str, value: int | None) -> None:
        unknown = self.state.unknowns.mark("value", name)
        self.state.set_text(name, unknown if value is None else str(value), self.line)

    def _root(self, expression: str) -> UnknownValue | None:
        """Find the unknown variable an expression rests on."""
        unknowns = self.state.unknowns
        found = list(unknowns.within(self.expander.dollars(expression)))
        from trainrx.shell import arithmetic

        for name in arithmetic.names(expression):
            variable = self.state.variables.get(name)
            found += unknowns.within(unknowns.variable(name) if variable is None else variable.text)
        return found[0] if found else None

    def substitute(self, body: str) -> str:
        """Expand `$(body)`: what its commands print, as far as that follows from their words."""
        sink = Sink()
        sink.level = self.undecided
        streams, place, stop = self.streams, self.place, self.stop
        kept, verdict = self.state.snapshot(), self.verdict
        self.streams = Streams(sink, capture=True)
        self.place = SourcePosition(Lines(body), self.line, fixed=True)
        found = list(commands(body, self.budget))
        for node in found:
            self.run(node)
        self.streams, self.place, self.stop = streams, place, stop
        self.state.restore(kept)
        self.verdict = verdict
        if sink.certain and found:
            return sink.text.rstrip("\n")
        shown = self.state.unknowns.show(f"$({body.strip()})")[:80]
        if sink.unknown is not None:
            return self.state.unknowns.derived(sink.unknown, shown)
        return self.state.unknowns.mark("command", shown, shown)

    # Paths

    def find_file(self, text: str) -> tuple[str, str] | None:
        """Give the name and the text of a file at hand, None when there is none."""
        name = self.path(text)
        if not name or len(name) > 1024:
            return None
        if name in self.written:
            return name, self.written[name].text
        entered = name
        if name == text and FOLDER in self.state.variables:
            from trainrx.shell.folders import from_start

            entered = from_start(self, name)
        for candidate in dict.fromkeys((entered, name, posixpath.normpath(name))):
            found = self.files(candidate)
            if found is not None:
                return candidate, found
        return None

    def path(self, text: str) -> str:
        """Give a path as a name beside the script, nothing when it is not known.

        `$(dirname $0)` is where the script is, and `$PWD` is taken for it.
        """
        if known(text):
            return text
        first, sign, rest = text.partition("\ue001")
        root = self.state.unknowns.only(first + sign)
        here = root is not None and (root.name in ("0", "PWD") or root.shown == "$(pwd)")
        return rest.lstrip("/") if here and known(rest) and rest[:1] == "/" else ""

    def parent(self, text: str) -> str | None:
        """Give `dirname` of a path that begins where the script is, None for other paths."""
        only = self.state.unknowns.only(text)
        if only is None or only.name != "0":
            return None
        if only.shown == "$0":
            return self.state.unknowns.mark("arg", "0", "$(dirname $0)")
        return f"{text}/.."
