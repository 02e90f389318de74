"""What a variable holds."""

from __future__ import annotations

import msgspec


class Field(msgspec.Struct, frozen=True):
    """A word after expansion; line 0: the line of the word it came from.

    `rows`: line ends inside it are those of the file, so that a script in it keeps its lines.
    """

    text: str
    line: int = 0
    rows: bool = False


class Variable(msgspec.Struct, frozen=True):
    """A value (an array has several) with the line it was set on.

    `lines` are those of the words inside the value, when it spans several; `script` is such a value
    with its line ends, for `eval`. `keys` are the indices of an array with gaps or, when `assoc`,
    the keys. `ref` is the variable that a name reference stands for. `gone`: it was unset, which is
    not the same as never set: nothing is inherited. `default`: an argument of the script may set it
    to something else.
    """

    values: tuple[Field, ...]
    line: int
    array: bool = False
    exported: bool = False
    lines: tuple[int, ...] = ()
    script: str = ""
    keys: tuple[str, ...] | None = None
    assoc: bool = False
    ref: str = ""
    gone: bool = False
    default: bool = False

    @property
    def text(self) -> str:
        """Give what `$name` stands for."""
        if self.keys is not None:
            return self.values[self.keys.index("0")].text if "0" in self.keys else ""
        return self.values[0].text if self.values else ""


Snapshot = dict[str, Variable]
