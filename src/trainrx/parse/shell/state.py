"""Shell variables while a script is evaluated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from trainrx.parse.shell.limits import MAX_VALUE, Budget, TooMuch
from trainrx.parse.shell.unknown import Kind, Unknowns, known


class Field(NamedTuple):
    """A word after expansion; line 0: the line of the word it came from.

    `rows`: line ends inside it are those of the file, so that a script in it keeps its lines.
    """

    text: str
    line: int = 0
    rows: bool = False


class Variable(NamedTuple):
    """A value (an array has several) with the line it was set on.

    `lines` are those of the words inside the value, when it spans several; `script` is such a value
    with its line ends, for `eval`.
    """

    values: tuple[Field, ...]
    line: int
    array: bool = False
    exported: bool = False
    lines: tuple[int, ...] = ()
    script: str = ""

    @property
    def text(self) -> str:
        """Give what `$name` stands for."""
        return self.values[0].text if self.values else ""


Snapshot = dict[str, Variable]


class State:
    """Variables, positional parameters and what of them was used."""

    def __init__(self, inherited: Mapping[str, str], unknowns: Unknowns, budget: Budget) -> None:
        self.unknowns = unknowns
        self.budget = budget
        self.variables: Snapshot = {
            name: Variable((Field(text),), 0, exported=True) for name, text in inherited.items()
        }
        self.positional: tuple[Field, ...] | None = None
        self.export_all = False
        self.scheduled = False
        self.used: set[str] = set()
        self.ever_exported: set[str] = set(inherited)

    def get(self, name: str) -> Variable | None:
        """Give a variable, None when the script (or its given environment) does not set it."""
        self.used.add(name)
        return self.variables.get(name)

    def set(self, name: str, value: Variable) -> None:
        """Give a variable a value; one that was exported before stays so."""
        old = self.variables.get(name)
        exported = value.exported or self.export_all or (old is not None and old.exported)
        if sum(len(item.text) for item in value.values) > MAX_VALUE:
            raise TooMuch("a variable grows beyond what a launch script needs")
        self.variables[name] = value._replace(exported=exported)
        if exported:
            self.ever_exported.add(name)

    def set_text(self, name: str, text: str, line: int) -> None:
        """Give a variable a single value."""
        self.set(name, Variable((Field(text),), line))

    def export(self, name: str, line: int, *, on: bool = True) -> None:
        """Mark a variable as exported, or no longer so."""
        old = self.variables.get(name)
        if old is None:
            # `export X` of a name the script does not set passes on what was inherited.
            self.ever_exported.add(name)
            return
        self.variables[name] = old._replace(exported=on, line=old.line or line)
        if on:
            self.ever_exported.add(name)

    def unset(self, name: str) -> None:
        """Remove a variable."""
        self.variables.pop(name, None)

    def snapshot(self) -> Snapshot:
        """Keep the variables, to come back to them."""
        self.budget.spend(1 + len(self.variables) // 16)
        return dict(self.variables)

    def restore(self, kept: Snapshot) -> None:
        """Go back to kept variables."""
        self.budget.spend(1 + len(kept) // 16)
        self.variables = dict(kept)

    def merge(self, outcomes: list[Snapshot], kind: Kind = "branch") -> None:
        """Take what several possible courses agree on; the rest becomes unknown."""
        names = dict.fromkeys(name for outcome in outcomes for name in outcome)
        self.budget.spend(1 + len(names) * len(outcomes) // 2)
        self.variables = {name: self._agreed(name, outcomes, kind) for name in names}

    def _agreed(self, name: str, outcomes: list[Snapshot], kind: Kind) -> Variable:
        found = [outcome.get(name) for outcome in outcomes]
        some = [item for item in found if item is not None]
        last = some[-1]
        if len(some) == len(found) and all(item.values == last.values for item in some):
            return last._replace(exported=any(item.exported for item in some))
        mark = self.unknowns.mark(kind, name)
        exported = any(item.exported for item in some)
        return Variable((Field(mark),), last.line, array=last.array, exported=exported)

    def takes_default(self, name: str) -> bool:
        """Tell whether a variable the script never sets is taken as unset.

        That is what happens on a bare machine; a batch job, though, finds SLURM's variables set.
        """
        return not (self.scheduled and name.startswith("SLURM_"))

    def known_value(self, name: str) -> str | None:
        """Give the text of a variable, None when it is not set or not known."""
        item = self.get(name)
        return item.text if item is not None and known(item.text) else None


def word_lines(raw: str, line: int) -> tuple[int, ...]:
    """Give the line of every word in a quoted text that spans several lines."""
    return tuple(
        line + row
        for row, text in enumerate(raw.split("\n"))
        for word in text.strip("\"'").split()
        if word != "\\"
    )
