"""msgspec without what lint takes next to nothing of: a sixth of the time a lint run takes."""

from __future__ import annotations

import sys
import typing
from contextlib import suppress
from types import ModuleType
from typing import Any

_STANDS_IN: dict[str, tuple[str, ...]] = {
    # no record holds a number or an id of these types
    "decimal": ("Decimal",),
    "uuid": ("UUID", "SafeUUID"),
    # what describes records: JSON schemas, of which lint prints none
    "msgspec.inspect": (),
    "msgspec._json_schema": ("schema", "schema_components"),
    # readers of other forms
    "msgspec.toml": (),
    "msgspec.yaml": (),
}
"""What msgspec imports, and the names it takes of each."""


def import_records() -> None:
    """Import msgspec, with stand-ins for modules that cost more than lint has of them.

    It takes names from typing_extensions that `typing` has as well, and falls back on it;
    typing_extensions would load `inspect`, `ast` and `tokenize`. The classes of `datetime` are
    those of `_datetime`, which has no copy of them in Python to read first. Nothing is held out of
    a process that has one of the modules already, and none of the stand-ins outlives the import
    but in msgspec: records of lint know no Decimal and no UUID, schemas are made by the real module
    when asked for.
    """
    out = ("msgspec", "typing_extensions", "datetime", *_STANDS_IN)
    if any(name in sys.modules for name in out):
        return
    held: dict[str, ModuleType | None] = {"typing_extensions": None}
    with suppress(ImportError):
        held["datetime"] = __import__("_datetime")
    for name, taken in _STANDS_IN.items():
        held[name] = ModuleType(name)
        for item in taken:
            setattr(held[name], item, _late(name, item) if "." in name else _empty(item))
    sys.modules.update(held)  # type: ignore[arg-type]  # None: not to be imported
    reference = typing.ForwardRef
    if sys.version_info >= (3, 11):
        # it makes one to see whether `is_class` is taken: to compile the first text takes 1 ms
        vars(typing)["ForwardRef"] = lambda _text, *, is_class: is_class
    try:
        import msgspec
    finally:
        vars(typing)["ForwardRef"] = reference
        for name in held:
            del sys.modules[name]
    for name in _STANDS_IN:
        if name.startswith("msgspec."):
            vars(msgspec).pop(name.partition(".")[2], None)


def _empty(name: str) -> type:
    """Give a class no value is of; `unknown` is what msgspec takes of SafeUUID."""
    return type(name, (), {"unknown": None})


def _late(module: str, name: str) -> Any:  # noqa: ANN401  # any function of a module
    """Give a function that imports the real one when it is called."""

    def call(*args: object, **options: object) -> object:
        from importlib import import_module

        return getattr(import_module(module), name)(*args, **options)

    return call
