"""What a variable holds: a text, or an array without gaps."""

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
    with its line ends, for `eval`. `gone`: it was unset, which is not the same as never set:
    nothing is inherited. `default`: an argument of the script, or the environment, may set it to
    something else.
    """

    values: tuple[Field, ...]
    line: int
    array: bool = False
    exported: bool = False
    lines: tuple[int, ...] = ()
    script: str = ""
    gone: bool = False
    default: bool = False

    @property
    def text(self) -> str:
        """Give what `$name` stands for."""
        return self.values[0].text if self.values else ""


Snapshot = dict[str, Variable]


def element(held: Variable, index: int) -> Field | None:
    """Give an element, None when there is none."""
    inside = -len(held.values) <= index < len(held.values)
    return held.values[index] if inside else None


def with_element(
    held: Variable, index: int, item: Field, *, append: bool = False
) -> Variable | None:
    """Give the array with one element set, None when that leaves a gap."""
    values = list(held.values)
    if index == len(values):
        values.append(item)
    elif -len(values) <= index < len(values):
        text = values[index].text + item.text if append else item.text
        values[index] = msgspec.structs.replace(item, text=text)
    else:
        return None
    return msgspec.structs.replace(held, values=tuple(values), array=True)
