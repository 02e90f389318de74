"""Values of Python as far as a program's text tells them, and the texts a configuration has."""

from __future__ import annotations

import ast
import json
import operator
from collections.abc import Callable, Mapping

from trainrx.frameworks.common.view import UNKNOWN

LONGEST = 20_000
"""Characters of a text, items of a list."""
_LARGEST = 1e15
_ARITHMETIC: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_SWITCHES = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


class ParsedObject:
    """An object with fields: parsed options, or one of a class of the program itself."""

    def __init__(self, fields: Mapping[str, object]) -> None:
        self.fields = dict(fields)


def is_known(value: object) -> bool:
    """Tell whether a value holds nothing that cannot be told."""
    if isinstance(value, list):
        return all(is_known(item) for item in value)
    if isinstance(value, dict):
        return all(is_known(item) for item in value.values())
    return value is not UNKNOWN


def texts_of(value: object) -> tuple[str, ...] | None:
    """Write a value as a configuration file has it; None when it is not known."""
    if isinstance(value, list):
        texts = [_text(item) for item in value]
        return tuple(text for text in texts if text is not None) if None not in texts else None
    text = _text(value)
    return None if text is None else (text,)


def _text(value: object) -> str | None:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float, str)):
        try:
            return str(value)
        except ValueError:  # an integer of more digits than Python writes
            return None
    if isinstance(value, (dict, list)):
        try:
            return json.dumps(value)
        except (TypeError, ValueError, RecursionError):
            return None
    return None


def arithmetic(sign: ast.operator, left: object, right: object) -> object:
    """Compute with two numbers; put two texts, lists or mappings together.

    Raises:
        TypeError: one of them is no number of a size anybody sets.
    """
    if isinstance(left, str) and isinstance(right, str) and isinstance(sign, ast.Add):
        return (left + right)[:LONGEST]
    if isinstance(left, str) and isinstance(right, str) and isinstance(sign, ast.Div):
        return f"{left.rstrip('/')}/{right}"[:LONGEST]  # pathlib
    if isinstance(left, list) and isinstance(right, list) and isinstance(sign, ast.Add):
        return (left + right)[:LONGEST]
    if isinstance(left, dict) and isinstance(right, dict) and isinstance(sign, ast.BitOr):
        return left | right
    compute = _ARITHMETIC.get(type(sign))
    return UNKNOWN if compute is None else compute(_number(left), _number(right))


def signed(sign: ast.unaryop, value: object) -> object:
    """Give `-x` and `not x`."""
    if value is UNKNOWN:
        return UNKNOWN
    if isinstance(sign, ast.Not):
        return not value
    if isinstance(sign, ast.USub) and isinstance(value, (int, float)):
        return -value
    return UNKNOWN


_COMPARISONS: Mapping[type[ast.cmpop], Callable[[object, object], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Is: operator.eq,
    ast.IsNot: operator.ne,
    ast.In: lambda left, right: left in _items(right),
    ast.NotIn: lambda left, right: left not in _items(right),
    ast.Lt: lambda left, right: _number(left) < _number(right),
    ast.LtE: lambda left, right: _number(left) <= _number(right),
    ast.Gt: lambda left, right: _number(left) > _number(right),
    ast.GtE: lambda left, right: _number(left) >= _number(right),
}


def compared(sign: ast.cmpop, left: object, right: object) -> object:
    """Give `left == right` and its like; UNKNOWN where one side is not known."""
    if not is_known(left) or not is_known(right):
        return UNKNOWN
    return _COMPARISONS[type(sign)](left, right)


def _items(whole: object) -> str | list[object] | dict[object, object]:
    if isinstance(whole, (str, list, dict)):
        return whole
    raise TypeError


def _number(value: object) -> float:
    if isinstance(value, (int, float)) and abs(value) < _LARGEST:
        return value
    raise TypeError


def item_of(whole: object, key: object) -> object:
    """Give what stands at a place of a list, or under a key."""
    if isinstance(whole, list) and isinstance(key, int) and -len(whole) <= key < len(whole):
        return whole[key]
    if isinstance(whole, dict) and isinstance(key, (str, int, float, bool)):
        return whole.get(key, UNKNOWN)
    return UNKNOWN


def as_declared(value: object, kind: str) -> object:
    """Read what a command line says of an option as its type does: `int`, `float`, `bool`.

    argparse calls the type: `bool("False")` is True. A function of the program's own that reads
    switches (`str2bool`) is taken at its word.
    """
    if not isinstance(value, str):
        return value
    name = kind.lower()
    if name == "int":
        return int(value)
    if name == "float":
        return float(value)
    if name == "bool":
        return bool(value)
    return _SWITCHES.get(value.lower(), value) if "bool" in name else value
