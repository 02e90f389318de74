"""Everything about a file that its record does not allow, not only the first such thing."""

from __future__ import annotations

import types
from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin

import msgspec

from trainrx.entries.problem import Problem, error


class StructuredData(NamedTuple):
    """Data that fits its record, stand-ins where it did not, and what was wrong.

    `broken` are the key paths of the stand-ins: what else is said of them means nothing.
    """

    data: Any
    problems: tuple[Problem, ...]
    broken: tuple[str, ...]


def mend(data: object, kind: type[msgspec.Struct]) -> StructuredData:
    """Compare data with a record, list all differences, and make it fit."""
    found: list[Problem] = []
    fitted = _fit(data, kind, "", found)
    broken = tuple(p.key for p in found if not p.message.startswith(_UNKNOWN))
    return StructuredData(fitted, tuple(found), broken)


_UNKNOWN = "is no key here"


def _fit(data: object, kind: object, key: str, found: list[Problem]) -> object:
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return _fit_union(data, kind, key, found)
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and isinstance(data, dict):
        return _fit_record(data, kind, key, found)
    if origin is tuple and isinstance(data, list):
        item = get_args(kind)[0]
        return [_fit(part, item, f"{key}[{at}]", found) for at, part in enumerate(data)]
    if origin is dict and isinstance(data, dict):
        value = get_args(kind)[1]
        return {
            str(name): _fit(part, value, _join(key, name), found) for name, part in data.items()
        }
    return _fit_plain(data, kind, key, found)


def _fit_union(data: object, kind: object, key: str, found: list[Problem]) -> object:
    """Take the one member of the shape that the data has."""
    for member in get_args(kind):
        is_record = isinstance(member, type) and issubclass(member, msgspec.Struct)
        if isinstance(data, dict) and (is_record or get_origin(member) is dict):
            return _fit(data, member, key, found)
        if isinstance(data, list) and get_origin(member) is tuple:
            return _fit(data, member, key, found)
    return _fit_plain(data, kind, key, found)


def _fit_record(
    data: dict[Any, Any], kind: type[msgspec.Struct], key: str, found: list[Problem]
) -> dict[str, object]:
    fields = _fields(kind)
    out: dict[str, object] = {}
    for name, value in data.items():
        if name in fields:
            out[name] = _fit(value, fields[name].type, _join(key, name), found)
        else:
            found.append(error(_join(key, name), f"{_UNKNOWN}; {_meant(str(name), fields)}"))
    for name, field in fields.items():
        if field.required and name not in data:
            found.append(error(_join(key, name), "is missing"))
            out[name] = _stand_in(field.type)
    return out


def _meant(name: str, fields: dict[str, Any]) -> str:
    near = get_close_matches(name, fields, n=1)
    return f"is {near[0]} meant?" if near else f"known are {', '.join(fields)}"


def _fit_plain(data: object, kind: object, key: str, found: list[Problem]) -> object:
    try:
        msgspec.convert(data, kind)
    except msgspec.ValidationError as refused:
        found.append(error(key, _said(data, kind, str(refused).partition(" - at ")[0])))
        return _stand_in(kind)
    return data


def _said(data: object, kind: object, message: str) -> str:
    if get_origin(kind) is Literal:
        return f"is {data!r}, must be one of {', '.join(str(arg) for arg in get_args(kind))}"
    wanted = message.removeprefix("Expected ").replace("`", "")
    return f"is {data!r:.60}: expected {wanted}"


def _stand_in(kind: object) -> object:
    origin, args = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return None if type(None) in args else _stand_in(args[0])
    if origin is Literal:
        return args[0]
    if origin in (tuple, dict):
        return [] if origin is tuple else {}
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return dict(_required(kind))
    return kind() if kind in (str, int, float, bool) and isinstance(kind, type) else None


@cache
def _fields(kind: type[msgspec.Struct]) -> dict[str, msgspec.structs.FieldInfo]:
    """Give the fields of a record by the names they have in a file."""
    return {field.encode_name: field for field in msgspec.structs.fields(kind)}


def _required(kind: type[msgspec.Struct]) -> Iterator[tuple[str, object]]:
    for name, field in _fields(kind).items():
        if field.required:
            yield name, _stand_in(field.type)


def _join(key: str, name: object) -> str:
    return f"{key}.{name}" if key else str(name)
