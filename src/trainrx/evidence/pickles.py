"""Pickles of strangers, as far as they hold plain values: nothing in them is ever called.

The machine of Python's own unpickler makes room for what a pickle claims to hold, hashes keys that
are nested without end, and calls what it is told to; this one knows the operations that build plain
values, takes no key but texts and numbers, and holds nothing that the pickle does not.
"""

from __future__ import annotations

import pickletools
import struct
from collections.abc import Callable
from typing import Any, TypeAlias

PICKLED = b"\x80"
MOST_OPERATIONS = 1 << 26
MOST_DIGITS = 40
"""Bytes of a whole number: no size, address or time has as many."""
KEYS = frozenset({str, int, bytes, float, bool, type(None)})
STOP, MARK, MEMOIZE, LONG1, APPENDS = b".(\x94\x8ae"
BINGET, LONG_BINGET, BININT1, BININT2 = b"hjKM"
PLACE = struct.Struct("<I")


class UnplainError(Exception):
    """A pickle holds more than plain values."""


def plain_values(data: bytes) -> object:
    """Unpickle plain values.

    Raises:
        UnplainError: something in it would be called, or is larger than any dump has it.
        ValueError: it is no pickle, or cut off.
    """
    machine = _Machine(data)
    try:
        return _run(machine)
    except (IndexError, KeyError, TypeError, AttributeError, struct.error) as error:
        reason = f"cut off or damaged after byte {machine.at}"
        raise ValueError(reason) from error


def _run(machine: _Machine) -> object:
    """Do all operations: here those that most of a dump consists of, the others by `OPERATIONS`."""
    data, stack, memo, marks = machine.data, machine.stack, machine.memo, machine.marks
    push, place_at, from_bytes, at = stack.append, PLACE.unpack_from, int.from_bytes, 0
    for _ in range(MOST_OPERATIONS):
        code = data[at]
        at += 1
        if code == BINGET:
            push(memo[data[at]])
            at += 1
        elif code == LONG_BINGET:
            push(memo[place_at(data, at)[0]])
            at += 4
        elif code == MEMOIZE:
            memo[len(memo)] = stack[-1]
        elif code == MARK:
            marks.append(len(stack))
        elif code == BININT1:
            push(data[at])
            at += 1
        elif code == BININT2:
            push(data[at] | data[at + 1] << 8)
            at += 2
        elif code == LONG1 and data[at] <= MOST_DIGITS:
            start, at = at + 1, at + 1 + data[at]
            push(from_bytes(data[start:at], "little", signed=True))
        elif code == APPENDS:
            values = machine.since_mark()
            stack[-1].extend(values)
        elif code == STOP:
            return stack.pop()
        else:
            machine.at = at
            OPERATIONS.get(code, _refuse)(machine)
            at = machine.at
    raise UnplainError(f"more than {MOST_OPERATIONS} operations")


class _Machine:
    """A stack of values, the places of it that are marked, and what was stored by number."""

    __slots__ = ("at", "data", "marks", "memo", "stack")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}

    def take(self, size: int) -> bytes:
        """Give the next bytes."""
        start, self.at = self.at, self.at + size
        if size < 0 or self.at > len(self.data):
            raise IndexError
        return self.data[start : self.at]

    def number(self, size: int) -> int:
        """Give the next bytes as a number that has no sign."""
        return int.from_bytes(self.take(size), "little")

    def line(self) -> bytes:
        """Give what stands up to the end of the line."""
        end = self.data.index(b"\n", self.at)
        return self.take(end + 1 - self.at)[:-1]

    def since_mark(self) -> list[Any]:
        """Take what was put on the stack since the last mark."""
        start = self.marks.pop()
        values = self.stack[start:]
        del self.stack[start:]
        return values


Operation: TypeAlias = "Callable[[_Machine], None]"


def _refuse(machine: _Machine) -> None:
    """Say what a pickle asks for that is no plain value."""
    code = chr(machine.data[machine.at - 1])
    known = next((one for one in pickletools.opcodes if one.code == code), None)
    if known is None:
        raise ValueError(f"no pickle at byte {machine.at}")
    if known.name in ("GLOBAL", "INST"):
        named = b".".join((machine.line(), machine.line())).decode("ascii", "replace")
    elif known.name == "STACK_GLOBAL" and all(isinstance(one, str) for one in machine.stack[-2:]):
        named = ".".join(machine.stack[-2:])
    else:
        named = known.name
    raise UnplainError(named[:80])


def _constant(value: object) -> Operation:
    return lambda machine: machine.stack.append(value)


def _made(make: Callable[[], object]) -> Operation:
    return lambda machine: machine.stack.append(make())


def _fixed(form: str) -> Operation:
    """Read a number of a fixed form."""
    packed = struct.Struct(form)

    def read(machine: _Machine) -> None:
        machine.stack.append(packed.unpack_from(machine.data, machine.at)[0])
        machine.at += packed.size

    return read


def _sized(width: int, make: Callable[[bytes], object]) -> Operation:
    """Read what its size stands in front of."""

    def read(machine: _Machine) -> None:
        machine.stack.append(make(machine.take(machine.number(width))))

    return read


def _written(make: Callable[[bytes], object]) -> Operation:
    """Read what is written in a line."""
    return lambda machine: machine.stack.append(make(machine.line()))


def _whole(data: bytes) -> int:
    if len(data) > MOST_DIGITS:
        raise UnplainError(f"a number of {len(data)} bytes")
    return int.from_bytes(data, "little", signed=True)


def _decimal(line: bytes) -> int:
    if len(line) > MOST_DIGITS:
        raise UnplainError(f"a number of {len(line)} digits")
    return int(line.rstrip(b"L"))


def _decimal_or_bool(line: bytes) -> int | bool:
    return line == b"01" if line in (b"00", b"01") else _decimal(line)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _escaped(line: bytes) -> str:
    return line.decode("raw-unicode-escape", "replace")


def _quoted(line: bytes) -> str:
    return _text(line.strip(b"'\""))


def _raw(data: bytes) -> bytes:
    return data


def _put(machine: _Machine, place: int) -> None:
    machine.memo[place] = machine.stack[-1]


def _get(machine: _Machine, place: int) -> None:
    machine.stack.append(machine.memo[place])


def _pop_mark(machine: _Machine) -> None:
    machine.since_mark()


def _duplicate(machine: _Machine) -> None:
    machine.stack.append(machine.stack[-1])


def _list(machine: _Machine) -> None:
    machine.stack.append(machine.since_mark())


def _append(machine: _Machine) -> None:
    value = machine.stack.pop()
    machine.stack[-1].append(value)


def _tuple(machine: _Machine) -> None:
    machine.stack.append(tuple(machine.since_mark()))


def _tuple_of(size: int) -> Operation:
    def make(machine: _Machine) -> None:
        if len(machine.stack) < size:
            raise IndexError
        machine.stack[-size:] = [tuple(machine.stack[-size:])]

    return make


def _dict(machine: _Machine) -> None:
    machine.stack.append(_paired(machine.since_mark()))


def _set_item(machine: _Machine) -> None:
    pair = [machine.stack.pop(-2), machine.stack.pop()]
    machine.stack[-1].update(_paired(pair))


def _set_items(machine: _Machine) -> None:
    values = machine.since_mark()
    machine.stack[-1].update(_paired(values))


def _paired(values: list[Any]) -> dict[Any, Any]:
    """Make a mapping; a key of keys may take for ever to hash."""
    keys = values[::2]
    if not KEYS.issuperset(map(type, keys)):
        other = next(key for key in keys if type(key) not in KEYS)
        raise UnplainError(f"a key that is a {type(other).__name__}")
    return dict(zip(keys, values[1::2], strict=False))


OPERATIONS: dict[int, Operation] = {
    ord(code): operation
    for code, operation in {
        "\x80": lambda machine: machine.take(1) and None,
        "\x95": lambda machine: machine.take(8) and None,
        "0": lambda machine: machine.stack.pop() and None,
        "1": _pop_mark,
        "2": _duplicate,
        "N": _constant(None),
        "\x88": _constant(value=True),
        "\x89": _constant(value=False),
        "I": _written(_decimal_or_bool),
        "L": _written(_decimal),
        "J": _fixed("<i"),
        "\x8a": _sized(1, _whole),
        "\x8b": _sized(4, _whole),
        "F": _written(float),
        "G": _fixed(">d"),
        "S": _written(_quoted),
        "T": _sized(4, _text),
        "U": _sized(1, _text),
        "V": _written(_escaped),
        "\x8c": _sized(1, _text),
        "X": _sized(4, _text),
        "\x8d": _sized(8, _text),
        "B": _sized(4, _raw),
        "C": _sized(1, _raw),
        "\x8e": _sized(8, _raw),
        "]": _made(list),
        "l": _list,
        "a": _append,
        ")": _constant(()),
        "t": _tuple,
        "\x85": _tuple_of(1),
        "\x86": _tuple_of(2),
        "\x87": _tuple_of(3),
        "}": _made(dict),
        "d": _dict,
        "s": _set_item,
        "u": _set_items,
        "p": lambda machine: _put(machine, _decimal(machine.line())),
        "q": lambda machine: _put(machine, machine.number(1)),
        "r": lambda machine: _put(machine, machine.number(4)),
        "g": lambda machine: _get(machine, _decimal(machine.line())),
    }.items()
}
