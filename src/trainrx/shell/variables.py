"""What a variable holds: a text, or an array, dense, with gaps, or associative."""

from __future__ import annotations

import msgspec

from trainrx.model.pattern import late

_INTEGER = late(r"-?[0-9]{1,9}")


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
    not the same as never set: nothing is inherited. `default`: an argument of the script, or
    the environment, may set it to something else.
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


def keys(held: Variable) -> tuple[str, ...]:
    """Give the indices or keys of an array."""
    return tuple(str(at) for at in range(len(held.values))) if held.keys is None else held.keys


def element(held: Variable, key: str) -> Field | None:
    """Give the element of a key, None when there is none."""
    if not held.assoc and _INTEGER.fullmatch(key):
        number = int(key)
        if held.keys is None:
            inside = -len(held.values) <= number < len(held.values)
            return held.values[number] if inside else None
        key = str(number if number >= 0 else 1 + max(map(int, held.keys)) + number)
    names = keys(held)
    return held.values[names.index(key)] if key in names else None


def with_more(held: Variable, items: tuple[Field, ...]) -> Variable:
    """Give the array with elements behind its last one; keys and values in turn for keys."""
    if held.keys is None:
        return msgspec.structs.replace(held, values=held.values + items)
    if held.assoc:
        for key, item in zip(items[::2], (*items[1::2], Field("")), strict=False):
            held = with_element(held, key.text, item)
        return held
    names = keys(held)
    last = max(map(int, names), default=-1)
    added = tuple(str(last + 1 + at) for at in range(len(items)))
    return msgspec.structs.replace(held, values=held.values + items, keys=names + added)


def with_element(held: Variable, key: str, item: Field, *, append: bool = False) -> Variable:
    """Give the array with one element set."""
    names = list(keys(held))
    values = list(held.values)
    if not held.assoc and key.startswith("-"):
        key = str(int(key) + (1 + max(map(int, names)) if names else 0))
    if key in names:
        at = names.index(key)
        text = values[at].text + item.text if append else item.text
        values[at] = msgspec.structs.replace(item, text=text)
    else:
        at = len(names)
        if not held.assoc:
            at = sum(int(name) < int(key) for name in names)
        names.insert(at, key)
        values.insert(at, item)
    dense = not held.assoc and names == [str(at) for at in range(len(names))]
    return msgspec.structs.replace(
        held, values=tuple(values), keys=None if dense else tuple(names), array=True
    )
