"""Shell variables while a script is evaluated."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from trainrx.shell.limits import MAX_VALUE, Budget, TooMuch
from trainrx.shell.values import (
    Field,
    Kind,
    Snapshot,
    Unknowns,
    Variable,
    known,
    literal,
    with_element,
)

_OUTSIDE = frozenset({"env", "scheduler", "arg"})
_ALWAYS_SET = frozenset({"0", "#", "HOME", "PWD", "PATH"})
"""What a shell has whatever it is called with."""
FOLDER = "~"
"""The folder the script went to is kept under this name, which no script can give a variable."""


class State:
    """Variables, positional parameters and what of them was used.

    `lent` are those read by the tests at hand that are empty because nothing was given.
    """

    def __init__(self, inherited: Mapping[str, str], unknowns: Unknowns, budget: Budget) -> None:
        self.unknowns = unknowns
        self.budget = budget
        self.variables: Snapshot = {
            name: Variable((Field(text),), 0, exported=True) for name, text in inherited.items()
        }
        self.export_all = False
        self.scheduled = False
        self.used: set[str] = set()
        self.lent: set[str] = set()
        self.ever_exported: set[str] = set(inherited)

    @property
    def positional(self) -> tuple[Field, ...] | None:
        """Give `$1` and so on, None when it is not known what the script is called with."""
        variable = self.variables.get("@")
        return None if variable is None else variable.values

    @positional.setter
    def positional(self, fields: tuple[Field, ...] | None) -> None:
        if fields is None:
            self.variables.pop("@", None)
        else:
            self.variables["@"] = Variable(fields, 0, array=True)

    def get(self, name: str) -> Variable | None:
        """Give a variable, None when the script (or its given environment) does not set it."""
        self.used.add(name)
        moved = name == "PWD" and FOLDER in self.variables
        variable = self.variables.get(FOLDER if moved else name)
        return None if variable is None or variable.gone else variable

    def is_gone(self, name: str) -> bool:
        """Tell whether a variable was unset by the script."""
        variable = self.variables.get(name)
        return variable is not None and variable.gone

    def need(self, names: set[str]) -> None:
        """Take what a script does not go on without as given, with a value that is not known."""
        for name in names:
            self.variables.pop(name, None)

    def set(self, name: str, value: Variable) -> None:
        """Give a variable a value; one that was exported before stays so."""
        old = self.variables.get(name)
        exported = value.exported or self.export_all or (old is not None and old.exported)
        if sum(len(item.text) for item in value.values) > MAX_VALUE:
            raise TooMuch("a variable grows beyond what a launch script needs")
        self.variables[name] = msgspec.structs.replace(value, exported=exported)
        if exported:
            self.ever_exported.add(name)

    def separators(self) -> str:
        """Give the characters that words are split at: IFS."""
        variable = self.variables.get("IFS")
        if variable is None or variable.gone or not known(variable.text):
            return " \t\n"
        return variable.text

    def set_text(self, name: str, text: str, line: int) -> None:
        """Give a variable a single value; of an array it is the first."""
        variable = self.variables.get(name)
        if variable is None or not variable.array:
            self.set(name, Variable((Field(text),), line))
        else:
            self.set(name, self.with_first(name, variable, Field(text, line)))

    def with_first(
        self, name: str, variable: Variable, item: Field, *, append: bool = False
    ) -> Variable:
        """Give an array with another first element."""
        found = None if self.is_opaque(variable) else with_element(variable, 0, item, append=append)
        return self.opaque(name, item.line) if found is None else found

    def opaque(self, name: str, line: int) -> Variable:
        """Give an array of which nothing is known: with keys, with gaps."""
        return Variable((Field(self.unknowns.mark("array", name)),), line, array=True)

    def is_opaque(self, variable: Variable) -> bool:
        """Tell whether nothing of an array is known."""
        return any(
            item.kind == "array" for f in variable.values for item in self.unknowns.within(f.text)
        )

    def export(self, name: str, line: int, *, on: bool = True) -> None:
        """Mark a variable as exported, or no longer so."""
        old = self.variables.get(name)
        if old is None or old.gone:
            # `export X` of a name the script does not set passes on what was inherited.
            self.ever_exported.add(name)
            return
        self.variables[name] = msgspec.structs.replace(old, exported=on, line=old.line or line)
        if on:
            self.ever_exported.add(name)

    def unset(self, name: str) -> None:
        """Remove a variable."""
        self.variables[name] = Variable((), 0, gone=True)

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
        if not all("@" in outcome for outcome in outcomes):
            names.pop("@", None)
        self.budget.spend(1 + len(names) * len(outcomes) // 2)
        # most scripts take one course
        from trainrx.shell.courses import merged

        self.variables = {
            name: merged(name, [outcome.get(name) for outcome in outcomes], self.unknowns, kind)
            for name in names
        }

    def takes_default(self, name: str) -> bool:
        """Tell whether a variable the script never sets is taken as unset.

        That is what happens on a bare machine; a batch job, though, finds SLURM's variables set.
        """
        return name not in _ALWAYS_SET and not (self.scheduled and name.startswith("SLURM_"))

    def takes_any(self, fields: tuple[Field, ...]) -> bool:
        """Tell whether words hold all of the arguments of the script, however many those are."""
        return any(
            item.name in ("@", "*") for word in fields for item in self.unknowns.within(word.text)
        )

    def alone(self, text: str) -> str | None:
        """Give what a text is when no argument and no variable comes from outside.

        None when it holds something else that is not known.
        """
        for item in self.unknowns.within(text):
            plain = item.kind in _OUTSIDE and item.shown == f"${item.name}"
            if not plain or not self.takes_default(item.name):
                return None
        return literal(text)

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
